//! Searching for digests with leading zeros.

mod run;
mod tally;

pub use run::{SearchRequest, capability, line, search};
pub use tally::Tally;
