//! Trials: timed runs in rotated rounds, with an A/A control.

mod clock;
mod contestant;
mod instruments;
mod order;
mod plan;
mod run;

pub use contestant::batch_units;
pub use plan::{Earlier, TrialRequest};
pub use run::{Trials, trials};
