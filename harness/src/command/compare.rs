//! `assay compare`: two records side by side.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::{Record, compare};

use super::common::say_if_unchecked;

/// Compare two records: ratios with their 99 % intervals, and what differs in the environment
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay compare results/nvidia-h200/md5-q9/first results/nvidia-h200/md5-q9/second")]
pub struct CompareArgs {
    /// The first record's folder
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The second record's folder
    #[arg(value_name = "B")]
    pub b: PathBuf,
}

/// Run the command.
///
/// # Errors
/// When a folder is no record, or a table of it cannot be read.
pub fn run(args: &CompareArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let comparison = compare(&Record::open(&args.a)?, &Record::open(&args.b)?)?;
    say_if_unchecked(&args.a);
    say_if_unchecked(&args.b);
    writeln!(
        out,
        "A: {}\nB: {}\n\n{comparison}",
        args.a.display(),
        args.b.display()
    )?;
    Ok(())
}
