//! The exact answers that every variant is held against: doubles as integers times powers of two, and sums of products
//! of them without any rounding.

mod accumulator;
mod dot;
mod dyadic;

pub use accumulator::Accumulator;
pub use dot::{dot, dot_ieee, elements, product};
pub use dyadic::{Dyadic, Parts, parts};
