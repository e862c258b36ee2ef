//! The capability to multiply somebody's own matrices of doubles, with a bound on the error of every element.

mod bounds;
mod combine;
mod dense;
mod sample;
mod spread;

pub use bounds::{Bounds, Line, NO_UNIT, half_gap, power_of_two, product_up, sum_up};
pub use combine::{Addend, Combined, Errors, Extreme};
pub use dense::{Dense, Order, Product, SAMPLES};
pub use sample::{Sample, Worst};
pub use spread::Spread;

use crate::workload::Workload;

/// Why there is no such product.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MultiplyError {
    /// The variant multiplies something else, or nothing.
    #[error("it multiplies no matrices of doubles")]
    Unsupported,
    /// Values that are not those of a matrix of that shape.
    #[error("{present} values for a matrix of {rows} x {cols}")]
    Length {
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// Values that there are.
        present: usize,
    },
    /// The two matrices do not fit.
    #[error(
        "A is {} x {} and B is {} x {}: A must have as many columns as B has rows",
        .a.0, .a.1, .b.0, .b.1
    )]
    Shape {
        /// Rows and columns of A.
        a: (usize, usize),
        /// Rows and columns of B.
        b: (usize, usize),
    },
    /// NaN or an infinity.
    #[error("{matrix}[{row}, {col}] is {value}: only finite values can be multiplied")]
    NotFinite {
        /// `A` or `B`.
        matrix: char,
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        col: usize,
        /// The value.
        value: f64,
    },
    /// An accuracy that the variant cannot choose.
    #[error("bits = {bits}: {allowed}")]
    Bits {
        /// What was asked for.
        bits: u32,
        /// What may be.
        allowed: String,
    },
    /// The family cannot compute it exactly, or a card not launch it.
    #[error("{0}")]
    Refused(String),
}

/// One product as a workload of one batch, which ends in a result.
pub trait Multiplication: Workload {
    /// The confirmed result, once the batch was collected; only the first call has it.
    fn finish(&mut self) -> Option<Multiplied>;
}

/// How exactly a scheme of moduli multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moduli {
    /// How many.
    pub count: usize,
    /// Bits of a line's largest value that they were chosen for.
    pub bits: u32,
    /// The most bits that can be asked for.
    pub most_bits: u32,
}

/// A product, confirmed in part and bounded in whole.
#[derive(Debug, Clone)]
pub struct Multiplied {
    /// Rows of C.
    pub rows: usize,
    /// Columns of C.
    pub cols: usize,
    /// C, row after row.
    pub values: Vec<f64>,
    /// How far each element may be from the exact one.
    pub bounds: Bounds,
    /// The moduli that were taken, where the scheme has them.
    pub moduli: Option<Moduli>,
    /// What the host computed anew.
    pub sample: Sample,
}
