//! `assay trial`: time variants in rotated rounds.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use assay_analysis::rows::SummaryRow;
use assay_analysis::{Status, summary_table};
use assay_kernels::family::family;
use serde::Serialize;

use super::common::{DeviceArgs, SelectorArgs, duration, print_json, runnable};
use crate::book::Book;
use crate::exit::Outcome;
use crate::progress::Progress;
use crate::select::Shelf;
use crate::trial::{Earlier, TrialRequest, Trials, trials};

/// How long and how often to time.
#[derive(Debug, Clone, clap::Args)]
pub struct TimingArgs {
    /// Length of a trial, such as 3s or 1m
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    pub seconds: Duration,
    /// Rounds; each times every variant once, in rotated order
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Longest warm-up before the first round; it ends earlier where the temperature stays [default: a trial's length, at most 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub warmup: Option<Duration>,
    /// Seed of bases and order
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Do not sample power
    #[arg(long)]
    pub no_power: bool,
}

impl TimingArgs {
    /// What to time.
    pub fn request(&self) -> TrialRequest {
        TrialRequest {
            time: self.seconds,
            rounds: self.rounds,
            warmup: self.warmup.unwrap_or(self.seconds.min(Duration::from_secs(60))),
            seed: self.seed,
            power: !self.no_power,
        }
    }
}

/// Time variants in rotated rounds with an A/A control; does not validate: see run
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay trial md5-q9 --device cpu
  assay trial md5-q9/v0 md5-q9/v5 --seconds 10s --rounds 5

The baseline is timed a second time under the label FAMILY/NAME@aa: its ratio shows the noise.")]
pub struct TrialArgs {
    /// Which variants
    #[command(flatten)]
    pub which: SelectorArgs,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How long and how often
    #[command(flatten)]
    pub timing: TimingArgs,
    /// Folder for the record [default: runs/<UTC stamp>-trial]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// A mean with its spread.
#[derive(Serialize)]
struct Figure {
    mean: Option<f64>,
    sd: Option<f64>,
    ci95: Option<[f64; 2]>,
    n: u64,
}

#[derive(Serialize)]
struct Row {
    variant: String,
    device: String,
    rate_units_per_s: Figure,
    ratio_to_baseline: Figure,
    units_per_joule: Option<Figure>,
    units_per_clock_per_sm: Option<Figure>,
    hits: Option<u64>,
    hits_expected: Option<f64>,
    tflops: Option<f64>,
    gflops_per_watt: Option<f64>,
}

/// What a unit of a row's family stands for in FLOPS, where it stands for floating-point work.
fn flops_per_unit(row: &SummaryRow) -> Option<f64> {
    let (name, _) = row.variant.split_once('/')?;
    family(name)?.flops_per_unit()
}

/// A row's rate in TFLOPS.
fn tflops(row: &SummaryRow) -> Option<f64> {
    Some(row.rate_units_per_s_mean? * flops_per_unit(row)? / 1e12)
}

/// A row's work per joule, in GFLOPS per watt.
fn gflops_per_watt(row: &SummaryRow) -> Option<f64> {
    Some(row.units_per_joule_mean? * flops_per_unit(row)? / 1e9)
}

/// The JSON document of `trial` and `run`.
#[derive(Serialize)]
pub struct Document {
    schema: u32,
    ok: bool,
    record: String,
    results: Vec<Row>,
}

fn figure(mean: Option<f64>, sd: Option<f64>, lo: Option<f64>, hi: Option<f64>, n: u64) -> Figure {
    Figure {
        mean,
        sd,
        ci95: lo.zip(hi).map(|(lo, hi)| [lo, hi]),
        n,
    }
}

impl Document {
    /// The document of a finished run.
    pub fn new(ok: bool, record: String, rows: &[SummaryRow]) -> Document {
        let results = rows
            .iter()
            .map(|row| Row {
                variant: row.variant.clone(),
                device: row.device.clone(),
                rate_units_per_s: figure(
                    row.rate_units_per_s_mean,
                    row.rate_units_per_s_sd,
                    row.rate_units_per_s_ci95_lo,
                    row.rate_units_per_s_ci95_hi,
                    row.n.into(),
                ),
                ratio_to_baseline: figure(
                    row.ratio_to_baseline_mean,
                    None,
                    row.ratio_to_baseline_ci95_lo,
                    row.ratio_to_baseline_ci95_hi,
                    row.ratio_rounds.into(),
                ),
                units_per_joule: row.units_per_joule_mean.map(|mean| {
                    figure(
                        Some(mean),
                        None,
                        row.units_per_joule_ci95_lo,
                        row.units_per_joule_ci95_hi,
                        row.n.into(),
                    )
                }),
                units_per_clock_per_sm: row.units_per_clock_per_sm_mean.map(|mean| {
                    figure(
                        Some(mean),
                        None,
                        row.units_per_clock_per_sm_ci95_lo,
                        row.units_per_clock_per_sm_ci95_hi,
                        row.n.into(),
                    )
                }),
                hits: row.hits,
                hits_expected: row.hits_expected,
                tflops: tflops(row),
                gflops_per_watt: gflops_per_watt(row),
            })
            .collect();
        Document {
            schema: 1,
            ok,
            record,
            results,
        }
    }
}

/// Run the command.
///
/// # Errors
/// When the device or the record cannot be used, or the host does not confirm a hit.
pub fn run(args: &TrialArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let selected = shelf.select(&args.which.selectors)?;
    let device = args.device.open()?;
    let selected = runnable(selected, &args.which.selectors, device.as_ref())?;
    let mut book = Book::open(args.out.clone(), "trial", args.timing.seed)?;
    book.note("not validated: `assay run` validates before it times");
    let done = trials(
        &selected,
        device.as_ref(),
        &args.timing.request(),
        Earlier::default(),
        &mut book,
        &Progress::new(),
    );
    conclude(done, book, args.json, out)
}

/// Close the record and print what the trials came to.
///
/// # Errors
/// Those of the trials, after the record was closed as failed.
pub fn conclude(
    done: anyhow::Result<Trials>,
    book: Book,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let record = book.dir();
    let trials = match done {
        Ok(trials) => trials,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    let table = summary_table(&trials.summary).to_string();
    book.close_with_report(if trials.interrupted {
        Status::Aborted
    } else {
        Status::Complete
    })?;
    if json {
        print_json(
            out,
            &Document::new(!trials.interrupted, record, &trials.summary.rows),
        )?;
    } else {
        write!(out, "{table}")?;
        for (row, tflops) in trials
            .summary
            .rows
            .iter()
            .filter_map(|row| Some((row, tflops(row)?)))
        {
            let per_watt =
                gflops_per_watt(row).map_or(String::new(), |value| format!(", {value:.2} GFLOPS/W"));
            // Four places for a card, more for a host whose rate they would not show.
            let places = if tflops < 0.1 { 7 } else { 4 };
            writeln!(out, "{}: {tflops:.places$} TFLOPS{per_watt}", row.variant)?;
        }
        for table in &trials.details {
            write!(out, "\n{table}")?;
        }
        writeln!(out, "\nRecord: {record}")?;
    }
    Ok(if trials.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Right
    })
}
