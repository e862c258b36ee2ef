//! What cannot be computed exactly, and is therefore refused.

use crate::multiply::MultiplyError;

impl From<Refusal> for MultiplyError {
    fn from(why: Refusal) -> MultiplyError {
        MultiplyError::Refused(why.to_string())
    }
}

/// Why a product is refused: the result would not be what the scheme promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The two matrices do not fit.
    #[error("A has {a_cols} columns and B has {b_rows} rows: they must be equal")]
    Shape {
        /// Columns of A.
        a_cols: usize,
        /// Rows of B.
        b_rows: usize,
    },
    /// NaN or an infinity.
    #[error("{matrix}[{row}, {col}] is {value}: residues exist of finite values only")]
    NotFinite {
        /// `A` or `B`.
        matrix: char,
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
        /// The value.
        value: String,
    },
    /// A value beyond what the fixed-point slices hold.
    #[error("{matrix}[{row}, {col}] is {value}: |value| <= 1 is needed, scale the matrix")]
    TooLarge {
        /// `A` or `B`.
        matrix: char,
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
        /// The value.
        value: String,
    },
    /// A sum that the signed fold cannot tell from its neighbour.
    #[error(
        "K = {depth}: the signed fold is exact for K <= {bound} only (2 * |sum| < {product}, |hi| <= 2^17): split K"
    )]
    Fold {
        /// K.
        depth: usize,
        /// The largest K.
        bound: usize,
        /// The product of the primes.
        product: u64,
    },
    /// A sum that a 32-bit accumulator cannot hold.
    #[error("K = {depth}: 32-bit accumulators hold sums of residues for K <= {bound} only: split K")]
    Accumulator {
        /// K.
        depth: usize,
        /// The largest K.
        bound: usize,
    },
    /// More than one launch can compute.
    #[error(
        "a product of {rows} x {depth} by {depth} x {cols} takes {needed} {what}: the kernels take up to {bound}, split it"
    )]
    Size {
        /// Rows of A.
        rows: usize,
        /// Columns of B.
        cols: usize,
        /// K.
        depth: usize,
        /// What there are too many of.
        what: &'static str,
        /// How many it would take.
        needed: u128,
        /// The most.
        bound: u128,
    },
    /// More bits than all moduli together have.
    #[error(
        "K = {depth} and {bits} bits need a product of moduli above 2^{needed}: all {count} together have 2^{available}"
    )]
    Moduli {
        /// K.
        depth: usize,
        /// Bits of a row's or column's largest value.
        bits: u32,
        /// The exponent that is needed, rounded down.
        needed: u64,
        /// How many moduli there are.
        count: usize,
        /// The exponent that there is, rounded down.
        available: u64,
    },
}
