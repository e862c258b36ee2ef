//! `accuracy.csv`.

use crate::columns::table;

table! {
    /// One row per variant and pair of matrices: how far seeded elements of its product are from the exact ones.
    #[derive(Default)]
    pub struct AccuracyRow in "accuracy.csv" {
        /// Label of the variant.
        pub variant: String,
        /// Device label.
        pub device: String,
        /// Rows, columns and K of the matrices.
        pub edge: u64,
        /// Spread of the exponents: values are (u - 1/2) exp(phi z) with u uniform in 0..1 and z of the standard normal distribution; empty for u uniform in -1..1.
        pub phi: Option<f64>,
        /// Seed of the matrices and of the elements.
        pub seed: u64,
        /// Moduli that the product took; empty for a variant without moduli.
        pub moduli: Option<u32>,
        /// Elements that were computed exactly on the host.
        pub samples: u64,
        /// Row of the element that is furthest off, as `error_max` has it.
        pub worst_row: u64,
        /// Its column.
        pub worst_col: u64,
        /// How far it is from the exact element.
        pub worst_error: f64,
        /// The sum of its products' magnitudes: its element of |A| |B|.
        pub worst_magnitude: f64,
        /// = worst_error / worst_magnitude: the largest of |C - C*| / (|A| |B|) over the elements.
        pub error_max: f64,
        /// Mean of |C - C*| / (|A| |B|).
        pub error_mean: f64,
        /// Largest of |C - C*| / |C*| over the elements whose exact value is not zero.
        pub relative_max: f64,
    }
}

impl AccuracyRow {
    /// The row with what follows from other columns.
    pub fn derived(self) -> AccuracyRow {
        let error_max = if self.worst_error == 0.0 {
            0.0
        } else {
            self.worst_error / self.worst_magnitude
        };
        AccuracyRow { error_max, ..self }
    }
}
