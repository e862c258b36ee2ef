//! Tuning: the best candidate around a variant on the device at hand, by successive halving. No candidate is timed before it was
//! validated.

mod candidate;
mod ledger;
mod propose;
mod race;
mod report;
mod resume;
mod rows;
mod schedule;
mod space;
mod winner;
mod workbench;

#[cfg(test)]
mod broken_tests;
#[cfg(test)]
mod race_tests;

pub use candidate::Workshop;
pub use ledger::Ledger;
pub use race::{End, race};
pub use report::{Document, table};
pub use resume::restore;
pub use schedule::Schedule;
pub use space::Space;
pub use winner::{WINNER, Winner};
pub use workbench::{Sitting, Workbench};
