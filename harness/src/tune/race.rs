//! The race: successive halving. What comes next follows from the ledger, the schedule and the time that is left.

use std::time::Duration;

use assay_analysis::rows::Standing;

use super::ledger::{Entry, Finding, Heat, Lap, Ledger, Runner, Turn};
use super::propose::{Tried, propose};
use super::schedule::Schedule;
use super::space::Point;

/// Refusals in a row after which the rest of the space is taken for refused.
const REFUSALS: usize = 100;

/// What a race needs of the world.
pub trait Track {
    /// What ends it early.
    type Error;
    /// Time used so far, that of earlier sittings included.
    fn spent(&self) -> Duration;
    /// Whether an end was asked for.
    fn interrupted(&self) -> bool;
    /// Make candidate `number` and check it; `None` when that was interrupted.
    fn enter(&mut self, number: usize, point: &Point) -> Result<Option<Finding>, Self::Error>;
    /// Run one trial.
    fn time(&mut self, heat: &Heat, turn: Turn, ledger: &Ledger) -> Result<Timing, Self::Error>;
    /// Write down what is known.
    fn keep(&mut self, ledger: &Ledger) -> Result<(), Self::Error>;
}

/// What a trial came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// It was run; `None` if it does not count.
    Value(Option<f64>),
    /// It was cut short.
    Cut,
    /// The candidate is wrong after all, or cannot run.
    Lost(Finding),
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Make a candidate.
    Enter,
    /// Begin a heat.
    Open(Heat),
    /// Run a trial.
    Time(Turn),
    /// Nothing.
    End(End),
}

/// How a race ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The last rung was run.
    Decided,
    /// The time was over before.
    OutOfTime,
    /// There is no candidate with a trial that counts.
    Alone,
    /// The starting variant itself is not right.
    BadStart,
    /// It was interrupted.
    Interrupted,
}

/// What comes next, `spent` of the time being over.
pub fn next(ledger: &Ledger, schedule: &Schedule, seed: u64, spent: Duration) -> Step {
    match ledger.entries.first() {
        None => return Step::Enter,
        Some(start) if start.finding.standing != Standing::Right => return Step::End(End::BadStart),
        Some(_) => {}
    }
    if ledger.decided(seed) {
        return Step::End(End::Decided);
    }
    let left = schedule.budget.saturating_sub(spent);
    if left.is_zero() {
        return Step::End(End::OutOfTime);
    }
    if let Some(turn) = ledger.outstanding(seed) {
        return Step::Time(turn);
    }
    let rung = ledger.rung().unwrap_or(0);
    let first_round = ledger.next_round();
    if rung == 0 {
        let members = ledger.waiting();
        let entering = !ledger.exhausted && spent < schedule.entering;
        if entering && members.len() < schedule.group {
            return Step::Enter;
        }
        if !members.is_empty() {
            return Step::Open(Heat {
                rung,
                length: schedule.shortest,
                first_round,
                rounds: schedule.first_rounds,
                members,
                last: false,
            });
        }
    }
    let ranked = ledger.ranking(rung);
    if ranked.is_empty() {
        return Step::End(End::Alone);
    }
    let kept = schedule.keep(ranked.len(), left);
    let mut members: Vec<usize> = ranked[..kept].iter().map(|(number, _)| *number).collect();
    members.sort_unstable();
    Step::Open(Heat {
        rung: rung + 1,
        length: schedule.length(kept, left),
        first_round,
        rounds: schedule.rounds_of(kept),
        members,
        last: schedule.is_last(kept),
    })
}

/// Run the race on from where `ledger` stands. `shape` is that of the space.
///
/// # Errors
/// Those of the track.
pub fn race<T: Track>(
    ledger: &mut Ledger,
    schedule: &Schedule,
    shape: &[usize],
    seed: u64,
    track: &mut T,
) -> Result<End, T::Error> {
    loop {
        if track.interrupted() {
            track.keep(ledger)?;
            return Ok(End::Interrupted);
        }
        match next(ledger, schedule, seed, track.spent()) {
            Step::Enter => enter(ledger, shape, seed, track)?,
            Step::Open(heat) => {
                ledger.heats.push(heat);
                track.keep(ledger)?;
            }
            Step::Time(turn) => {
                let Some(heat) = ledger.heats.last().cloned() else {
                    continue;
                };
                match track.time(&heat, turn, ledger)? {
                    Timing::Value(value) => ledger.laps.push(Lap {
                        round: turn.round,
                        runner: turn.runner,
                        value,
                    }),
                    Timing::Cut => {}
                    Timing::Lost(finding) => lose(ledger, turn, finding),
                }
                // A round is worth writing down, a trial of a fifth of a second is not.
                if ledger
                    .outstanding(seed)
                    .is_none_or(|next| next.round != turn.round)
                {
                    track.keep(ledger)?;
                }
            }
            Step::End(end) => {
                track.keep(ledger)?;
                return Ok(end);
            }
        }
    }
}

/// Make one candidate, or find that there is none left.
fn enter<T: Track>(ledger: &mut Ledger, shape: &[usize], seed: u64, track: &mut T) -> Result<(), T::Error> {
    let refused = |entry: &&Entry| entry.finding.standing == Standing::Refused;
    let refusals = ledger.entries.iter().rev().take_while(refused).count();
    let tried: Vec<Tried> = (0..)
        .zip(&ledger.entries)
        .map(|(number, entry)| Tried {
            point: &entry.point,
            ratio: ledger.last_ratio(number),
        })
        .collect();
    let proposal = propose(shape, &tried, seed).filter(|_| refusals < REFUSALS);
    let Some(point) = proposal else {
        ledger.exhausted = true;
        return Ok(());
    };
    if let Some(finding) = track.enter(ledger.entries.len(), &point)? {
        ledger.entries.push(Entry { point, finding });
    }
    Ok(())
}

/// A runner that was lost while it was timed is out of the race, and with it, if it is the starting variant, the race.
fn lose(ledger: &mut Ledger, turn: Turn, finding: Finding) {
    let number = match turn.runner {
        Runner::Candidate(number) => number,
        Runner::Start | Runner::Control => 0,
    };
    if let Some(entry) = ledger.entries.get_mut(number) {
        entry.finding = Finding {
            checked: entry.finding.checked,
            ..finding
        };
    }
}
