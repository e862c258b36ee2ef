//! The checks that prove a variant.

mod cases;
mod expected;
mod findings;
mod products;
mod refusals;
mod vectors;

pub use cases::{Group, case, constants, groups, lying, random, repeated};
pub use findings::{Findings, LAYERS, not_formed_but};
pub use products::{Case, ProductCheck, element};
pub use refusals::RefusalCheck;
pub use vectors::VectorFile;
