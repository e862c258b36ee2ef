//! Stages of trials: each of a trial that there is, once, and together no longer than the trial.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Fault, Record, Row, decode_rows,
    record::RecordError,
    rows::{RunRow, StageRow},
    tables::{line, raw_records},
};

/// A device's clock and the host's may differ by so much, as a part of a trial.
const CLOCKS: f64 = 0.01;

/// Checks stages.csv and returns its number of rows, 0 if there is none.
pub(super) fn check(record: &Record, runs: Option<&[RunRow]>) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(StageRow::FILE)? else {
        return Ok(0);
    };
    let rows: Vec<StageRow> = decode_rows(&text)?;
    let trials: BTreeMap<u32, f64> = runs
        .unwrap_or_default()
        .iter()
        .map(|run| (run.trial, run.seconds))
        .collect();
    let mut seen = BTreeSet::new();
    let mut spent: BTreeMap<u32, f64> = BTreeMap::new();
    for (row, fields) in rows.iter().zip(raw_records::<StageRow>(&text)?) {
        let fault = |column: &str, problem: String| -> Result<usize, RecordError> {
            Err(Fault::field(StageRow::FILE, line(&fields), column, problem).into())
        };
        let Some(seconds) = trials.get(&row.trial) else {
            let problem = format!("is {}, which {} does not have", row.trial, RunRow::FILE);
            return fault("trial", problem);
        };
        if !seen.insert((row.trial, row.stage.as_str())) {
            return fault("stage", format!("is given twice for trial {}", row.trial));
        }
        if row.seconds < 0.0 {
            return fault("seconds", format!("is {}, which is no time", row.seconds));
        }
        let spent = spent.entry(row.trial).or_default();
        *spent += row.seconds;
        if *spent > seconds * (1.0 + CLOCKS) {
            let problem = format!(
                "brings the stages of trial {} to {spent} s, but it took {seconds} s",
                row.trial
            );
            return fault("seconds", problem);
        }
    }
    Ok(rows.len())
}
