//! Validation: every check of every variant, and the sets that variants must agree on.

mod agree;
mod report;
mod run;

#[cfg(test)]
mod mutation_tests;

pub use report::{Document, table};
pub use run::{overflow_is_rejected, validate};
