//! The scheme of two slices and seven primes: 34 bits, 28 INT8 products, and every step simple enough to be looked at.
//!
//! A value v, at most 1 in magnitude, is cut into `hi = round(v 2^17)` and `lo = round((v - hi 2^-17) 2^34)`. Each slice is
//! taken modulo seven primes into 0..p; for each of the four pairs of slices (a pass) and each prime, residues are
//! multiplied and summed in 32 bits and taken modulo the prime; the seven results give the pass's sum by the Chinese
//! remainder theorem, folded into -M/2..M/2; and the four sums are added, each with its power of two.

mod hex_float;
mod oracle;
mod primes;

pub use hex_float::hex_float;
pub use oracle::{MAX_DEPTH, Pass, Slice, Slices, accumulator, admit, pass_sum, residue, scale, slices};
pub use primes::{
    ACCUMULATOR_DEPTH, FOLD_DEPTH, HIGH_BITS, LOW_BITS, MODULUS, PRIMES, crt, crt_factor, fold, folds_exactly,
};
