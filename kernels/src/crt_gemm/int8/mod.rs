//! The INT8 product alone: what every scheme spends its time in. It forms one layer, the 32-bit sums.

mod cases;
mod check;
mod kernel;
mod production;
mod variant;

pub use variant::Int8Variant;
