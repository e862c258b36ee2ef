//! `assay accuracy`: how far the products of variants are from the exact ones, on values that spread little or far.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::rows::AccuracyRow;
use assay_analysis::{Status, accuracy_table};
use assay_kernels::family::name_and_size;
use assay_kernels::multiply::{MultiplyError, Sample, Spread};
use serde::Serialize;

use super::common::{DeviceArgs, SelectorArgs, print_json, runnable};
use crate::book::Book;
use crate::device::Device;
use crate::exit::{Outcome, Usage};
use crate::gemm::{Precision, Run, multiply};
use crate::interrupt;
use crate::memory::afford;
use crate::progress::Progress;
use crate::select::{Selected, Shelf};

/// Largest edge of the matrices.
const MOST_EDGE: usize = 32_768;
/// Matrices of doubles that the host holds at once.
const COPIES: u64 = 5;
/// Most elements that are computed exactly.
const MOST_SAMPLES: u64 = 1 << 24;
/// Largest phi: products of values that spread further overflow.
const MOST_PHI: f64 = 40.0;

/// Measure how far the products of variants are from the exact ones, against the spread of the values
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay accuracy crt-gemm --edge 128 --device emulated
  assay accuracy native-dgemm moduli-mma moduli-wgmma --edge 4096,8192 --device cuda:0 --out results/my-card
  assay accuracy native-dgemm moduli-naive --edge 256 --phi 0,2,4 --as-needed --device emulated

Every variant multiplies the same seeded square matrices: values uniform in -1 to 1, and (u - 1/2) exp(phi z) for
each phi, u uniform and z normal. Seeded elements are computed on the host without rounding. The record holds the
element that is furthest off, for each variant and pair of matrices, and what was refused; `assay check DIR` re-verifies it.")]
pub struct AccuracyArgs {
    /// Which variants
    #[command(flatten)]
    pub which: SelectorArgs,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Rows, columns and K of the matrices
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "512", value_parser = edge)]
    pub edge: Vec<usize>,
    /// Spreads of the exponents, beside values that are uniform in -1 to 1
    #[arg(long, value_name = "PHI,...", value_delimiter = ',', default_value = "0.5,1,2,4", value_parser = phi)]
    pub phi: Vec<f64>,
    /// Elements of each product that are computed exactly on the host
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=MOST_SAMPLES))]
    pub samples: u64,
    /// Take more moduli where the variant's do not suffice, as `assay gemm` does
    #[arg(long)]
    pub as_needed: bool,
    /// Seed of the matrices and elements
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for the record [default: runs/<UTC stamp>-accuracy]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

fn edge(text: &str) -> Result<usize, String> {
    let number: Option<usize> = text.parse().ok();
    number
        .filter(|edge| (1..=MOST_EDGE).contains(edge))
        .ok_or_else(|| format!("`{text}` is not an edge: use 1 to {MOST_EDGE}"))
}

fn phi(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|phi| (0.0..=MOST_PHI).contains(phi))
        .ok_or_else(|| format!("`{text}` is not a spread: use 0 to {MOST_PHI}"))
}

#[derive(Serialize)]
struct Document<'d> {
    schema: u32,
    ok: bool,
    record: String,
    results: &'d [AccuracyRow],
}

/// Run the command.
///
/// # Errors
/// When the device or the record cannot be used, the host does not confirm a product, or the moduli do not suffice.
pub fn run(args: &AccuracyArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let sized = |selector: &&String| name_and_size(selector).1.is_some();
    if let Some(selector) = args.which.selectors.iter().find(sized) {
        let (name, _) = name_and_size(selector);
        return Err(Usage(format!(
            "{selector}: --edge says how large the matrices are, use {name}"
        ))
        .into());
    }
    let selected = shelf.select(&args.which.selectors)?;
    let selected = multiplying(selected, &args.which.selectors)?;
    let device = args.device.open()?;
    let selected = runnable(selected, &args.which.selectors, device.as_ref())?;
    let mut book = Book::open(args.out.clone(), "accuracy", args.seed)?;
    book.note_device(device.info(), None);
    let record = book.dir();
    let mut rows = Vec::new();
    if let Err(error) = measure(args, &selected, device.as_ref(), &mut book, &mut rows) {
        book.close(Status::Failed)?;
        return Err(error);
    }
    let reference = selected
        .first()
        .map(|one| format!("{}/{}", one.family.name(), one.family.baseline()));
    let table = accuracy_table(&rows, &reference.unwrap_or_default()).to_string();
    book.writer().write_file("accuracy.md", &table)?;
    let interrupted = interrupt::asked();
    book.close_with_report(if interrupted {
        Status::Aborted
    } else {
        Status::Complete
    })?;
    if args.json {
        let document = Document {
            schema: 1,
            ok: !interrupted,
            record,
            results: &rows,
        };
        print_json(out, &document)?;
    } else {
        writeln!(out, "{table}\nRecord: {record}")?;
    }
    Ok(if interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Right
    })
}

/// Those that multiply matrices of doubles; others are an error where they were named, and are said otherwise.
fn multiplying(selected: Vec<Selected>, selectors: &[String]) -> anyhow::Result<Vec<Selected>> {
    let (mut left, mut without) = (Vec::new(), Vec::new());
    for one in selected {
        let multiplies = !matches!(
            one.variant.multiply(Spread::Uniform.product(1, 1)),
            Err(MultiplyError::Unsupported)
        );
        if multiplies {
            left.push(one);
        } else if selectors
            .iter()
            .any(|name| *name == one.label() || name == one.variant.name())
        {
            return Err(Usage(format!("{} multiplies no matrices of doubles", one.label())).into());
        } else {
            without.push(one.label());
        }
    }
    if left.is_empty() {
        return Err(Usage("none of these variants multiplies matrices of doubles".to_owned()).into());
    }
    if !without.is_empty() {
        eprintln!(
            "assay: left out, since they multiply no matrices of doubles: {}",
            without.join(", ")
        );
    }
    Ok(left)
}

/// Every variant on every pair of matrices, until interrupted. The table is written anew after each.
fn measure(
    args: &AccuracyArgs,
    selected: &[Selected],
    device: &dyn Device,
    book: &mut Book,
    rows: &mut Vec<AccuracyRow>,
) -> anyhow::Result<()> {
    // Each once, however often it was named.
    let mut edges = args.edge.clone();
    let mut phis = args.phi.clone();
    edges.sort_unstable();
    edges.dedup();
    phis.sort_by(f64::total_cmp);
    phis.dedup();
    let spreads: Vec<Spread> = std::iter::once(Spread::Uniform)
        .chain(phis.into_iter().map(Spread::Wide))
        .collect();
    let precision = if args.as_needed {
        Precision::AsNeeded
    } else {
        Precision::Fixed
    };
    let progress = Progress::new();
    let products = edges.len() * spreads.len() * selected.len();
    let bar = progress.bar("accuracy", products as u64);
    for edge in edges {
        // Both matrices, their copies on the way to the device, and the product.
        afford(COPIES * (edge * edge) as u64 * 8)
            .map_err(|why| anyhow::Error::new(why).context(format!("--edge {edge}")))?;
        for &spread in &spreads {
            bar.say(&format!("{edge}: matrices"));
            let mut product = spread.product(edge, args.seed);
            product.samples = args.samples as usize;
            for one in selected {
                bar.say(&format!("{edge}: {}", one.label()));
                let run = match multiply(one, device, product.clone(), precision, &bar) {
                    Ok(Some(run)) => run,
                    Ok(None) => return Ok(()),
                    // A product that the variant refuses is a finding too.
                    Err(error) => match error.downcast::<Usage>() {
                        Ok(refusal) => {
                            let sentence = format!("edge {edge}, {}: {refusal}", words(spread));
                            eprintln!("assay: no row: {sentence}");
                            book.note(sentence);
                            bar.advance(1);
                            continue;
                        }
                        Err(error) => return Err(error),
                    },
                };
                book.note_variant(one, &run.build, device.info());
                rows.push(row(one, device, edge, spread, args.seed, &run)?);
                book.writer().write_table(rows)?;
                bar.advance(1);
            }
        }
    }
    Ok(())
}

fn words(spread: Spread) -> String {
    match spread {
        Spread::Uniform => "uniform".to_owned(),
        Spread::Wide(phi) => format!("phi {phi}"),
    }
}

fn row(
    one: &Selected,
    device: &dyn Device,
    edge: usize,
    spread: Spread,
    seed: u64,
    run: &Run,
) -> anyhow::Result<AccuracyRow> {
    let Sample {
        elements,
        worst,
        mean,
        relative,
        ..
    } = run.multiplied.sample;
    let worst =
        worst.ok_or_else(|| Usage(format!("{}: all sampled elements are sums of zeros", one.label())))?;
    let row = AccuracyRow {
        variant: one.label(),
        device: device.info().id.clone(),
        edge: edge as u64,
        phi: match spread {
            Spread::Uniform => None,
            Spread::Wide(phi) => Some(phi),
        },
        seed,
        moduli: run.multiplied.moduli.map(|moduli| moduli.count as u32),
        samples: elements,
        worst_row: worst.row as u64,
        worst_col: worst.col as u64,
        worst_error: worst.error,
        worst_magnitude: worst.magnitude,
        error_mean: mean,
        relative_max: relative,
        ..AccuracyRow::default()
    };
    Ok(row.derived())
}
