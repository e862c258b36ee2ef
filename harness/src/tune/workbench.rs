//! The track of a real race: candidates are made, validated and timed on a device, and everything goes into the record.

use std::time::{Duration, Instant};

use assay_analysis::rows::{Standing, TuneRow};
use assay_analysis::{Objective, TunePlan};
use assay_kernels::family::{ValidationPlan, VariantError};

use super::candidate::Workshop;
use super::ledger::{Finding, Heat, Ledger, Runner, Turn};
use super::race::{Timing, Track};
use super::resume::value;
use super::rows::rows;
use super::schedule::Schedule;
use super::space::Point;
use crate::book::Book;
use crate::device::DeviceError;
use crate::exit::Usage;
use crate::flow::FlowError;
use crate::interrupt;
use crate::progress::{Bar, Progress};
use crate::select::Selected;
use crate::trial::{Bench, Contestant, Earlier, Place, TrialRequest};
use crate::validate::{Evidence, validate};

/// Share of the time for the warm-up, and its bound.
const WARMUP_SHARE: f64 = 0.05;
const WARMUP_MAX: Duration = Duration::from_secs(10);

/// CUDA's code for a launch that needs more registers or threads than a multiprocessor has. Later launches are not affected.
const LAUNCH_OUT_OF_RESOURCES: u32 = 701;

/// One sitting of a race: what was asked for, and when it began.
#[derive(Debug, Clone)]
pub struct Sitting {
    /// Seed of bases, places and order.
    pub seed: u64,
    /// What is looked for.
    pub objective: Objective,
    /// How the time is spent.
    pub schedule: Schedule,
    /// When it began.
    pub began: Instant,
    /// Time that earlier sittings used.
    pub before: Duration,
}

impl Sitting {
    fn spent(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}

/// The contestants of the heat that is run.
struct Lane {
    first_round: u32,
    contestants: Vec<(Runner, Contestant)>,
}

/// The real track.
pub struct Workbench<'t> {
    workshop: &'t Workshop<'t>,
    sitting: &'t Sitting,
    bench: Bench,
    lane: Option<Lane>,
    /// The record.
    pub book: Book,
    bar: Bar,
}

impl<'t> Workbench<'t> {
    /// Start the instruments.
    ///
    /// # Errors
    /// When a record that holds power samples is continued where there are none.
    pub fn new(
        workshop: &'t Workshop<'t>,
        sitting: &'t Sitting,
        earlier: Earlier,
        mut book: Book,
        progress: &Progress,
    ) -> anyhow::Result<Workbench<'t>> {
        let request = TrialRequest {
            time: sitting.schedule.shortest,
            rounds: sitting.schedule.first_rounds,
            warmup: Duration::ZERO,
            seed: sitting.seed,
            power: true,
        };
        let bench = Bench::start(workshop.device(), &request, earlier, &mut book)?;
        // Power above idle is not looked at, so no time is spent on idling.
        if let Some(power) = book.power_plan() {
            power.idle_seconds = 0.0;
        }
        let bar = progress.bar("tuning", sitting.schedule.budget.as_secs());
        Ok(Workbench {
            workshop,
            sitting,
            bench,
            lane: None,
            book,
            bar,
        })
    }

    /// The rows of `tune.csv`.
    ///
    /// # Errors
    /// When a trial's value cannot enter a statistic.
    pub fn rows(&self, ledger: &Ledger, over: bool) -> anyhow::Result<Vec<TuneRow>> {
        let decided = ledger.decided(self.sitting.seed);
        Ok(rows(ledger, self.workshop, self.bench.rows(), decided, over)?)
    }

    /// What the manifest says of the race.
    pub fn plan(&self, ledger: &Ledger) -> TunePlan {
        TunePlan {
            start: self.workshop.label(0),
            objective: self.sitting.objective,
            budget_s: self.sitting.schedule.budget.as_secs_f64(),
            spent_s: self.sitting.spent().as_secs_f64(),
            decided: ledger.decided(self.sitting.seed),
        }
    }

    /// Stop measuring, and write the trials down for the last time.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        self.lane = None;
        if self.bench.rows().is_empty() {
            return self.book.save();
        }
        self.bench.finish(&mut self.book)
    }

    fn tell(&self, what: &str) {
        self.bar.reach(self.sitting.spent().as_secs());
        self.bar.say(what);
    }

    fn make(&self, number: usize, point: &Point) -> Result<Selected, VariantError> {
        self.workshop.make(number, point)
    }

    /// Build everyone who runs in `heat`, unless that is done.
    fn line_up(&mut self, heat: &Heat, ledger: &Ledger) -> anyhow::Result<()> {
        if self
            .lane
            .as_ref()
            .is_some_and(|lane| lane.first_round == heat.first_round)
        {
            return Ok(());
        }
        let first = self.lane.is_none();
        self.lane = None; // The buffers of the last heat go before those of the next one come.
        let bases = self.bench.rows().iter().filter_map(|row| row.base_last);
        let first_base = bases.max().map_or(0, |last| last + 1);
        let mut contestants = Vec::new();
        for runner in heat.runners() {
            let number = number(runner);
            let Some(entry) = ledger.entries.get(number) else {
                continue;
            };
            if entry.finding.standing != Standing::Right {
                continue;
            }
            let selected = self.make(number, &entry.point)?;
            let device = self.workshop.device_of(&entry.point);
            let label = match runner {
                Runner::Control => format!("{}@aa", selected.label()),
                Runner::Start | Runner::Candidate(_) => selected.label(),
            };
            let contestant = Contestant::new(&selected, label, device, self.sitting.seed, first_base)?;
            self.book
                .note_production(&selected, contestant.build(), device.info());
            contestants.push((runner, contestant));
        }
        self.lane = Some(Lane {
            first_round: heat.first_round,
            contestants,
        });
        if first { self.warm_up() } else { Ok(()) }
    }

    /// Run the starting variant until the clocks have come up.
    fn warm_up(&mut self) -> anyhow::Result<()> {
        self.tell("warming up");
        self.bench.instruments.warm_up();
        let time = self.sitting.schedule.budget.mul_f64(WARMUP_SHARE).min(WARMUP_MAX);
        let lane = self.lane.as_mut().and_then(|lane| lane.contestants.first_mut());
        if let Some((_, contestant)) = lane {
            contestant.run(time)?;
        }
        Ok(())
    }

    /// What an error says of a candidate; an error that is about the device or the record is handed back.
    fn of_error(&self, runner: Runner, error: anyhow::Error) -> anyhow::Result<Finding> {
        let standing = match cause(&error) {
            Some(Cause::Fault) => Standing::Wrong,
            Some(Cause::Device(DeviceError::Compile { .. })) => Standing::Wrong,
            Some(Cause::Device(DeviceError::Unsupported { .. })) => Standing::Refused,
            Some(Cause::Device(DeviceError::Driver {
                code: LAUNCH_OUT_OF_RESOURCES,
                ..
            })) => Standing::Refused,
            // There is no native code for every number of states on every instruction set.
            Some(Cause::Device(DeviceError::NoCode { .. })) => Standing::Refused,
            _ => return Err(error),
        };
        // Without the starting variant there is nothing to compare with: that ends the race as it would end any other command.
        if number(runner) == 0 && standing == Standing::Refused {
            return Err(error);
        }
        Ok(Finding {
            standing,
            checked: 0,
            first_bad_layer: None,
            reason: Some(error.to_string()),
        })
    }
}

enum Cause<'e> {
    Fault,
    Device(&'e DeviceError),
}

fn cause(error: &anyhow::Error) -> Option<Cause<'_>> {
    match error.downcast_ref::<FlowError>() {
        Some(FlowError::Fault(_)) => Some(Cause::Fault),
        Some(FlowError::Device(error)) => Some(Cause::Device(error)),
        None => error.downcast_ref::<DeviceError>().map(Cause::Device),
    }
}

/// The candidate that runs.
fn number(runner: Runner) -> usize {
    match runner {
        Runner::Start | Runner::Control => 0,
        Runner::Candidate(number) => number,
    }
}

impl Track for Workbench<'_> {
    type Error = anyhow::Error;

    fn spent(&self) -> Duration {
        self.sitting.spent()
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }

    fn enter(&mut self, number: usize, point: &Point) -> anyhow::Result<Option<Finding>> {
        let selected = match self.make(number, point) {
            Ok(selected) => selected,
            Err(why) => {
                return Ok(Some(Finding {
                    standing: Standing::Refused,
                    reason: Some(why.to_string()),
                    ..Finding::default()
                }));
            }
        };
        self.tell(&format!(
            "validating {} ({})",
            selected.label(),
            self.workshop.space.changes(point)
        ));
        let device = self.workshop.device_of(point);
        let plan = ValidationPlan {
            seed: self.sitting.seed,
            device: device.info().kind,
            whole_base: false,
        };
        let one = std::slice::from_ref(&selected);
        let validation = match validate(
            one,
            device,
            &plan,
            None,
            Evidence::OfRightChecks,
            &mut self.book,
            &Progress::silent(),
        ) {
            Ok(validation) => validation,
            Err(error) => return self.of_error(Runner::Candidate(number), error).map(Some),
        };
        if validation.interrupted {
            return Ok(None);
        }
        let row = validation.results.into_iter().next();
        let row = row.ok_or_else(|| Usage(format!("{} has no checks", selected.label())))?;
        if !row.ok {
            eprintln!(
                "assay: {} is wrong and is not timed: {}",
                row.variant, row.message
            );
        }
        Ok(Some(Finding {
            standing: if row.ok { Standing::Right } else { Standing::Wrong },
            checked: row.checked,
            first_bad_layer: row.first_bad_layer,
            reason: (!row.ok).then_some(row.message),
        }))
    }

    fn time(&mut self, heat: &Heat, turn: Turn, ledger: &Ledger) -> anyhow::Result<Timing> {
        self.line_up(heat, ledger)?;
        if interrupt::asked() {
            return Ok(Timing::Cut);
        }
        self.tell(&format!(
            "rung {}, round {} of {}, {} candidates",
            heat.rung,
            turn.round - heat.first_round + 1,
            heat.rounds,
            heat.members.len()
        ));
        let lane = self.lane.as_mut().map(|lane| lane.contestants.as_mut_slice());
        let runs = lane
            .unwrap_or_default()
            .iter_mut()
            .find(|(runner, _)| *runner == turn.runner);
        let Some((_, contestant)) = runs else {
            return Ok(Timing::Value(None));
        };
        let point = ledger.entries.get(number(turn.runner)).map(|entry| &entry.point);
        let device = point.map_or(self.workshop.device(), |point| self.workshop.device_of(point));
        let place = Place {
            round: turn.round,
            position: turn.position,
        };
        let timed = self
            .bench
            .time(place, contestant, device.info(), heat.length, &mut self.book);
        match timed {
            Ok(Some(row)) => Ok(Timing::Value(value(row, self.sitting.objective))),
            Ok(None) => Ok(Timing::Cut),
            Err(error) => {
                let finding = self.of_error(turn.runner, error)?;
                if let (Standing::Wrong, Some(reason)) = (finding.standing, &finding.reason) {
                    eprintln!(
                        "assay: {} is wrong: {reason}",
                        self.workshop.label(number(turn.runner))
                    );
                }
                Ok(Timing::Lost(finding))
            }
        }
    }

    fn keep(&mut self, ledger: &Ledger) -> anyhow::Result<()> {
        let rows = self.rows(ledger, false)?;
        if !self.bench.rows().is_empty() {
            self.bench.write_rows(&self.book)?;
        }
        self.book.writer().write_table(&rows)?;
        Ok(())
    }
}
