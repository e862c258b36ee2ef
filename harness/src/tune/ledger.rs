//! What is known of a race: the candidates, the heats they ran in, and every trial. Everything else follows from it.

use std::time::Duration;

use assay_analysis::rows::Standing;

use super::space::Point;
use crate::trial::order;

/// A candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where it lies in the space.
    pub point: Point,
    /// What the checks said.
    pub finding: Finding,
}

/// What the checks said of a candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// Whether it may be timed.
    pub standing: Standing,
    /// Values compared.
    pub checked: u64,
    /// The first layer that differs.
    pub first_bad_layer: Option<String>,
    /// What differs, or why it was refused.
    pub reason: Option<String>,
}

/// Who is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// The starting variant, which the others are held against.
    Start,
    /// The starting variant once more: what it shows is noise.
    Control,
    /// A candidate by its number.
    Candidate(usize),
}

/// Candidates that are timed together, in rounds with the starting variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Rung, from 0. Only rung 0 has more than one heat.
    pub rung: u32,
    /// Length of a trial.
    pub length: Duration,
    /// Number of its first round.
    pub first_round: u32,
    /// Its rounds.
    pub rounds: u32,
    /// Numbers of its candidates, ascending.
    pub members: Vec<usize>,
    /// Whether it decides the race: the control runs in it.
    pub last: bool,
}

impl Heat {
    /// Everyone in it.
    pub fn runners(&self) -> Vec<Runner> {
        let mut runners = vec![Runner::Start];
        runners.extend(self.last.then_some(Runner::Control));
        runners.extend(self.members.iter().copied().map(Runner::Candidate));
        runners
    }

    /// The rounds' numbers.
    pub fn span(&self) -> std::ops::Range<u32> {
        self.first_round..self.first_round + self.rounds
    }
}

/// One trial that was run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lap {
    /// Its round.
    pub round: u32,
    /// Who ran.
    pub runner: Runner,
    /// What is to be as large as possible; `None` for a trial that does not count.
    pub value: Option<f64>,
}

/// One trial to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Its round.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// Who runs.
    pub runner: Runner,
}

/// What is known of a race.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// The candidates by number; number 0 is the starting variant.
    pub entries: Vec<Entry>,
    /// The heats in the order of time.
    pub heats: Vec<Heat>,
    /// The trials in the order of time.
    pub laps: Vec<Lap>,
    /// Whether no new candidate can be made.
    pub exhausted: bool,
}

impl Ledger {
    /// The rung that was reached.
    pub fn rung(&self) -> Option<u32> {
        self.heats.last().map(|heat| heat.rung)
    }

    /// The heats of a rung.
    pub fn heats_of(&self, rung: u32) -> impl Iterator<Item = &Heat> {
        self.heats.iter().filter(move |heat| heat.rung == rung)
    }

    fn is_right(&self, number: usize) -> bool {
        let entry = self.entries.get(number);
        entry.is_some_and(|entry| entry.finding.standing == Standing::Right)
    }

    /// Candidates that may be timed and were not yet.
    pub fn waiting(&self) -> Vec<usize> {
        let seen = |number: &usize| self.heats.iter().any(|heat| heat.members.contains(number));
        (1..self.entries.len())
            .filter(|number| self.is_right(*number) && !seen(number))
            .collect()
    }

    /// The number of the next round.
    pub fn next_round(&self) -> u32 {
        self.heats.last().map_or(1, |heat| heat.span().end)
    }

    fn lap(&self, round: u32, runner: Runner) -> Option<&Lap> {
        self.laps
            .iter()
            .find(|lap| lap.round == round && lap.runner == runner)
    }

    /// The next trial of the last heat, if that is not over. The order rotates from round to round, so that drift falls on all alike.
    pub fn outstanding(&self, seed: u64) -> Option<Turn> {
        let heat = self.heats.last()?;
        let runners = heat.runners();
        let turns = heat.span().flat_map(|round| {
            let places = order(
                runners.len(),
                (round - heat.first_round) as usize,
                seed ^ u64::from(heat.first_round),
            );
            let runners = &runners;
            (1..).zip(places).map(move |(position, place)| Turn {
                round,
                position,
                runner: runners[place],
            })
        });
        let runs = |runner| match runner {
            Runner::Candidate(number) => self.is_right(number),
            Runner::Start | Runner::Control => true,
        };
        turns
            .into_iter()
            .find(|turn| runs(turn.runner) && self.lap(turn.round, turn.runner).is_none())
    }

    /// A candidate's mean over the rounds of a rung of its value over the starting variant's in the same round.
    pub fn ratio(&self, number: usize, rung: u32) -> Option<f64> {
        let heats = self.heats_of(rung).filter(|heat| heat.members.contains(&number));
        let ratios: Vec<f64> = heats
            .flat_map(Heat::span)
            .filter_map(|round| {
                let own = self.lap(round, Runner::Candidate(number))?.value?;
                let start = self.lap(round, Runner::Start)?.value?;
                (start > 0.0).then_some(own / start)
            })
            .collect();
        (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
    }

    /// A candidate's ratio in the last rung that has one.
    pub fn last_ratio(&self, number: usize) -> Option<f64> {
        let rung = self.rung()?;
        (0..=rung).rev().find_map(|rung| self.ratio(number, rung))
    }

    /// The candidates of a rung that have a ratio, the best first; of equal ones the one that was made first.
    pub fn ranking(&self, rung: u32) -> Vec<(usize, f64)> {
        let members = self.heats_of(rung).flat_map(|heat| heat.members.iter().copied());
        let mut ranked: Vec<(usize, f64)> = members
            .filter(|number| self.is_right(*number))
            .filter_map(|number| Some((number, self.ratio(number, rung)?)))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }

    /// Whether a rung says who is best: every heat of a later rung, or any of the first, was timed for a whole round.
    fn tells(&self, rung: u32) -> bool {
        let whole = |heat: &Heat| {
            heat.runners().into_iter().all(|runner| match runner {
                Runner::Candidate(number) if !self.is_right(number) => true,
                _ => self.lap(heat.first_round, runner).is_some(),
            })
        };
        !self.ranking(rung).is_empty() && (rung == 0 || self.heats_of(rung).all(whole))
    }

    /// The last rung that says who is best.
    pub fn telling_rung(&self) -> Option<u32> {
        (0..=self.rung()?).rev().find(|rung| self.tells(*rung))
    }

    /// The best candidate: the first of the last rung that says so, unless the starting variant is as good; then that, number 0.
    pub fn winner(&self) -> usize {
        let first = self
            .telling_rung()
            .and_then(|rung| self.ranking(rung).first().copied());
        match first {
            Some((number, ratio)) if ratio > 1.0 => number,
            _ => 0,
        }
    }

    /// Whether the deciding heat was run to its end.
    pub fn decided(&self, seed: u64) -> bool {
        self.heats.last().is_some_and(|heat| heat.last) && self.outstanding(seed).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(values: &[Option<f64>]) -> Ledger {
        let entry = |number| Entry {
            point: Point(vec![number]),
            finding: Finding::default(),
        };
        let lap = |runner, value| Lap {
            round: 1,
            runner,
            value,
        };
        let candidates = (1..)
            .zip(values)
            .map(|(number, value)| lap(Runner::Candidate(number), *value));
        Ledger {
            entries: (0..=values.len()).map(entry).collect(),
            heats: vec![Heat {
                rung: 0,
                length: Duration::from_secs(1),
                first_round: 1,
                rounds: 1,
                members: (1..=values.len()).collect(),
                last: false,
            }],
            laps: [lap(Runner::Start, Some(2.0))]
                .into_iter()
                .chain(candidates)
                .collect(),
            exhausted: false,
        }
    }

    #[test]
    fn of_equal_candidates_the_one_that_was_made_first_is_better() {
        let ledger = ledger(&[Some(3.0), Some(4.0), Some(4.0), Some(1.0)]);
        let numbers: Vec<usize> = ledger.ranking(0).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [2, 3, 1, 4]);
        assert_eq!(ledger.winner(), 2);
    }

    #[test]
    fn the_starting_variant_wins_a_tie_and_where_nothing_is_better() {
        assert_eq!(ledger(&[Some(2.0), Some(1.0)]).winner(), 0);
        assert_eq!(ledger(&[]).winner(), 0);
        assert_eq!(Ledger::default().winner(), 0);
    }

    #[test]
    fn trials_that_do_not_count_and_wrong_candidates_are_not_ranked() {
        let mut ledger = ledger(&[None, Some(9.0), Some(3.0)]);
        ledger.entries[2].finding.standing = Standing::Wrong;
        assert_eq!(ledger.ranking(0), [(3, 1.5)]);
        assert_eq!(ledger.winner(), 3);
        ledger.laps[0].value = None;
        assert_eq!(ledger.ranking(0), []);
    }
}
