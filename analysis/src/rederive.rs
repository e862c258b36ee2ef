//! A record's derived columns anew: what this version of the program concludes from what another version measured.

use std::path::PathBuf;

use crate::{
    Fault, MANIFEST, Manifest, PowerLog, REPORT_FILES, Record, RecordWriter, Row,
    check::check_files,
    record::{RecordError, file_names},
    report::ReportError,
    rows::{PowerRow, RunRow, SummaryRow},
    summarise,
};

/// Writes `record` into the new folder `to`: measured columns and every other file as they are, derived columns, summary and
/// report by this program, and `note` among the manifest's notes.
///
/// # Errors
/// When a file of the record is not the one that its manifest lists, a table cannot be read or summarised, or `to` is no empty
/// folder and cannot be made one.
pub fn rederive(record: &Record, to: impl Into<PathBuf>, note: String) -> Result<(), ReportError> {
    check_files(record)?;
    let manifest = record.manifest();
    let mut notes = manifest.notes.clone();
    notes.push(note);
    let mut writer = RecordWriter::create(
        to,
        Manifest {
            notes,
            ..manifest.clone()
        },
    )?;
    let derived = [RunRow::FILE, SummaryRow::FILE, REPORT_FILES[0], REPORT_FILES[1]];
    let names = file_names(record.dir())?;
    for name in &names {
        if name != MANIFEST && !derived.contains(&name.as_str()) {
            let content = record.read_file(name)?;
            writer.write_file(name, content.unwrap_or_default())?;
        }
    }
    if let Some(rows) = record.table::<RunRow>()? {
        let power: Option<Vec<PowerRow>> = record.table()?;
        let power = power.as_deref().map(PowerLog::new);
        let unsound =
            |error| RecordError::from(Fault::file(RunRow::FILE, format!("cannot be derived: {error}")));
        let rows: Vec<RunRow> = rows
            .into_iter()
            .map(|row| row.derived(power.as_ref()))
            .collect::<Result<_, _>>()
            .map_err(unsound)?;
        writer.write_table(&rows)?;
        let baselines = manifest.plan.as_ref().map_or(&[][..], |plan| &plan.baselines);
        if names.iter().any(|name| name == SummaryRow::FILE) {
            let summary = summarise(&rows, baselines).map_err(unsound)?;
            writer.write_table(&summary.rows)?;
        }
    }
    if names.iter().any(|name| name == REPORT_FILES[0]) {
        writer.write_report(manifest.status)?;
    }
    Ok(writer.close(manifest.status, manifest.finished_utc.clone())?)
}
