//! `assay run`: validate, then time, then report.

use std::io::Write;
use std::path::PathBuf;

use assay_analysis::Status;
use assay_analysis::rows::{BoundRow, SassRow};
use assay_kernels::family::ValidationPlan;

use super::common::{DeviceArgs, SelectorArgs, print_json, runnable, subjects};
use super::resume::resume;
use super::trial::{Document, TimingArgs, conclude};
use crate::book::Book;
use crate::device::Device;
use crate::exit::Outcome;
use crate::pipes::{PipeRates, recorded};
use crate::progress::Progress;
use crate::sass::{PipeSource, SassResult};
use crate::select::{Selected, Shelf, of_each_file};
use crate::toolchain::{Arch, Toolchain};
use crate::trial::{Earlier, TrialRequest, trials};
use crate::validate::{Evidence, table, validate};

/// The main job: validate variants, time those in rotated rounds, leave a record
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay run
  assay run md5-q9 --device cpu --seconds 10s --rounds 5
  assay run v0 v4 v5 --device cuda:0 --seconds 60s --rounds 1 --out results/my-card
  assay run native-dgemm@4096 moduli-mma@4096 native-dgemm@8192 moduli-mma@8192 --device cuda:0
  assay run --resume results/my-card --rounds 1

Nothing is timed unless every selected variant validates. FAMILY/NAME@SIZE is a variant at another size, in families that
have one; variants are compared with those of their own size. The record holds every trial, every hit and every
validated candidate; `assay check DIR` re-verifies it.")]
pub struct RunArgs {
    /// Which variants
    #[command(flatten)]
    pub which: SelectorArgs,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How long and how often
    #[command(flatten)]
    pub timing: TimingArgs,
    /// Folder for the record [default: runs/<UTC stamp>-run]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with a record: --rounds more rounds of the same variants, length and seed on the same card
    #[arg(long, value_name = "DIR", conflicts_with_all = ["selectors", "all", "out", "seconds", "seed"])]
    pub resume: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Run the command.
///
/// # Errors
/// When the device or the record cannot be used, or the host does not confirm a hit.
pub fn run(args: &RunArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    if let Some(folder) = &args.resume {
        return resume(args, folder, shelf, out);
    }
    let selected = shelf.select(&args.which.selectors)?;
    let device = args.device.open()?;
    let selected = runnable(selected, &args.which.selectors, device.as_ref())?;
    let mut book = Book::open(args.out.clone(), "run", args.timing.seed)?;
    book.note_device(device.info(), None);
    let request = args.timing.request();
    prove_and_time(
        args,
        shelf,
        &selected,
        device.as_ref(),
        &request,
        Earlier::default(),
        book,
        out,
    )
}

/// Validate, account for the machine code, time, and report.
#[expect(
    clippy::too_many_arguments,
    reason = "the whole job: it is called twice, from above and from `resume`"
)]
pub fn prove_and_time(
    args: &RunArgs,
    shelf: &Shelf,
    selected: &[Selected],
    device: &dyn Device,
    request: &TrialRequest,
    earlier: Earlier,
    mut book: Book,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let progress = Progress::new();
    let plan = ValidationPlan {
        seed: request.seed,
        device: device.info().kind,
        whole_base: false,
    };
    let proved = of_each_file(selected);
    let validation = match validate(&proved, device, &plan, None, Evidence::All, &mut book, &progress) {
        Ok(validation) => validation,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    let verdicts = table(&validation.results).to_string();
    book.writer().write_file("validation.md", &verdicts)?;
    if !args.json {
        writeln!(out, "{verdicts}")?;
    }
    if !validation.ok() {
        if validation.interrupted {
            eprintln!("assay: interrupted while validating: nothing is timed");
        } else {
            eprintln!("assay: nothing is timed, since not every variant validated");
        }
        let record = book.dir();
        book.close(validation.status())?;
        if args.json {
            print_json(out, &Document::new(false, record, &[]))?;
        }
        return Ok(if validation.interrupted {
            Outcome::Interrupted
        } else {
            Outcome::Wrong
        });
    }
    account(args, shelf, selected, device, &mut book)?;
    let done = trials(selected, device, request, earlier, &mut book, &progress);
    conclude(done, book, args.json, out)
}

/// Write the account of the machine code, where there is a card and a disassembler; else note why not.
fn account(
    args: &RunArgs,
    shelf: &Shelf,
    selected: &[Selected],
    device: &dyn Device,
    book: &mut Book,
) -> anyhow::Result<()> {
    let Some(gpu) = &device.info().gpu else {
        return Ok(());
    };
    let arch = Arch::of(gpu.compute_capability);
    let tools = Toolchain::of_process(&args.device.tools);
    let pipes = if recorded(&shelf.results()).contains(&arch) {
        PipeSource::Measured
    } else {
        PipeSource::Predicted
    };
    let mut rows: Vec<SassRow> = Vec::new();
    let mut bounds: Vec<BoundRow> = Vec::new();
    let (subjects, without) = subjects(selected);
    if !without.is_empty() {
        book.note(format!(
            "no account of the machine code of {}: its threads have no loop over units",
            without.join(", ")
        ));
    }
    for subject in subjects {
        match SassResult::of(&tools, &subject, arch, pipes) {
            Ok(result) => {
                book.note_tools(&result.compiler, &result.disassembler);
                rows.extend(result.rows());
                let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
                let bound = PipeRates::USUAL.bound(&result.per_unit);
                bounds.push(BoundRow {
                    variant: subject.variant,
                    arch: arch.to_string(),
                    alu_units_per_clock_per_sm: finite(bound.alu),
                    fma_units_per_clock_per_sm: finite(bound.fma),
                    issue_units_per_clock_per_sm: finite(bound.issue),
                });
            }
            Err(error) => book.note(format!(
                "no account of the machine code of {}: {error}",
                subject.variant
            )),
        }
    }
    if !rows.is_empty() {
        book.writer().write_table(&rows)?;
        book.writer().write_table(&bounds)?;
    }
    Ok(())
}
