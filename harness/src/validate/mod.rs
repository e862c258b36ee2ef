//! Validation: every check of every variant, and the sets that variants must agree on.

mod agree;
mod at_once;
mod report;
mod run;

#[cfg(test)]
mod crt_gemm_mutation_tests;
#[cfg(test)]
mod doctored;
#[cfg(test)]
mod moduli_mutation_tests;
#[cfg(test)]
mod moduli_norm_mutation_tests;
#[cfg(test)]
mod mutation_tests;

#[cfg(test)]
pub use doctored::Doctored;

pub use report::{Document, table};
pub use run::{Evidence, overflow_is_rejected, validate};
