//! Every derived column, computed again from its sources.

use std::collections::BTreeSet;

use crate::{
    Fault, Manifest, PowerLog, Record, Row, decode_rows, encode_rows,
    record::RecordError,
    rows::{AccuracyRow, PowerRow, RunRow, SummaryRow, Verdict},
    summarise,
    tables::{line, raw_records},
};

/// Checks runs.csv and returns its rows, if there is one.
pub(super) fn check_runs(record: &Record) -> Result<Option<Vec<RunRow>>, RecordError> {
    let Some(text) = record.read_file(RunRow::FILE)? else {
        return Ok(None);
    };
    let rows: Vec<RunRow> = decode_rows(&text)?;
    let power: Option<Vec<PowerRow>> = record.table()?;
    let power = power.as_deref().map(PowerLog::new);
    let mut derived = Vec::with_capacity(rows.len());
    let mut trials = BTreeSet::new();
    for (row, fields) in rows.iter().zip(raw_records::<RunRow>(&text)?) {
        if !trials.insert(row.trial) {
            return Err(Fault::field(RunRow::FILE, line(&fields), "trial", "is given twice").into());
        }
        if row.verdict == Verdict::Invalid && row.reason.is_none() {
            let problem = "is empty, but an invalid trial should say why";
            return Err(Fault::field(RunRow::FILE, line(&fields), "reason", problem).into());
        }
        let row = row.clone().derived(power.as_ref());
        derived.push(row.map_err(|error| Fault::line(RunRow::FILE, line(&fields), error.to_string()))?);
    }
    compare(&text, &derived)?;
    Ok(Some(rows))
}

/// Checks summary.csv against the trials and returns its number of rows, 0 if there is none.
pub(super) fn check_summary(record: &Record, runs: Option<&[RunRow]>) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(SummaryRow::FILE)? else {
        return Ok(0);
    };
    let Some(runs) = runs else {
        let problem = format!("follows from {}, which is missing", RunRow::FILE);
        return Err(Fault::file(SummaryRow::FILE, problem).into());
    };
    let baselines = record
        .manifest()
        .plan
        .as_ref()
        .map_or(&[][..], |plan| &plan.baselines);
    let summary = summarise(runs, baselines)
        .map_err(|error| Fault::file(RunRow::FILE, format!("cannot be summarised: {error}")))?;
    decode_rows::<SummaryRow>(&text)?;
    compare(&text, &summary.rows)?;
    Ok(summary.rows.len())
}

/// Checks accuracy.csv and returns its number of rows, 0 if there is none.
pub(super) fn check_accuracy(record: &Record) -> Result<usize, RecordError> {
    let Some(text) = record.read_file(AccuracyRow::FILE)? else {
        return Ok(0);
    };
    let rows: Vec<AccuracyRow> = decode_rows(&text)?;
    for (row, fields) in rows.iter().zip(raw_records::<AccuracyRow>(&text)?) {
        let no_error = [
            ("worst_error", row.worst_error),
            ("worst_magnitude", row.worst_magnitude),
            ("error_mean", row.error_mean),
            ("relative_max", row.relative_max),
        ]
        .into_iter()
        .find(|(_, value)| *value < 0.0);
        if let Some((column, value)) = no_error {
            let problem = format!("is {value}, which is no error");
            return Err(Fault::field(AccuracyRow::FILE, line(&fields), column, problem).into());
        }
        if let Some((column, problem)) = impossible(row, record.manifest(), &rows) {
            return Err(Fault::field(AccuracyRow::FILE, line(&fields), column, problem).into());
        }
    }
    let derived: Vec<AccuracyRow> = rows.iter().cloned().map(AccuracyRow::derived).collect();
    compare(&text, &derived)?;
    Ok(rows.len())
}

/// The first column of a row that cannot be, and why.
fn impossible(
    row: &AccuracyRow,
    manifest: &Manifest,
    rows: &[AccuracyRow],
) -> Option<(&'static str, String)> {
    let AccuracyRow { edge, samples, .. } = *row;
    let same =
        |other: &&AccuracyRow| (&other.variant, other.edge, other.phi) == (&row.variant, edge, row.phi);
    let variant = manifest
        .variants
        .iter()
        .any(|variant| variant.label == row.variant);
    let device = manifest.devices.iter().any(|device| device.label == row.device);
    let elements = edge.saturating_mul(edge);
    let of_matrix = |place: u64| (place >= edge).then(|| format!("is {place} in matrices of {edge}"));
    let checks = [
        (
            "variant",
            (!variant).then(|| "is none of the manifest's".to_owned()),
        ),
        (
            "variant",
            (rows.iter().filter(same).count() > 1).then(|| "has these matrices twice".to_owned()),
        ),
        (
            "device",
            (!device).then(|| "is none of the manifest's".to_owned()),
        ),
        (
            "phi",
            row.phi
                .filter(|phi| *phi < 0.0)
                .map(|phi| format!("is {phi}, which is no spread")),
        ),
        (
            "seed",
            (row.seed != manifest.seed).then(|| "is not the manifest's".to_owned()),
        ),
        (
            "moduli",
            row.moduli
                .filter(|moduli| *moduli == 0)
                .map(|_| "is 0".to_owned()),
        ),
        (
            "samples",
            (samples == 0 || samples > elements).then(|| format!("is {samples} of {elements} elements")),
        ),
        ("worst_row", of_matrix(row.worst_row)),
        ("worst_col", of_matrix(row.worst_col)),
        (
            "error_mean",
            (row.error_mean > row.error_max.next_up()).then(|| "is more than the largest".to_owned()),
        ),
        (
            "error_mean",
            (row.error_mean == 0.0 && row.error_max > 0.0)
                .then(|| "is 0 under a largest that is not".to_owned()),
        ),
    ];
    checks
        .into_iter()
        .find_map(|(column, problem)| Some((column, problem?)))
}

/// Holds a table as written against its rows as they should be, field by field and character by character.
pub(super) fn compare<R: Row>(text: &[u8], rows: &[R]) -> Result<(), Fault> {
    let written = raw_records::<R>(text)?;
    let expected = raw_records::<R>(&encode_rows(rows)?)?;
    if written.len() != expected.len() {
        return Err(Fault::file(
            R::FILE,
            format!("has {} rows, but should have {}", written.len(), expected.len()),
        ));
    }
    for (written, expected) in written.iter().zip(&expected) {
        for ((column, got), right) in R::COLUMNS.iter().zip(written).zip(expected) {
            if got != right {
                let problem = format!("is `{got}`, but `{right}` follows from what it is derived from");
                return Err(Fault::field(R::FILE, line(written), column.name, problem));
            }
        }
    }
    Ok(())
}
