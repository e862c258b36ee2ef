//! `assay report`: make a record's report again, from its files alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use assay_analysis::{MANIFEST, REPORT_FILES, Record, Report, rederive, utc_rfc3339};

use super::common::say_if_unchecked;
use crate::exit::Usage;

/// Make a record's report again from its files, or all that is derived in it; changes nothing in the record
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay report results/nvidia-h200/md5-q9/2026-11-30-run
  assay report runs/20261130T024500Z-run --out report
  assay report runs/20261130T024500Z-run --rederive --out runs/again

The record itself is never written to: its manifest lists the hash of every file.")]
pub struct ReportArgs {
    /// The record's folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Folder for report.md and report.html [default: print the Markdown]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Write a whole record to --out: measured columns as they are, derived ones by this program
    #[arg(long, requires = "out")]
    pub rederive: bool,
}

/// Run the command.
///
/// # Errors
/// When the folder is no record, a table of it cannot be read, or the report cannot be written.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let record = Record::open(&args.dir)?;
    if let (true, Some(folder)) = (args.rederive, &args.out) {
        let commit = env!("ASSAY_COMMIT");
        let note = format!(
            "derived columns, summary and report were made anew on {} by assay {commit}",
            utc_rfc3339(SystemTime::now())
        );
        rederive(&record, folder, note)?;
        writeln!(out, "{}", folder.display())?;
        return Ok(());
    }
    let report = Report::of(&record)?;
    say_if_unchecked(&args.dir);
    eprintln!("assay: {}", compared(&record, &report)?);
    match &args.out {
        None => out.write_all(report.markdown.as_bytes())?,
        Some(folder) => {
            write(folder, &report)?;
            writeln!(out, "{}", folder.join(REPORT_FILES[1]).display())?;
        }
    }
    Ok(())
}

/// Whether the record's own report is this one.
fn compared(record: &Record, report: &Report) -> anyhow::Result<&'static str> {
    let own = REPORT_FILES.map(|name| record.read_file(name));
    let [markdown, html] = own;
    Ok(match (markdown?, html?) {
        (Some(markdown), Some(html))
            if markdown == report.markdown.as_bytes() && html == report.html.as_bytes() =>
        {
            "the record holds this very report"
        }
        (None, None) => "the record holds no report",
        _ => "the record holds another report: another version of the program made it, or a file was changed",
    })
}

fn write(folder: &Path, report: &Report) -> anyhow::Result<()> {
    if folder.join(MANIFEST).exists() {
        return Err(Usage(format!(
            "--out {}: that is a record, whose manifest lists the hash of every file: name another folder",
            folder.display()
        ))
        .into());
    }
    fs::create_dir_all(folder).with_context(|| format!("--out {} cannot be made", folder.display()))?;
    for (name, content) in REPORT_FILES.iter().zip([&report.markdown, &report.html]) {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}
