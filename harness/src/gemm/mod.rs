//! Products of somebody's own matrices: their files, the run, and what is said of the result.

mod multiply;
mod npy;
mod report;
mod run;

#[cfg(test)]
mod doctored_tests;

pub use multiply::{Precision, Run, multiply};
pub use npy::read;
pub use report::{Document, ErrorBound, SampleRow, table};
pub use run::{Addition, Request, Target, run};
