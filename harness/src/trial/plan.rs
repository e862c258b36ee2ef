//! What is timed, how often, and in which order.

use std::time::Duration;

use assay_analysis::rows::{PowerRow, RunRow, StageRow};
use assay_analysis::{Class, class};
use assay_kernels::family::name_and_size;

use super::order::order;
use crate::select::Selected;

/// What to time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRequest {
    /// Length of a trial.
    pub time: Duration,
    /// Rounds to do: each times every contestant once.
    pub rounds: u32,
    /// Longest warm-up before the first round. It ends earlier where the temperature stays.
    pub warmup: Duration,
    /// Seed of bases and order.
    pub seed: u64,
    /// Whether to sample power.
    pub power: bool,
}

/// What a record that is continued holds already; empty for a new one.
#[derive(Debug, Default)]
pub struct Earlier {
    /// Its trials.
    pub rows: Vec<RunRow>,
    /// Their stages.
    pub stages: Vec<StageRow>,
    /// Its power samples, if it has any.
    pub power: Option<Vec<PowerRow>>,
    /// Time since it was begun, s.
    pub age_s: f64,
}

impl Earlier {
    /// Rounds in which every one of `contestants` was timed.
    pub fn whole_rounds(&self, contestants: usize) -> u32 {
        let last = self.rows.iter().map(|row| row.round).max().unwrap_or(0);
        let of_last = self.rows.iter().filter(|row| row.round == last).count();
        if of_last < contestants {
            last.saturating_sub(1)
        } else {
            last
        }
    }

    /// The first base that no trial has worked on.
    pub fn next_base(&self) -> u64 {
        self.rows
            .iter()
            .filter_map(|row| row.base_last)
            .max()
            .map_or(0, |last| last + 1)
    }

    fn has(&self, round: u32, label: &str) -> bool {
        self.rows
            .iter()
            .any(|row| row.round == round && row.variant == label)
    }
}

/// One trial to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Round, from 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// Index of the contestant.
    pub contestant: usize,
}

/// The trials to come: `request.rounds` rounds after the whole ones of `earlier`, without the trials that a cut round has already.
pub fn turns(labels: &[&str], request: &TrialRequest, earlier: &Earlier) -> Vec<Turn> {
    let whole = earlier.whole_rounds(labels.len());
    (whole..whole + request.rounds)
        .flat_map(|round| {
            let places = order(labels.len(), round as usize, request.seed);
            (1..).zip(places).map(move |(position, contestant)| Turn {
                round: round + 1,
                position,
                contestant,
            })
        })
        .filter(|turn| !earlier.has(turn.round, labels[turn.contestant]))
        .collect()
}

/// The baseline of each class of those selected: the family's own at that size if it was selected, else the first that was.
pub fn baselines(selected: &[Selected]) -> Vec<Selected> {
    let labels: Vec<String> = selected.iter().map(Selected::label).collect();
    let mut classes: Vec<Class> = Vec::new();
    for label in &labels {
        if !classes.contains(&class(label)) {
            classes.push(class(label));
        }
    }
    let baseline = |of: Class| {
        let mut in_class = selected.iter().filter(|one| class(&one.label()) == of);
        let first = in_class.clone().next();
        let own = |one: &&Selected| name_and_size(one.variant.name()).0 == one.family.baseline();
        in_class.find(own).or(first).cloned()
    };
    classes.into_iter().filter_map(baseline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: [&str; 3] = ["f/a", "f/b", "f/a@aa"];

    fn request(rounds: u32) -> TrialRequest {
        TrialRequest {
            time: Duration::from_secs(1),
            rounds,
            warmup: Duration::ZERO,
            seed: 5,
            power: false,
        }
    }

    fn done(turns: &[Turn]) -> Earlier {
        let rows = turns.iter().map(|turn| RunRow {
            round: turn.round,
            variant: LABELS[turn.contestant].to_owned(),
            base_last: Some(u64::from(turn.position) * 10),
            ..RunRow::default()
        });
        Earlier {
            rows: rows.collect(),
            ..Earlier::default()
        }
    }

    #[test]
    fn a_record_continued_round_by_round_has_the_turns_of_one_that_was_not_stopped() {
        let whole = turns(&LABELS, &request(4), &Earlier::default());
        assert_eq!(whole.len(), 12);
        for cut in 0..=12 {
            let (first, rest) = whole.split_at(cut);
            let earlier = done(first);
            let rounds = 4 - earlier.whole_rounds(LABELS.len());
            assert_eq!(
                turns(&LABELS, &request(rounds), &earlier),
                rest,
                "cut after {cut}"
            );
        }
    }

    #[test]
    fn no_base_is_worked_on_twice() {
        assert_eq!(Earlier::default().next_base(), 0);
        let turns = turns(&LABELS, &request(1), &Earlier::default());
        assert_eq!(done(&turns).next_base(), 31);
    }
}
