//! From power samples to energy: the columns of runs.csv that follow from power.csv, and nothing else.
//!
//! The energy of a trial is the difference of the device's counter between two of its edges. An edge is a sample whose
//! counter differs from that of the sample before. The integral of the instant power over the same time stands beside it.
//! Only `+ - * /` are used, so a record re-checks to the same text on every machine.

mod finding;
mod log;
mod samples;

pub use finding::Finding;
pub use log::{PowerLog, TrialPower};

/// Time from a trial's first sample that no power statistic uses, s: the clocks settle, and averages forget what was before.
pub const LEAD_S: f64 = 2.0;

/// Least time between the two edges, s. An edge is known to one sampling period of 0.1 s, so that an energy over 5 s is known to
/// the 2 % at which a gap is flagged.
pub const EDGES_MIN_S: f64 = 5.0;

/// Longest time without a whole sample, or with a counter that stands still under load, s.
pub const SILENCE_MAX_S: f64 = 1.0;

/// A gap between counter and integral above this share is flagged.
pub const GAP_FLAGGED: f64 = 0.02;
