//! Trials: timed runs in rotated rounds, with an A/A control.

mod contestant;
mod order;
mod run;

pub use contestant::batch_units;
pub use run::{TrialRequest, Trials, trials};
