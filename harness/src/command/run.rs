//! `assay run`: validate, then time, then report.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::Status;
use assay_kernels::family::ValidationPlan;

use super::common::{DeviceArgs, print_json};
use super::trial::{Document, TimingArgs, conclude};
use crate::book::Book;
use crate::exit::Outcome;
use crate::progress::Progress;
use crate::select::Shelf;
use crate::trial::trials;
use crate::validate::{table, validate};

/// The main job: validate variants, time those in rotated rounds, leave a record
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay run
  assay run md5-q9 --device cpu --seconds 10s --rounds 5
  assay run v0 v4 v5 --device cuda:0 --out results/my-card

Nothing is timed unless every selected variant validates. The record holds every trial, every hit and every
validated candidate; `assay check DIR` re-verifies it.")]
pub struct RunArgs {
    /// Families or variants, such as md5-q9 or md5-q9/v4 [default: all]
    #[arg(value_name = "SELECTOR", conflicts_with = "all")]
    pub selectors: Vec<String>,
    /// Every variant of every family
    #[arg(long)]
    pub all: bool,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How long and how often
    #[command(flatten)]
    pub timing: TimingArgs,
    /// Folder for the record [default: runs/<UTC stamp>-run]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Run the command.
///
/// # Errors
/// When the device or the record cannot be used, or the host does not confirm a hit.
pub fn run(args: &RunArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let selected = shelf.select(&args.selectors)?;
    let device = args.device.open()?;
    let progress = Progress::new();
    let mut book = Book::open(args.out.clone(), "run", args.timing.seed)?;
    book.note_device(device.info(), None);

    let plan = ValidationPlan {
        seed: args.timing.seed,
        device: device.info().kind,
        whole_base: false,
    };
    let validation = match validate(&selected, device.as_ref(), &plan, None, &mut book, &progress) {
        Ok(validation) => validation,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    let proved = table(&validation.results).to_string();
    book.writer().write_file("validation.md", &proved)?;
    if !args.json {
        writeln!(out, "{proved}")?;
    }
    if !validation.ok() {
        eprintln!("assay: nothing is timed, since not every variant validated");
        let record = book.dir();
        book.close(if validation.interrupted {
            Status::Aborted
        } else {
            Status::Failed
        })?;
        if args.json {
            print_json(out, &Document::new(false, record, &[]))?;
        }
        return Ok(if validation.interrupted {
            Outcome::Interrupted
        } else {
            Outcome::Wrong
        });
    }
    let done = trials(
        &selected,
        device.as_ref(),
        &args.timing.request(),
        &mut book,
        &progress,
    );
    conclude(done, book, args.json, out)
}
