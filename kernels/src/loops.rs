//! How the loops of a kernel relate to its units: what an account of the machine code needs to know.
//!
//! A compiler rotates, peels and unrolls loops, so a family does not say what the machine code looks like. It says what
//! is being iterated: how often each level of its nest runs, and which machine instructions mark a unit. The account
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
        LoopLevel {
            name,
            trips: vec![Trips { count, weight: 1.0 }],
        }
    }

    /// Mean number of iterations.
    pub fn mean(&self) -> f64 {
        let weight: f64 = self.trips.iter().map(|trips| trips.weight).sum();
        self.trips
            .iter()
            .map(|trips| f64::from(trips.count) * trips.weight)
            .sum::<f64>()
            / weight
    }
}

/// The machine instructions by which a unit is recognised: such that a compiler can neither merge nor split them.
/// Rotations do; logic does not, which becomes one instruction or two.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitMark {
    /// Opcodes, without the modifiers that follow: `LEA.HI` and `SHF` are a rotation with and without an add.
    pub opcodes: &'static [&'static str],
    /// How many of them a unit has, give or take 15 %.
    pub per_unit: f64,
}

impl UnitMark {
    /// Rotations, on every architecture since sm_70.
    pub fn rotations(per_unit: u32) -> UnitMark {
        UnitMark {
            opcodes: &["LEA.HI", "SHF"],
            per_unit: f64::from(per_unit),
        }
    }

    /// Whether an instruction with this opcode is one.
    pub fn is(&self, opcode: &str) -> bool {
        let matches = |mark: &str| {
            opcode
                .strip_prefix(mark)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.opcodes.iter().any(|mark| matches(mark))
    }
}

/// The nest of a thread: the last level's iterations are the units.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopPlan {
    /// What marks a unit.
    pub mark: UnitMark,
    /// The levels, outermost first; at least one.
    pub levels: Vec<LoopLevel>,
}

impl LoopPlan {
    /// Mean number of units of a thread.
    pub fn units_per_thread(&self) -> f64 {
        self.levels.iter().map(LoopLevel::mean).product()
    }
}
