//! What there is to say about a trial, and whether it then counts.

use std::fmt;

use crate::ThrottleSet;

/// Something that a reader of a trial has to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Power was sampled in this run, but not once in this trial.
    NoSamples,
    /// No whole sample for too long.
    Silence {
        /// The longest time without one, s.
        seconds: f64,
    },
    /// The energy counter stood still under load.
    Frozen {
        /// The longest time without an edge, s.
        seconds: f64,
    },
    /// The energy counter went back.
    Backwards,
    /// Heat or hardware slowed the clocks down.
    Slowdown(ThrottleSet),
    /// Clocks were held back in a legitimate way, such as by the power limit.
    Held(ThrottleSet),
    /// Counter and integral differ.
    Gap {
        /// integral / counter - 1.
        fraction: f64,
    },
    /// So few or so many hits that chance does not explain them.
    Hits {
        /// Hits found.
        found: u64,
        /// Hits expected.
        expected: f64,
    },
}

impl Finding {
    /// Whether the trial does not count because of it.
    pub fn invalidates(&self) -> bool {
        match self {
            Finding::NoSamples
            | Finding::Silence { .. }
            | Finding::Frozen { .. }
            | Finding::Backwards
            | Finding::Slowdown(_)
            | Finding::Hits { .. } => true,
            Finding::Held(_) | Finding::Gap { .. } => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::NoSamples => write!(f, "no power sample in this trial"),
            Finding::Silence { seconds } => write!(f, "no power sample for {seconds:.1} s"),
            Finding::Frozen { seconds } => write!(f, "energy counter stood still for {seconds:.1} s"),
            Finding::Backwards => write!(f, "energy counter went back"),
            Finding::Slowdown(reasons) => write!(f, "clocks slowed down by {reasons}"),
            Finding::Held(reasons) => write!(f, "clocks held by {reasons}"),
            Finding::Gap { fraction } => {
                write!(
                    f,
                    "energy by integral is {:+.1} % off the counter",
                    fraction * 100.0
                )
            }
            Finding::Hits { found, expected } => write!(f, "{found} hits where {expected:.1} are expected"),
        }
    }
}
