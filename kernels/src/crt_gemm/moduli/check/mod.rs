//! The checks that prove a variant of the scheme of N moduli.

mod cases;
mod depth;
mod expected;
mod products;
mod refusals;

pub use cases::groups;
pub use products::ModuliCheck;
pub use refusals::ModuliRefusals;
