//! Checks of validations: of variants that the record has, wrong where something differs, and of every variant of a record that says
//! that it is complete.

use std::collections::BTreeSet;

use super::derived::compare;
use crate::{
    Fault, MANIFEST, Record, Row, Status, decode_rows,
    record::RecordError,
    rows::{CheckRow, Standing, TuneRow},
    subject,
    tables::{line, raw_records},
    unsized_label,
};

/// Checks checks.csv and returns its number of rows, 0 if there is none.
pub(super) fn check(record: &Record) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(CheckRow::FILE)? else {
        return Ok(0);
    };
    let manifest = record.manifest();
    let rows: Vec<CheckRow> = decode_rows(&text)?;
    // A tuner's record is complete with the wrong candidates that it has found.
    let all_right = manifest.status == Status::Complete && manifest.tune.is_none();
    for (row, fields) in rows.iter().zip(raw_records::<CheckRow>(&text)?) {
        let wrong = row.first_bad_layer.is_some();
        let faults = [
            (
                "variant",
                manifest
                    .variants
                    .iter()
                    .all(|variant| variant.label != row.variant),
                "is none of the manifest's",
            ),
            (
                "device",
                manifest.devices.iter().all(|device| device.label != row.device),
                "is none of the manifest's",
            ),
            ("check", row.check.trim().is_empty(), "is nothing"),
            (
                "first_bad_layer",
                row.right && wrong,
                "is given where nothing differs",
            ),
            (
                "message",
                row.message.is_some() != wrong,
                "does not go with first_bad_layer",
            ),
            (
                "right",
                !row.right && all_right,
                "is false in a record that says that it is complete",
            ),
        ];
        if let Some((column, _, problem)) = faults.into_iter().find(|(_, found, _)| *found) {
            return Err(Fault::field(CheckRow::FILE, line(&fields), column, problem.to_owned()).into());
        }
    }
    let derived: Vec<CheckRow> = rows.iter().cloned().map(CheckRow::derived).collect();
    compare(&text, &derived)?;
    timed_are_right(record, &rows)?;
    // Sizes of a variant are proved once. Where a vector file has nothing for it, that is said.
    let compares = |row: &&CheckRow| row.checked > 0 || row.not_covered > 0;
    let proved: BTreeSet<&str> = rows
        .iter()
        .filter(compares)
        .map(|row| unsized_label(&row.variant))
        .collect();
    let unproved = manifest
        .variants
        .iter()
        .find(|variant| !proved.contains(unsized_label(&variant.label)));
    match unproved {
        Some(variant) if all_right => {
            let problem = format!(
                "has no check of {}, which is in {MANIFEST}, or none that compared anything",
                variant.label
            );
            Err(Fault::file(CheckRow::FILE, problem).into())
        }
        _ => Ok(rows.len()),
    }
}

/// What a tuner calls right has checks, and all of them are.
fn timed_are_right(record: &Record, rows: &[CheckRow]) -> Result<(), RecordError> {
    let candidates: Vec<TuneRow> = record.table()?.unwrap_or_default();
    for candidate in candidates
        .iter()
        .filter(|candidate| candidate.verdict == Standing::Right)
    {
        // The control is its baseline.
        let label = subject(&candidate.variant);
        let mut checks = rows.iter().filter(|row| row.variant == label).peekable();
        if checks.peek().is_none() || checks.any(|row| !row.right) {
            let problem = format!(
                "has not all checks of {label} right, which {} says it is",
                TuneRow::FILE
            );
            return Err(Fault::file(CheckRow::FILE, problem).into());
        }
    }
    Ok(())
}
