//! `assay tune`: look for the best options of a variant on a device.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use assay_analysis::rows::{RunRow, Standing, TuneRow};
use assay_analysis::{Objective, Record, Status, TrialPlan, check, since_utc, utc_rfc3339};
use assay_kernels::family::DeviceKind;
use assay_kernels::knob::VariantText;
use assay_kernels::native::Isa;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::common::{DeviceArgs, duration, print_json};
use super::resume::{device_of, same_build, same_device};
use crate::book::{Book, this_build};
use crate::device::{Device, DeviceInfo};
use crate::exit::{Outcome, Usage};
use crate::power::counts_energy;
use crate::progress::Progress;
use crate::select::{Selected, Shelf};
use crate::trial::Earlier;
use crate::tune::{
    Document, End, Ledger, Schedule, Sitting, Space, WINNER, Winner, Workbench, Workshop, race, restore,
    table,
};

/// The record's file that tuning started from.
const START: &str = "start.toml";

/// Time that a race is given.
const BUDGET: Duration = Duration::from_secs(180);

/// Look for the options with which a variant is fastest, or does most per joule; every candidate is validated before it is timed
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay tune md5-q9/v5
  assay tune md5-q9/v5 --device cpu --budget 1m
  assay tune md5-q9/v5 --device cuda:0 --objective energy --budget 20m --out results/my-card-tune
  assay tune --resume results/my-card-tune --budget 10m

Candidates are the variant's file with some keys changed. Those that validate are timed in rounds with the variant itself; each rung of
the race keeps the better half and times it longer. The record holds a row per candidate and rung (tune.csv) and the best
as a variant's file (winner.toml). Exit code 1 when a candidate is wrong: that is a fault of the generator.")]
pub struct TuneArgs {
    /// The variant to start from, such as md5-q9/v5
    #[arg(value_name = "VARIANT", required_unless_present = "resume")]
    pub variant: Option<String>,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// What is to be as large as possible: the rate, or the units per joule
    #[arg(long, value_name = "rate|energy", default_value = "rate",
          value_parser = PossibleValuesParser::new(["rate", "energy"]).map(|name| objective(&name)))]
    pub objective: Objective,
    /// Time for all of it, such as 90s or 20m; the trial that runs when it is over is finished [default: 3m; with --resume, what is left]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Seed of candidates, bases and order
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for the record [default: runs/<UTC stamp>-tune]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with a record that was interrupted or ran out of time, with the same seed and objective on the same card
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "seed", "objective"])]
    pub resume: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

fn objective(name: &str) -> Objective {
    if name == "energy" {
        Objective::Energy
    } else {
        Objective::Rate
    }
}

/// What is tuned, and where.
struct Subject {
    start: Selected,
    space: Space,
    device: Box<dyn Device>,
    isas: Vec<Isa>,
}

impl Subject {
    fn new(start: Selected, text: &str, args: &DeviceArgs) -> anyhow::Result<Subject> {
        let label = start.label();
        let text = VariantText::parse(text).map_err(|error| Usage(format!("{label}: {error}")))?;
        let device = args.open()?;
        let kind = device.info().kind;
        let isas = if kind == DeviceKind::Cpu && args.isa.is_none() {
            instruction_sets()
        } else {
            Vec::new()
        };
        let space = Space::new(start.variant.as_ref(), text, kind, &isas);
        if space.size() <= 1 {
            return Err(Usage(format!(
                "{label} has nothing to tune on {}: run `assay run {label}`",
                device.info().id
            ))
            .into());
        }
        Ok(Subject {
            start,
            space,
            device,
            isas,
        })
    }

    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn counts_energy(&self, objective: Objective) -> anyhow::Result<()> {
        let uuid = self.info().gpu.as_ref().map(|gpu| gpu.uuid.as_str());
        match objective {
            Objective::Rate => Ok(()),
            Objective::Energy => counts_energy(self.info().kind, uuid)
                .with_context(|| format!("--objective energy cannot be had on {}", self.info().id)),
        }
    }
}

/// The instruction sets that this processor has, the one that is taken by default first.
fn instruction_sets() -> Vec<Isa> {
    let others = Isa::ALL
        .into_iter()
        .rev()
        .filter(|isa| isa.available() && *isa != Isa::best());
    std::iter::once(Isa::best()).chain(others).collect()
}

/// The one variant that `name` selects.
fn one(shelf: &Shelf, name: &str) -> anyhow::Result<Selected> {
    let selected = shelf.select(&[name.to_owned()])?;
    match <[Selected; 1]>::try_from(selected) {
        Ok([one]) => Ok(one),
        Err(_) => Err(Usage(format!("`{name}` is a family: name one variant to start from")).into()),
    }
}

/// Run the command.
///
/// # Errors
/// When the variant, the device or the record cannot be used.
pub fn run(args: &TuneArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    if let Some(folder) = &args.resume {
        return resume(args, folder, shelf, out);
    }
    let budget = args.budget.unwrap_or(BUDGET);
    let schedule = Schedule::of(args.objective, budget).map_err(|why| Usage(format!("--budget: {why}")))?;
    let start = one(shelf, args.variant.as_deref().unwrap_or_default())?;
    let text = shelf.text(&start)?;
    let subject = Subject::new(start, &text, &args.device)?;
    subject.counts_energy(args.objective)?;
    let mut book = Book::open(args.out.clone(), "tune", args.seed)?;
    book.note_device(subject.info(), None);
    book.writer().write_file(START, &text)?;
    let sitting = Sitting {
        seed: args.seed,
        objective: args.objective,
        schedule,
        began: Instant::now(),
        before: Duration::ZERO,
    };
    tune(
        &subject,
        &sitting,
        Ledger::default(),
        Earlier::default(),
        book,
        args.json,
        out,
    )
}

/// Go on with the record in `folder`.
fn resume(args: &TuneArgs, folder: &Path, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let refuse = |why: &str| Usage(format!("--resume {}: {why}", folder.display()));
    check(folder)?;
    let record = Record::open(folder)?;
    let manifest = record.manifest();
    let plan = manifest.tune.clone();
    let plan = plan.ok_or_else(|| refuse("it is no record of `assay tune`"))?;
    if plan.decided {
        return Err(refuse("its race was run to its end: start a new one from its winner.toml").into());
    }
    if manifest.build != this_build() {
        return Err(refuse(&format!(
            "it was made by the program of commit {}, which is not this one: start a new record",
            manifest.build.commit.as_deref().unwrap_or("unknown")
        ))
        .into());
    }
    let start = one(shelf, &plan.start)?;
    if let Some(named) = &args.variant
        && one(shelf, named)?.label() != plan.start
    {
        return Err(refuse(&format!("it started from {}, not from {named}", plan.start)).into());
    }
    let text = shelf.text(&start)?;
    if record.read_file(START)?.as_deref() != Some(text.as_bytes()) {
        return Err(refuse(&format!(
            "the file of {} has changed since: start a new record",
            plan.start
        ))
        .into());
    }
    let spent = Duration::try_from_secs_f64(plan.spent_s).context("the record's tune.spent_s is no time")?;
    let given =
        Duration::try_from_secs_f64(plan.budget_s).context("the record's tune.budget_s is no time")?;
    let budget = args.budget.map_or(given, |more| spent + more);
    if budget <= spent {
        return Err(refuse("its time is spent: give more by --budget").into());
    }
    let schedule = Schedule::of(plan.objective, budget).map_err(|why| refuse(&why))?;
    let device = device_of(&args.device, manifest).map_err(|why| refuse(&why))?;
    let subject = Subject::new(start, &text, &device)?;
    same_device(manifest, subject.info()).map_err(|why| refuse(&why))?;
    subject.counts_energy(plan.objective)?;
    let rows: Vec<TuneRow> = record.table()?.unwrap_or_default();
    let runs: Vec<RunRow> = record.table()?.unwrap_or_default();
    // Before the first trial the manifest has no production build.
    if !runs.is_empty() {
        same_build(manifest, &subject.start, subject.device.as_ref(), manifest.seed)?;
    }
    let ledger =
        restore(&rows, &runs, &subject.space, &schedule, plan.objective).map_err(|why| refuse(&why))?;
    let now = SystemTime::now();
    let earlier = Earlier {
        rows: runs,
        stages: record.table()?.unwrap_or_default(),
        power: record.table()?,
        age_s: since_utc(&manifest.started_utc, now).unwrap_or(0.0),
    };
    let driver = manifest.gpu.as_ref().and_then(|gpu| gpu.driver.clone());
    let seed = manifest.seed;
    let mut book = Book::reopen(&record)?;
    book.note_device(subject.info(), None);
    let more = (budget - spent).as_secs();
    book.note_continued(&utc_rfc3339(now), &format!("{more} s more"), driver);
    let sitting = Sitting {
        seed,
        objective: plan.objective,
        schedule,
        began: Instant::now(),
        before: spent,
    };
    tune(&subject, &sitting, ledger, earlier, book, args.json, out)
}

/// Run the race, write down what it came to, and say so.
fn tune(
    subject: &Subject,
    sitting: &Sitting,
    mut ledger: Ledger,
    earlier: Earlier,
    book: Book,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let record = book.dir();
    let workshop = Workshop::new(
        &subject.start,
        &subject.space,
        subject.device.as_ref(),
        &subject.isas,
    )?;
    let mut bench = Workbench::new(&workshop, sitting, earlier, book, &Progress::new())?;
    let shape = subject.space.shape();
    let raced = race(&mut ledger, &sitting.schedule, &shape, sitting.seed, &mut bench);
    bench.finish()?;
    let rows = bench.rows(&ledger, true)?;
    let plan = bench.plan(&ledger);
    let mut book = bench.book;
    book.note_tune(plan.clone());
    book.note_device(
        subject.info(),
        Some(TrialPlan {
            seconds: sitting.schedule.shortest.as_secs_f64(),
            rounds: ledger.next_round() - 1,
            warmup_seconds: 0.0,
            baselines: vec![plan.start.clone()],
        }),
    );
    book.writer().write_table(&rows)?;
    let end = match raced {
        Ok(end) => end,
        Err(error) => {
            book.close(Status::Failed)?;
            return Err(error);
        }
    };
    let winner = Winner::of(&rows, &ledger, &workshop, sitting.objective);
    if let Some(winner) = &winner {
        let text = winner.file(&ledger, &workshop, &plan, &subject.info().name, &book.command());
        book.writer().write_file(WINNER, text)?;
    }
    let wrong = ledger
        .entries
        .iter()
        .any(|entry| entry.finding.standing == Standing::Wrong);
    let (status, outcome) = match (end, wrong) {
        (End::Interrupted, _) => (Status::Aborted, Outcome::Interrupted),
        (_, true) => (Status::Failed, Outcome::Wrong),
        (_, false) => (Status::Complete, Outcome::Right),
    };
    book.close(status)?;
    if json {
        let info = subject.info();
        let size = subject.space.size();
        let document = Document::new(
            record,
            info.id.clone(),
            sitting.seed,
            plan,
            end,
            size,
            &ledger,
            &rows,
            winner,
        );
        print_json(out, &document)?;
    } else {
        writeln!(out, "{}", table(&rows, &ledger, sitting.objective))?;
        writeln!(out, "{}", sentence(end, winner.as_ref()))?;
        writeln!(out, "Record: {record}")?;
    }
    Ok(outcome)
}

/// How the race ended, in words.
fn sentence(end: End, winner: Option<&Winner>) -> String {
    let how = match end {
        End::Decided => "The race was run to its end",
        End::OutOfTime => "The time was over before the race: --resume continues it",
        End::Alone => "No candidate has a trial that counts",
        End::BadStart => "The starting variant is wrong, so nothing was timed",
        End::Interrupted => "Interrupted: --resume continues it",
    };
    match winner {
        None => format!("{how}."),
        Some(winner) if winner.changes.is_empty() => {
            format!("{how}. No candidate was better than the starting variant.")
        }
        Some(winner) => {
            let doubt = if winner.improves {
                ""
            } else {
                ", which its interval does not tell from the starting variant"
            };
            format!("{how}. Best: {}{doubt}.", winner.changes)
        }
    }
}
