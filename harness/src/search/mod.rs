//! Searching for digests with leading zeros.

mod run;
mod tally;

pub use run::{SearchRequest, capability, line, read_prefix, search};
pub use tally::Tally;
