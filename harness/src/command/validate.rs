//! `assay validate`: prove variants right.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::Status;
use assay_kernels::family::ValidationPlan;
use serde::Serialize;

use super::common::{DeviceArgs, SelectorArgs, print_json, runnable};
use crate::book::Book;
use crate::exit::{Outcome, Usage};
use crate::progress::Progress;
use crate::select::{Selected, Shelf};
use crate::validate::{Document, Evidence, overflow_is_rejected, table, validate};

/// Prove variants right: every layer against the host's answer, planted hits, hit sets
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay validate md5-q9 --device cpu
  assay validate md5-q9/v4 md5-q9/v5 --device emulated
  assay validate md5-q9 --whole-base
  assay validate md5-q9 --vectors cases.json

A validation of a family checks, for every variant: each intermediate value (layer) of stretches of candidates by
a trace build; hits planted at seeded places and at every edge of a launch, by the production build; and the set
of hits over 2^20 candidates. Exit code 1 when anything differs: the first layer in data-flow order is named.")]
pub struct ValidateArgs {
    /// Which variants
    #[command(flatten)]
    pub which: SelectorArgs,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Also compare the variants' hit sets over a whole base (2^32 candidates each)
    #[arg(long)]
    pub whole_base: bool,
    /// Run the cases of a vector file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["whole_base", "overflow"])]
    pub vectors: Option<PathBuf>,
    /// Check instead that a hit buffer that is too small is rejected
    #[arg(long, conflicts_with_all = ["whole_base", "out"])]
    pub overflow: bool,
    /// Seed of bases, places and planted candidates
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for the record [default: runs/<UTC stamp>-validate]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct OverflowDocument {
    schema: u32,
    rejected: bool,
    results: Vec<OverflowRow>,
}

#[derive(Serialize)]
struct OverflowRow {
    variant: String,
    device: String,
    rejected: bool,
    message: String,
}

/// Run the command.
///
/// # Errors
/// When the device, the record or the vector file cannot be used.
pub fn run(args: &ValidateArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let selected = shelf.select(&args.which.selectors)?;
    let vectors = match &args.vectors {
        Some(path) => Some(
            std::fs::read_to_string(path)
                .map_err(|error| Usage(format!("--vectors {}: {error}", path.display())))?,
        ),
        None => None,
    };
    // A file that cannot be read leaves no record behind.
    for one in &selected {
        if let (Some(path), Some(text)) = (&args.vectors, &vectors) {
            one.variant
                .vector_checks(text)
                .map_err(|error| Usage(format!("--vectors {}: {error}", path.display())))?;
        }
    }
    if args.overflow {
        return overflow(args, &selected, out);
    }
    let device = args.device.open()?;
    let selected = runnable(selected, &args.which.selectors, device.as_ref())?;
    let plan = ValidationPlan {
        seed: args.seed,
        device: device.info().kind,
        whole_base: args.whole_base,
    };
    let mut book = Book::open(args.out.clone(), "validate", args.seed)?;
    book.note_device(device.info(), None);
    let record = book.dir();
    let done = validate(
        &selected,
        device.as_ref(),
        &plan,
        vectors.as_deref(),
        Evidence::All,
        &mut book,
        &Progress::new(),
    );
    let validation = match done {
        Ok(validation) => validation,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    let outcome = match (validation.interrupted, validation.ok()) {
        (true, _) => Outcome::Interrupted,
        (false, true) => Outcome::Right,
        (false, false) => Outcome::Wrong,
    };
    book.close_with_report(validation.status())?;
    if args.json {
        let ok = validation.ok();
        print_json(
            out,
            &Document {
                schema: 1,
                ok,
                seed: args.seed,
                record,
                results: &validation.results,
            },
        )?;
    } else {
        writeln!(out, "{}\nRecord: {record}", table(&validation.results))?;
    }
    Ok(outcome)
}

fn overflow(args: &ValidateArgs, selected: &[Selected], out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let device = args.device.open()?;
    let plan = ValidationPlan {
        seed: args.seed,
        device: device.info().kind,
        whole_base: false,
    };
    let results: Vec<OverflowRow> = overflow_is_rejected(selected, device.as_ref(), &plan)?
        .into_iter()
        .map(|(variant, rejected, message)| OverflowRow {
            variant,
            device: device.info().id.clone(),
            rejected,
            message,
        })
        .collect();
    let rejected = results.iter().all(|row| row.rejected);
    if args.json {
        print_json(
            out,
            &OverflowDocument {
                schema: 1,
                rejected,
                results,
            },
        )?;
    } else {
        for row in &results {
            writeln!(
                out,
                "{} on {}: \"rejected\": {} ({})",
                row.variant, row.device, row.rejected, row.message
            )?;
        }
    }
    Ok(if rejected { Outcome::Right } else { Outcome::Wrong })
}
