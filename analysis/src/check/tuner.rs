//! `tune.csv` against the trials that it is about.

use super::derived::compare;
use crate::{
    Fault, Record, Row, decode_rows, is_control,
    record::RecordError,
    rows::{Fate, RunRow, TuneRow},
    tables::{line, raw_records},
};

/// Checks tune.csv, if there is one, and returns its number of rows.
pub(super) fn check_tune(record: &Record, runs: Option<&[RunRow]>) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(TuneRow::FILE)? else {
        return Ok(0);
    };
    let runs = runs.unwrap_or_default();
    let rows: Vec<TuneRow> = decode_rows(&text)?;
    let Some(plan) = &record.manifest().tune else {
        let problem = "needs the manifest's `tune`, which is missing";
        return Err(Fault::file(TuneRow::FILE, problem).into());
    };
    let mut derived = Vec::with_capacity(rows.len());
    let mut winner = None;
    for (row, fields) in rows.iter().zip(raw_records::<TuneRow>(&text)?) {
        let fault = |column, problem: String| Fault::field(TuneRow::FILE, line(&fields), column, problem);
        let right = row.clone().derived(runs, &plan.start);
        let right = right.map_err(|error| Fault::line(TuneRow::FILE, line(&fields), error.to_string()))?;
        if right.n.is_some_and(|n| n > 0) && row.checked == 0 {
            return Err(fault(
                "checked",
                "is 0, but it was timed: nothing is timed unchecked".into(),
            )
            .into());
        }
        if row.fate == Fate::Winner
            && let Some(other) = winner.replace(row.candidate)
        {
            return Err(fault("fate", format!("is winner, as is candidate {other}'s")).into());
        }
        derived.push(right);
    }
    compare(&text, &derived)?;
    let known = |run: &&RunRow| rows.iter().all(|row| row.variant != run.variant);
    if let Some(stranger) = runs.iter().find(known) {
        let problem = format!(
            "has no row for {}, which {} has trials of",
            stranger.variant,
            RunRow::FILE
        );
        return Err(Fault::file(TuneRow::FILE, problem).into());
    }
    if let Some(odd) = rows
        .iter()
        .find(|row| row.candidate != 0 && is_control(&row.variant))
    {
        let problem = format!(
            "has the A/A control {} as candidate {}",
            odd.variant, odd.candidate
        );
        return Err(Fault::file(TuneRow::FILE, problem).into());
    }
    Ok(rows.len())
}
