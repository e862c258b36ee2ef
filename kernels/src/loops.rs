//! How the loops of a kernel relate to its units: what an account of the machine code needs to know.
//!
//! A compiler rotates, peels and unrolls loops, so a family does not say what the machine code looks like. It says what
//! is being iterated: how often each level of its nest runs, and how many logic instructions a unit costs. The account
//! finds by the latter how many units one pass of a machine loop computes.

/// How often a level runs when it is entered, with the weight of that case among all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trips {
    /// Number of iterations; zero is allowed.
    pub count: u32,
    /// Weight; they need not sum to one.
    pub weight: f64,
}

/// One level of the nest.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopLevel {
    /// Name for messages: `orbit`.
    pub name: &'static str,
    /// Its iterations, case by case.
    pub trips: Vec<Trips>,
}

impl LoopLevel {
    /// A level that always runs `count` times.
    pub fn times(name: &'static str, count: u32) -> LoopLevel {
        LoopLevel { name, trips: vec![Trips { count, weight: 1.0 }] }
    }

    /// Mean number of iterations.
    pub fn mean(&self) -> f64 {
        let weight: f64 = self.trips.iter().map(|trips| trips.weight).sum();
        self.trips.iter().map(|trips| f64::from(trips.count) * trips.weight).sum::<f64>() / weight
    }
}

/// The nest of a thread: the last level's iterations are the units.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopPlan {
    /// Logic instructions (`LOP3`) of one unit, give or take 15 %.
    pub logic_per_unit: f64,
    /// The levels, outermost first; at least one.
    pub levels: Vec<LoopLevel>,
}

impl LoopPlan {
    /// Mean number of units of a thread.
    pub fn units_per_thread(&self) -> f64 {
        self.levels.iter().map(LoopLevel::mean).product()
    }
}
