//! The checks that prove a variant.

mod cases;
mod expected;
mod findings;
mod products;
mod refusals;
mod vectors;

pub use cases::{Group, groups};
pub use findings::{Findings, LAYERS};
pub use products::ProductCheck;
pub use refusals::RefusalCheck;
pub use vectors::VectorFile;
