//! Re-verifies a record from its files alone: nothing that made it is asked.

mod checks;
mod derived;
mod files;
mod messages;
mod stages;
mod tuner;

use std::path::Path;

use crate::{Fault, MANIFEST, Record, RecordError, Status};

/// What was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The run's end: `Complete`, or `Aborted` or `Failed`, which a caller should say.
    pub status: Status,
    /// Files whose length and SHA-256 are as listed.
    pub files: usize,
    /// Messages of hits.csv that were hashed again.
    pub hits: usize,
    /// Candidates of validation.tsv that were formed and hashed again.
    pub candidates: usize,
    /// Trials whose derived columns were computed again.
    pub trials: usize,
    /// Rows of summary.csv that were computed again.
    pub summary_rows: usize,
    /// Rows of tune.csv that were computed again.
    pub tune_rows: usize,
    /// Rows of stages.csv that fit their trials.
    pub stage_rows: usize,
    /// Rows of accuracy.csv that were computed again.
    pub accuracy_rows: usize,
    /// Rows of checks.csv: checks of validations.
    pub check_rows: usize,
}

/// Why a record does not check.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// There is no record to check.
    #[error(transparent)]
    NotARecord(RecordError),
    /// The record is not what it says; the fault names the place.
    #[error(transparent)]
    Failed(#[from] Fault),
}

impl From<RecordError> for CheckError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Content(fault) => Self::Failed(fault),
            RecordError::Read { path, source } => Self::Failed(Fault::file(
                &path.file_name().unwrap_or_default().to_string_lossy(),
                format!("cannot be read: {source}"),
            )),
            other => Self::NotARecord(other),
        }
    }
}

/// Verifies that the record was closed and that every listed file and no other is there; returns how many there are.
pub(crate) fn check_files(record: &Record) -> Result<usize, RecordError> {
    if record.manifest().status == Status::Running {
        let problem = "status is `running`: the run never finished, so there are no hashes to check";
        return Err(Fault::file(MANIFEST, problem).into());
    }
    files::check(record)
}

/// Verifies a record: every listed file and no other is there with its length and SHA-256; every hit and every validated
/// candidate is hashed again; every derived column is computed again. The first fault ends it.
pub fn check(dir: impl AsRef<Path>) -> Result<CheckReport, CheckError> {
    let record = Record::open(dir.as_ref())?;
    let files = check_files(&record)?;
    contents(&record, files)
}

/// Verifies what a record holds whose process was killed: as [`check()`], but for the hashes, which only closing a record writes.
pub fn check_unclosed(record: &Record) -> Result<CheckReport, CheckError> {
    contents(record, 0)
}

/// Hashes hits and candidates again and computes every derived column again.
fn contents(record: &Record, files: usize) -> Result<CheckReport, CheckError> {
    let manifest = record.manifest();
    let runs = derived::check_runs(record)?;
    let summary_rows = derived::check_summary(record, runs.as_deref())?;
    let tune_rows = tuner::check_tune(record, runs.as_deref())?;
    let stage_rows = stages::check(record, runs.as_deref())?;
    let accuracy_rows = derived::check_accuracy(record)?;
    let check_rows = checks::check(record)?;
    let messages = messages::check(record, runs.as_deref())?;
    Ok(CheckReport {
        status: manifest.status,
        files,
        hits: messages.hits,
        candidates: messages.candidates,
        trials: runs.map_or(0, |runs| runs.len()),
        summary_rows,
        tune_rows,
        stage_rows,
        accuracy_rows,
        check_rows,
    })
}
