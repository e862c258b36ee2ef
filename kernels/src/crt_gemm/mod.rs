//! Products of FP64 matrices from products of small integers: slices or truncated values, their residues modulo pairwise
//! coprime numbers, exact INT8 products, and the Chinese remainder theorem.
//!
//! Two schemes. [`split2`] takes two fixed-point slices of 17 bits and seven primes: the one to learn from. [`moduli`]
//! scales rows and columns by powers of two and takes as many moduli as the wanted accuracy needs, after K. Ozaki,
//! Y. Uchino and T. Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix multiplication using
//! an integer modular technique", 2025.

pub mod exact;
pub mod moduli;
pub mod split2;

mod check;
mod family;
mod int8;
mod kernel;
mod matrix;
mod multiplier;
mod native;
mod options;
mod problem;
mod production;
mod refusal;
mod sample;
mod source;
mod tiling;
mod variant;
mod words;

#[cfg(test)]
mod options_tests;
#[cfg(test)]
mod vector_tests;

pub use family::CrtGemm;
pub use matrix::{Matrix, signed_fraction, spread_value, uniform, wide};
pub use refusal::Refusal;
