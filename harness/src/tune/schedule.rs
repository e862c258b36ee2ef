//! How the time is spent: lengths of trials, rounds, and what of the time the first rung may take.

use std::time::Duration;

use assay_analysis::{EDGES_MIN_S, LEAD_S, Objective};

/// Candidates of one heat of the first rung. They are timed with the starting variant in every round, which costs a ninth.
const GROUP: usize = 8;

/// Candidates of the last rung.
const FINALISTS: usize = 2;

/// Share of the time after which no new candidate is made.
const ENTERING: f64 = 0.5;

/// Share of the time that is left for trials; building and writing take some as well.
const TRIALS: f64 = 0.9;

/// The shortest trial's share of the time, and its bounds.
const SHORTEST_SHARE: f64 = 1.0 / 200.0;
const SHORTEST_S: (f64, f64) = (0.2, 2.0);

/// The longest trial of a race for the rate: longer ones tell no more.
const LONGEST_S: f64 = 60.0;

/// The shortest trial with an energy: the lead, the edges, and as much again as a slow counter may take.
const ENERGY_S: f64 = LEAD_S + EDGES_MIN_S + 1.5;

/// The least time for a race for energy: one candidate and the starting variant, twice.
const ENERGY_BUDGET: Duration = Duration::from_secs(60);

/// How the time is spent.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// All of it.
    pub budget: Duration,
    /// New candidates are made until so much of it is spent.
    pub entering: Duration,
    /// The shortest trial: that of the first rung.
    pub shortest: Duration,
    /// The longest one.
    pub longest: Duration,
    /// Candidates of one heat of the first rung.
    pub group: usize,
    /// Candidates of the last rung, at most.
    pub finalists: usize,
    /// Rounds of the first rung.
    pub first_rounds: u32,
    /// Rounds of the later ones.
    pub rounds: u32,
    /// Rounds of the last one.
    pub last_rounds: u32,
}

impl Schedule {
    /// The schedule of a race.
    ///
    /// # Errors
    /// When `budget` is too short for a single comparison.
    pub fn of(objective: Objective, budget: Duration) -> Result<Schedule, String> {
        let common = Schedule {
            budget,
            entering: budget.mul_f64(ENTERING),
            shortest: Duration::from_secs_f64(ENERGY_S),
            longest: Duration::from_secs_f64(LONGEST_S),
            group: GROUP,
            finalists: FINALISTS,
            first_rounds: 2,
            rounds: 3,
            last_rounds: 5,
        };
        match objective {
            Objective::Rate => {
                let (least, most) = SHORTEST_S;
                let shortest = (budget.as_secs_f64() * SHORTEST_SHARE).clamp(least, most);
                Ok(Schedule {
                    shortest: Duration::from_secs_f64(shortest),
                    ..common
                })
            }
            Objective::Energy if budget < ENERGY_BUDGET => Err(format!(
                "an energy needs trials of {ENERGY_S} s, so --objective energy needs at least {} s",
                ENERGY_BUDGET.as_secs()
            )),
            // A trial of that length scatters little, and two rounds of it cost more than another candidate tells.
            Objective::Energy => Ok(Schedule {
                first_rounds: 1,
                rounds: 2,
                last_rounds: 3,
                ..common
            }),
        }
    }

    /// Rungs from one with `field` candidates to the last.
    fn rungs_from(&self, field: usize) -> u32 {
        if field <= self.finalists.max(1) {
            1
        } else {
            1 + self.rungs_from(field.div_ceil(2))
        }
    }

    /// Whether a rung of `field` candidates is the last.
    pub fn is_last(&self, field: usize) -> bool {
        field <= self.finalists.max(1)
    }

    /// Rounds of a later rung of `field` candidates.
    pub fn rounds_of(&self, field: usize) -> u32 {
        if self.is_last(field) {
            self.last_rounds
        } else {
            self.rounds
        }
    }

    /// The starting variant runs beside a rung's candidates, in the last one twice.
    fn runners(&self, field: usize) -> usize {
        field + 1 + usize::from(self.is_last(field))
    }

    /// What the race costs at least from a rung of `field` candidates on.
    fn least(&self, field: usize) -> Duration {
        let trials = self.runners(field) as f64 * f64::from(self.rounds_of(field));
        let rung = self.shortest.mul_f64(trials);
        if self.is_last(field) {
            rung
        } else {
            rung + self.least(field.div_ceil(2))
        }
    }

    /// How many of `ranked` candidates go on: the better half, or as many as can still be raced to the end in `left`.
    pub fn keep(&self, ranked: usize, left: Duration) -> usize {
        let half = ranked.div_ceil(2);
        let affordable = (1..=half)
            .rev()
            .find(|field| self.least(*field) <= left.mul_f64(TRIALS));
        affordable.unwrap_or(1)
    }

    /// Length of a trial of a later rung of `field` candidates: the rungs to come share what is `left` alike.
    pub fn length(&self, field: usize, left: Duration) -> Duration {
        let trials =
            self.runners(field) as f64 * f64::from(self.rounds_of(field)) * f64::from(self.rungs_from(field));
        Duration::from_secs_f64(TRIALS * left.as_secs_f64() / trials)
            .clamp(self.shortest, self.longest.max(self.shortest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(seconds: u64) -> Schedule {
        Schedule::of(Objective::Rate, Duration::from_secs(seconds)).unwrap()
    }

    #[test]
    fn the_rungs_to_come_fit_into_what_is_left() {
        let schedule = rate(600);
        for ranked in 1..200 {
            let mut left = Duration::from_secs(300);
            let mut field = schedule.keep(ranked, left);
            loop {
                let runners = field as u32 + 1 + u32::from(schedule.is_last(field));
                let cost = schedule.length(field, left) * runners * schedule.rounds_of(field);
                assert!(
                    cost <= left + Duration::from_millis(1),
                    "{ranked}: {field} cost {cost:?} of {left:?}"
                );
                left = left.saturating_sub(cost);
                if schedule.is_last(field) {
                    break;
                }
                field = schedule.keep(field, left);
            }
        }
    }

    #[test]
    fn fewer_are_kept_where_time_is_short_but_always_one() {
        let schedule = rate(10);
        assert_eq!(schedule.keep(9, Duration::from_secs(100)), 5);
        // Two rungs, 5 * 3 and 3 * 5 trials of 0.2 s and more, fit into 8 s; a third one does not.
        assert_eq!(schedule.keep(100, Duration::from_secs(8)), 4);
        assert_eq!(schedule.keep(100, Duration::ZERO), 1);
        assert_eq!(schedule.keep(1, Duration::ZERO), 1);
        assert_eq!(schedule.length(1, Duration::ZERO), schedule.shortest);
    }

    #[test]
    fn energies_need_long_trials_and_a_minute() {
        let refused = Schedule::of(Objective::Energy, Duration::from_secs(59)).unwrap_err();
        assert!(refused.contains("60 s"), "{refused}");
        let schedule = Schedule::of(Objective::Energy, Duration::from_secs(60)).unwrap();
        assert!(schedule.shortest > Duration::from_secs(8));
        assert!(
            rate(3600).shortest <= Duration::from_secs(2) && rate(1).shortest >= Duration::from_millis(200)
        );
    }
}
