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
        if row.stage.is_empty() || row.launches == 0 {
            let column = if row.launches == 0 { "launches" } else { "stage" };
            return fault(column, "is nothing".to_owned());
        }
        if row.seconds.is_sign_negative() {
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
    same_stages(&rows, runs.unwrap_or_default())?;
    Ok(rows.len())
}

/// Every trial of a variant has the stages of its other trials, in their order.
fn same_stages(rows: &[StageRow], runs: &[RunRow]) -> Result<(), Fault> {
    let of_trial = |trial: u32| -> Vec<&str> {
        let rows = rows.iter().filter(|row| row.trial == trial);
        rows.map(|row| row.stage.as_str()).collect()
    };
    let mut known: BTreeMap<&str, (u32, Vec<&str>)> = BTreeMap::new();
    for run in runs {
        let stages = of_trial(run.trial);
        let (first, others) = known
            .entry(run.variant.as_str())
            .or_insert_with(|| (run.trial, stages.clone()));
        if *others != stages {
            let problem = format!(
                "has other stages for trial {} of {} than for trial {first}",
                run.trial, run.variant
            );
            return Err(Fault::file(StageRow::FILE, problem));
        }
    }
    Ok(())
}
