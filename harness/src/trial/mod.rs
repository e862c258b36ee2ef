//! Trials: timed runs in rotated rounds, with an A/A control.

mod bench;
mod clock;
mod contestant;
mod instruments;
mod order;
mod plan;
mod run;

pub use bench::{Bench, Place};
pub use contestant::{Contestant, production};
pub use order::order;
pub use plan::{Earlier, TrialRequest};
pub use run::{Trials, trials};
