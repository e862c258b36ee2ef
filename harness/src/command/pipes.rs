//! `assay pipes`: what each machine instruction costs on a card, and what that bounds.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::Status;
use serde::Serialize;

use crate::book::Book;
use crate::device::{CudaDevice, Device};
use crate::pipes::{Bound, Limit, PATTERNS, PIPES_FILE, PipeRates, Row, measure};
use crate::sass::{PipeSource, SassResult, Subject};
use crate::toolchain::ToolFlags;

/// Measure what each machine instruction costs on a card, and what that bounds for every variant
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay pipes
  assay pipes --device cuda:1 --json
  assay pipes md5-q9 --out runs/pipes")]
pub struct PipesArgs {
    /// Families or variants whose bound is to be shown
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// The card
    #[arg(long, value_name = "cuda:N", default_value = "cuda:0")]
    pub device: String,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Folder for the record [default: runs/<UTC stamp>-pipes]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Which CUDA tools to take
    #[command(flatten)]
    pub tools: ToolFlags,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    device: &'a str,
    name: &'a str,
    arch: String,
    rows: &'a [Row],
    rates: &'a PipeRates,
    bounds: Vec<BoundRow>,
}

#[derive(Serialize)]
struct BoundRow {
    variant: String,
    /// Units per clock and multiprocessor.
    bound: Bound,
    limit: Limit,
}

/// Measure every pattern on `device`, then bound `subjects`. `progress` hears the name of each pattern before it runs.
///
/// # Errors
/// A [`crate::device::DeviceError`], [`crate::sass::AccountError`], or an error of writing.
pub fn run(
    args: &PipesArgs,
    device: &CudaDevice,
    subjects: &[Subject],
    progress: &mut dyn FnMut(&str),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for pattern in PATTERNS {
        progress(pattern.name);
        rows.push(measure(device, pattern)?);
    }
    let rates = PipeRates::of(&rows);
    let card = device.card();
    let mut bounds = Vec::new();
    for subject in subjects {
        let account = SassResult::of(device.tools(), subject, card.arch(), PipeSource::Measured)?;
        let bound = rates.bound(&account.per_unit);
        bounds.push(BoundRow {
            variant: subject.variant.clone(),
            bound,
            limit: bound.lowest().1,
        });
    }
    let mut book = Book::open(args.out.clone(), "pipes", 0)?;
    book.note_device(device.info(), None);
    book.writer().write_file(PIPES_FILE, csv(&rows))?;
    let record = book.dir();
    book.close(Status::Complete)?;
    let id = card.id();
    let document = Document {
        schema: 1,
        device: &id,
        name: &card.name,
        arch: card.arch().to_string(),
        rows: &rows,
        rates: &rates,
        bounds,
    };
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        out.write_all(tables(&document).as_bytes())?;
        writeln!(out, "\nRecord: {record}")?;
    }
    Ok(())
}

fn tables(document: &Document) -> String {
    let mut text = format!("{} ({}, {})\n\n", document.name, document.device, document.arch);
    text += "| instructions | lanes per clk and SM | clk per step | loop overhead | note |\n|---|--:|--:|--:|---|\n";
    let number =
        |value: Option<f64>, places: usize| value.map_or(String::new(), |value| format!("{value:.places$}"));
    for row in document.rows {
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            row.pattern,
            number(row.lanes_per_clk_per_sm, 2),
            number(row.clk_per_step, 3),
            number(row.overhead.map(|share| share * 100.0), 1)
                + if row.overhead.is_some() { " %" } else { "" },
            row.refused
                .as_deref()
                .map_or(String::new(), |why| format!("refused: {why}")),
        );
    }
    if !document.bounds.is_empty() {
        text += "\nMost units per clk and SM:\n\n| variant | ALU | FMA | issue | limit |\n|---|--:|--:|--:|---|\n";
    }
    for BoundRow {
        variant,
        bound,
        limit,
    } in &document.bounds
    {
        text += &format!(
            "| {variant} | {:.4} | {:.4} | {:.4} | {limit:?} |\n",
            bound.alu, bound.fma, bound.issue
        );
    }
    text
}

/// `pipes.csv`: a row per pattern; empty cells where it was refused.
fn csv(rows: &[Row]) -> String {
    let mut text =
        String::from("pattern,per_step,lanes_per_clk_per_sm,clk_per_step,overhead_share,refused\n");
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        text += &format!(
            "{},{},{},{},{},\"{}\"\n",
            row.pattern,
            row.per_step,
            number(row.lanes_per_clk_per_sm),
            number(row.clk_per_step),
            number(row.overhead),
            row.refused.as_deref().unwrap_or_default().replace('"', "'"),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let timed = Row {
            pattern: "LOP3",
            per_step: 1,
            lanes_per_clk_per_sm: Some(63.5),
            clk_per_step: Some(2.016),
            overhead: Some(0.012),
            refused: None,
        };
        let refused = Row {
            pattern: "SHF",
            lanes_per_clk_per_sm: None,
            clk_per_step: None,
            overhead: None,
            refused: Some("256 SHF expected, the loop has 3 MOV".into()),
            ..timed.clone()
        };
        vec![timed, refused]
    }

    #[test]
    fn a_refused_pattern_is_a_row_with_its_reason() {
        let rows = rows();
        let document = Document {
            schema: 1,
            device: "cuda:0",
            name: "card",
            arch: "sm_90".into(),
            rows: &rows,
            rates: &PipeRates::USUAL,
            bounds: Vec::new(),
        };
        let text = tables(&document);
        assert!(text.contains("| LOP3 | 63.50 | 2.016 | 1.2 % |  |"), "{text}");
        assert!(
            text.contains("| SHF |  |  |  | refused: 256 SHF expected"),
            "{text}"
        );
    }

    #[test]
    fn the_table_is_written_whole() {
        let text = csv(&rows());
        assert_eq!(text.lines().count(), 3);
        assert_eq!(text.lines().nth(1), Some("LOP3,1,63.5,2.016,0.012,\"\""));
    }
}
