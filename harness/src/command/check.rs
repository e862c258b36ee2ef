//! `assay check`: re-verify a record.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::{CheckReport, Status, check};
use serde::Serialize;

use super::common::print_json;

/// Re-verify a record: file hashes, every hit's MD5, every derived column
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay check runs/20261130T024500Z-run
  for m in $(find results -name manifest.json); do assay check $(dirname $m) || echo $m; done")]
pub struct CheckArgs {
    /// The record's folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    ok: bool,
    status: Status,
    files: usize,
    hits: usize,
    candidates: usize,
    trials: usize,
    checks: usize,
    accuracies: usize,
}

#[derive(Serialize)]
struct Refusal {
    schema: u32,
    ok: bool,
    error: String,
}

/// Run the command.
///
/// # Errors
/// When the folder is no record (exit code 2) or something in it is wrong (exit code 1).
pub fn run(args: &CheckArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let report = check(&args.dir);
    if let (true, Err(error)) = (args.json, &report) {
        print_json(
            out,
            &Refusal {
                schema: 1,
                ok: false,
                error: error.to_string(),
            },
        )?;
    }
    let CheckReport {
        status,
        files,
        hits,
        candidates,
        trials,
        check_rows,
        accuracy_rows,
        ..
    } = report?;
    if args.json {
        print_json(
            out,
            &Document {
                schema: 1,
                ok: true,
                status,
                files,
                hits,
                candidates,
                trials,
                checks: check_rows,
                accuracies: accuracy_rows,
            },
        )?;
    } else {
        let word = match status {
            Status::Aborted => " It was aborted: what is there is whole.",
            Status::Failed => " It records a failure.",
            Status::Running | Status::Complete => "",
        };
        // What not every record has.
        let further: String = [
            (check_rows, "checks of variants"),
            (accuracy_rows, "errors of products"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!(", {count} {what}"))
        .collect();
        writeln!(
            out,
            "{} holds: {files} files, {trials} trials, {hits} hits, {candidates} validated candidates{further}.{word}",
            args.dir.display()
        )?;
    }
    Ok(())
}
