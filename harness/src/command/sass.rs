//! `assay sass`: instructions per unit, from the disassembly.

use std::io::Write;
use std::path::{Path, PathBuf};

use assay_analysis::Status;
use assay_analysis::rows::SassRow;
use serde::Serialize;

use crate::book::Book;
use crate::device::Card;
use crate::exit::{Outcome, Usage};
use crate::sass::{PipeSource, SassResult, Subject, opcode_tables, table};
use crate::toolchain::{Arch, ToolFlags, Toolchain};

/// Architectures that are accounted for when none is named and there is no card.
const USUAL: [Arch; 7] = [
    Arch::number(75),
    Arch::number(80),
    Arch::number(86),
    Arch::number(89),
    Arch::number(90),
    Arch::number(100),
    Arch::number(120),
];

/// Count the machine instructions that a unit costs, by pipe and by opcode; needs no GPU
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay sass md5-q9 --arch sm_75 --arch sm_90
  assay sass md5-q9/v5 --arch sm_90 --opcodes
  assay sass --all --json")]
pub struct SassArgs {
    /// Families or variants, such as md5-q9 or md5-q9/v4
    #[arg(value_name = "SELECTOR", required_unless_present = "all")]
    pub selectors: Vec<String>,
    /// Every variant of every family
    #[arg(long, conflicts_with = "selectors")]
    pub all: bool,
    /// Architecture to compile for, such as sm_90; may be repeated [default: the card's, else sm_75 80 86 89 90 100 120]
    #[arg(long, value_name = "ARCH")]
    pub arch: Vec<Arch>,
    /// Counters of a card, as scripts/sass-counters wrote them when it held the account against them: kept in the record
    #[arg(long, value_name = "FILE", requires = "out")]
    pub counters: Option<PathBuf>,
    /// Folder for a record with every opcode (and the counters)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also print every opcode
    #[arg(long)]
    pub opcodes: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Which CUDA tools to take
    #[command(flatten)]
    pub tools: ToolFlags,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    results: &'a [SassResult],
}

/// Account for `subjects`. `measured` are the architectures that a `pipes` record exists of.
///
/// # Errors
/// A [`crate::toolchain::ToolError`] or [`crate::sass::AccountError`], or the error of writing to `out`.
pub fn run(
    args: &SassArgs,
    subjects: &[Subject],
    measured: &[Arch],
    tools: &Toolchain,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let archs = architectures(args);
    // All of them are checked before the first is compiled: a typing error should not cost a minute.
    for arch in &archs {
        tools.nvrtc()?.check_arch(*arch)?;
    }
    let mut results = Vec::with_capacity(subjects.len() * archs.len());
    for subject in subjects {
        for arch in &archs {
            let pipes = if measured.contains(arch) {
                PipeSource::Measured
            } else {
                PipeSource::Predicted
            };
            results.push(SassResult::of(tools, subject, *arch, pipes)?);
        }
    }
    if let Some(folder) = &args.out {
        keep(args, folder, &results)?;
    }
    if args.json {
        serde_json::to_writer_pretty(
            &mut *out,
            &Document {
                schema: 1,
                results: &results,
            },
        )?;
        writeln!(out)?;
        return Ok(Outcome::Right);
    }
    out.write_all(table(&results).as_bytes())?;
    if args.opcodes {
        out.write_all(opcode_tables(&results).as_bytes())?;
    }
    Ok(Outcome::Right)
}

/// A record of the account, with the counters that it was held against.
fn keep(args: &SassArgs, folder: &Path, results: &[SassResult]) -> anyhow::Result<()> {
    let counters = match &args.counters {
        Some(path) => {
            let text = std::fs::read(path)
                .map_err(|error| Usage(format!("--counters {}: {error}", path.display())))?;
            Some(text)
        }
        None => None,
    };
    let mut book = Book::open(Some(folder.to_path_buf()), "sass", 0)?;
    if let Some(result) = results.first() {
        book.note_tools(&result.compiler, &result.disassembler);
    }
    let rows: Vec<SassRow> = results.iter().flat_map(SassResult::rows).collect();
    book.writer().write_table(&rows)?;
    if let Some(text) = counters {
        book.writer().write_file("counters.csv", text)?;
    }
    book.close(Status::Complete)
}

fn architectures(args: &SassArgs) -> Vec<Arch> {
    if !args.arch.is_empty() {
        return args.arch.clone();
    }
    let cards = Card::all().map(|(_, cards)| cards).unwrap_or_default();
    cards.first().map_or(USUAL.to_vec(), |card| vec![card.arch()])
}
