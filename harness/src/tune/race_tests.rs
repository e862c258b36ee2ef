//! Races on a track with a clock of its own.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use assay_analysis::Objective;
use assay_analysis::rows::Standing;

use super::ledger::{Finding, Heat, Ledger, Runner, Turn};
use super::race::{End, Timing, Track, race};
use super::schedule::Schedule;
use super::space::Point;

const SEED: u64 = 11;
const CHECKING: Duration = Duration::from_millis(700);

/// A world in which candidates are as good as a function says.
struct Fake<'f> {
    clock: Duration,
    value: &'f dyn Fn(&Point) -> f64,
    standing: &'f dyn Fn(&Point) -> Standing,
    points: Vec<Point>,
    timed: BTreeSet<usize>,
    /// Interrupts after so many steps.
    steps_left: Option<usize>,
    rounds_kept: usize,
}

impl<'f> Fake<'f> {
    fn new(value: &'f dyn Fn(&Point) -> f64, standing: &'f dyn Fn(&Point) -> Standing) -> Fake<'f> {
        Fake {
            clock: Duration::ZERO,
            value,
            standing,
            points: Vec::new(),
            timed: BTreeSet::new(),
            steps_left: None,
            rounds_kept: 0,
        }
    }

    fn step(&mut self) {
        if let Some(left) = &mut self.steps_left {
            *left = left.saturating_sub(1);
        }
    }
}

impl Track for Fake<'_> {
    type Error = Infallible;

    fn spent(&self) -> Duration {
        self.clock
    }

    fn interrupted(&self) -> bool {
        self.steps_left == Some(0)
    }

    fn enter(&mut self, number: usize, point: &Point) -> Result<Option<Finding>, Infallible> {
        self.step();
        let standing = (self.standing)(point);
        if standing != Standing::Refused {
            self.clock += CHECKING;
        }
        self.points.truncate(number);
        self.points.push(point.clone());
        Ok(Some(Finding {
            standing,
            checked: u64::from(standing != Standing::Refused),
            ..Finding::default()
        }))
    }

    fn time(&mut self, heat: &Heat, turn: Turn, ledger: &Ledger) -> Result<Timing, Infallible> {
        self.step();
        self.clock += heat.length;
        let number = match turn.runner {
            Runner::Candidate(number) => number,
            Runner::Start | Runner::Control => 0,
        };
        self.timed.insert(number);
        // Everything drifts: only ratios of a round can be compared.
        let drift = 1.0 + f64::from(turn.round) / 10.0;
        Ok(Timing::Value(Some(
            drift * (self.value)(&ledger.entries[number].point),
        )))
    }

    fn keep(&mut self, _: &Ledger) -> Result<(), Infallible> {
        self.rounds_kept += 1;
        Ok(())
    }
}

fn schedule(seconds: u64) -> Schedule {
    Schedule::of(Objective::Rate, Duration::from_secs(seconds)).unwrap()
}

/// Dials add up; the last choice of each is the best.
fn sum(point: &Point) -> f64 {
    10.0 + point.0.iter().sum::<usize>() as f64
}

fn all_right(_: &Point) -> Standing {
    Standing::Right
}

fn run(ledger: &mut Ledger, fake: &mut Fake, seconds: u64, shape: &[usize]) -> End {
    let Ok(end) = race(ledger, &schedule(seconds), shape, SEED, fake);
    end
}

#[test]
fn the_best_of_a_small_space_wins() {
    let mut ledger = Ledger::default();
    let mut fake = Fake::new(&sum, &all_right);
    assert_eq!(run(&mut ledger, &mut fake, 300, &[3, 3, 3]), End::Decided);
    assert_eq!(ledger.entries.len(), 27);
    assert_eq!(ledger.entries[ledger.winner()].point, Point(vec![2, 2, 2]));
    // Each rung keeps the better half: 26, 13, 7, 4, 2.
    let fields: Vec<usize> = (0..=ledger.rung().unwrap())
        .map(|rung| ledger.heats_of(rung).map(|heat| heat.members.len()).sum())
        .collect();
    assert_eq!(fields, [26, 13, 7, 4, 2]);
    assert!(fake.clock <= Duration::from_secs(300));
    assert!(ledger.heats.last().unwrap().runners().contains(&Runner::Control));
}

#[test]
fn the_same_race_is_run_twice_alike() {
    let once = || {
        let mut ledger = Ledger::default();
        run(&mut ledger, &mut Fake::new(&sum, &all_right), 60, &[6, 6, 6, 6]);
        ledger
    };
    assert_eq!(once(), once());
}

#[test]
fn where_all_are_equal_the_starting_variant_stays() {
    let mut ledger = Ledger::default();
    let even = |_: &Point| 5.0;
    assert_eq!(
        run(&mut ledger, &mut Fake::new(&even, &all_right), 300, &[3, 3]),
        End::Decided
    );
    assert_eq!(ledger.winner(), 0);
}

#[test]
fn a_single_candidate_runs_against_the_starting_variant() {
    let mut ledger = Ledger::default();
    assert_eq!(
        run(&mut ledger, &mut Fake::new(&sum, &all_right), 60, &[2]),
        End::Decided
    );
    assert_eq!((ledger.entries.len(), ledger.winner()), (2, 1));
    assert_eq!(ledger.rung(), Some(1));
}

#[test]
fn a_space_of_nothing_but_the_starting_variant_ends_at_once() {
    let mut ledger = Ledger::default();
    assert_eq!(
        run(&mut ledger, &mut Fake::new(&sum, &all_right), 60, &[]),
        End::Alone
    );
    assert_eq!(ledger.winner(), 0);
}

#[test]
fn the_budget_ends_it_wherever_it_stands_and_the_current_step_is_finished() {
    let longest_step = |ledger: &Ledger| {
        let lengths = ledger.heats.iter().map(|heat| heat.length);
        lengths.chain([CHECKING]).max().unwrap()
    };
    for milliseconds in (0..40_000).step_by(130) {
        let mut ledger = Ledger::default();
        let mut fake = Fake::new(&sum, &all_right);
        let budget = Duration::from_millis(milliseconds);
        let plan = Schedule {
            budget,
            ..schedule(20)
        };
        let Ok(end) = race(&mut ledger, &plan, &[4, 4, 4], SEED, &mut fake);
        assert!(
            matches!(end, End::OutOfTime | End::Decided),
            "{budget:?}: {end:?}"
        );
        assert!(
            fake.clock <= budget + longest_step(&ledger),
            "{budget:?}: {:?}",
            fake.clock
        );
        let winner = ledger.winner();
        if ledger.telling_rung().is_none() {
            assert_eq!(winner, 0, "{budget:?}");
        } else {
            assert!(ledger.last_ratio(winner).is_some() || winner == 0, "{budget:?}");
        }
    }
}

#[test]
fn a_race_that_is_stopped_anywhere_and_continued_is_the_one_that_was_not() {
    let shape = [3, 4];
    let mut whole = Ledger::default();
    run(&mut whole, &mut Fake::new(&sum, &all_right), 100, &shape);
    for steps in 1.. {
        let mut ledger = Ledger::default();
        let mut fake = Fake::new(&sum, &all_right);
        fake.steps_left = Some(steps);
        let end = run(&mut ledger, &mut fake, 100, &shape);
        if end != End::Interrupted {
            break;
        }
        fake.steps_left = None;
        ledger.exhausted = false; // A record does not keep that: it is found out again, if it matters still.
        assert_eq!(run(&mut ledger, &mut fake, 100, &shape), End::Decided);
        ledger.exhausted = whole.exhausted;
        assert!(ledger == whole, "stopped after {steps} steps");
    }
}

#[test]
fn wrong_and_refused_candidates_are_never_timed() {
    let standing = |point: &Point| match point.0[0] {
        1 => Standing::Wrong,
        2 => Standing::Refused,
        _ => Standing::Right,
    };
    let mut ledger = Ledger::default();
    let mut fake = Fake::new(&sum, &standing);
    assert_eq!(run(&mut ledger, &mut fake, 300, &[4, 4]), End::Decided);
    assert_eq!(ledger.entries.len(), 16, "each is counted");
    for (number, entry) in ledger.entries.iter().enumerate() {
        let right = entry.finding.standing == Standing::Right;
        assert_eq!(fake.timed.contains(&number), right, "{entry:?}");
    }
    assert_eq!(ledger.entries[ledger.winner()].point, Point(vec![3, 3]));
}

#[test]
fn a_space_in_which_nearly_all_is_refused_does_not_take_for_ever() {
    let standing = |point: &Point| {
        if point.0.iter().all(|choice| *choice == 0) || point.0 == [1, 0, 0, 0, 0] {
            Standing::Right
        } else {
            Standing::Refused
        }
    };
    let mut ledger = Ledger::default();
    assert_eq!(
        run(&mut ledger, &mut Fake::new(&sum, &standing), 300, &[9; 5]),
        End::Decided
    );
    assert!(ledger.entries.len() < 250, "{}", ledger.entries.len());
    assert_eq!(ledger.entries[ledger.winner()].point, Point(vec![1, 0, 0, 0, 0]));
}

#[test]
fn a_wrong_starting_variant_ends_it_before_anything_is_timed() {
    let mut ledger = Ledger::default();
    let standing = |_: &Point| Standing::Wrong;
    let mut fake = Fake::new(&sum, &standing);
    assert_eq!(run(&mut ledger, &mut fake, 60, &[3]), End::BadStart);
    assert!(fake.timed.is_empty());
}

#[test]
fn a_candidate_that_is_lost_on_the_track_is_out_of_the_race() {
    struct Losing<'f>(Fake<'f>);
    impl Track for Losing<'_> {
        type Error = Infallible;
        fn spent(&self) -> Duration {
            self.0.spent()
        }
        fn interrupted(&self) -> bool {
            false
        }
        fn enter(&mut self, number: usize, point: &Point) -> Result<Option<Finding>, Infallible> {
            self.0.enter(number, point)
        }
        fn time(&mut self, heat: &Heat, turn: Turn, ledger: &Ledger) -> Result<Timing, Infallible> {
            if let Runner::Candidate(number) = turn.runner
                && ledger.entries[number].point == Point(vec![2, 2])
            {
                return Ok(Timing::Lost(Finding {
                    standing: Standing::Wrong,
                    ..Finding::default()
                }));
            }
            self.0.time(heat, turn, ledger)
        }
        fn keep(&mut self, ledger: &Ledger) -> Result<(), Infallible> {
            self.0.keep(ledger)
        }
    }
    let mut ledger = Ledger::default();
    let mut track = Losing(Fake::new(&sum, &all_right));
    let Ok(end) = race(&mut ledger, &schedule(300), &[3, 3], SEED, &mut track);
    assert_eq!(end, End::Decided);
    assert_ne!(ledger.entries[ledger.winner()].point, Point(vec![2, 2]));
    assert_eq!(sum(&ledger.entries[ledger.winner()].point), 13.0);
}
