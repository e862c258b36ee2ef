//! Seeded matrices whose values spread little or far: what the accuracy of a product is tried on.

use rayon::prelude::*;

use super::{Dense, Order, Product};
use crate::crt_gemm::{signed_fraction, spread_value};
use crate::seeded::Seeded;

/// How the values of a matrix are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Uniform in -1 to 1.
    Uniform,
    /// (u - 1/2) exp(phi z), u uniform in 0 to 1, z standard normal: K. Ozaki, Y. Uchino, T. Imamura, 2025.
    Wide(f64),
}

impl Spread {
    /// A product of two square matrices. Every row has a stream of its own, so that all cores can fill them.
    pub fn product(self, edge: usize, seed: u64) -> Product {
        let matrix = |number: u64| {
            let mut values = vec![0.0; edge * edge];
            let row = |(r, row): (usize, &mut [f64])| {
                let mut seeded = Seeded::new(Seeded::new(seed ^ number << 62).bits() ^ r as u64);
                for value in row {
                    *value = match self {
                        Spread::Uniform => signed_fraction(&mut seeded),
                        Spread::Wide(phi) => spread_value(phi, &mut seeded),
                    };
                }
            };
            values.par_chunks_mut(edge.max(1)).enumerate().for_each(row);
            Dense::new(edge, edge, Order::Rows, values).expect("as many values as a square has")
        };
        let mut product = Product::new(matrix(1), matrix(2)).expect("finite values of fitting shapes");
        product.seed = seed;
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_finite_differ_by_seed_row_and_matrix_and_spread_as_asked() {
        let of = |spread: Spread, seed| spread.product(64, seed);
        let product = of(Spread::Uniform, 1);
        assert_eq!(product, of(Spread::Uniform, 1));
        assert_ne!(product, of(Spread::Uniform, 2));
        assert_ne!(product.a(), product.b());
        assert_ne!(product.row(0), product.row(1));
        let (mut below, mut above) = (0, 0);
        for value in product.a().values() {
            assert!(value.abs() <= 1.0);
            below += u32::from(*value < 0.0);
            above += u32::from(*value > 0.5);
        }
        assert!(
            (1900..2200).contains(&below) && (900..1150).contains(&above),
            "{below} {above}"
        );
        // The logarithm of a magnitude has a deviation of phi, and that of a uniform one besides, which is 1.
        let deviation = |phi| {
            let wide = of(Spread::Wide(phi), 3);
            let logarithms: Vec<f64> = wide.a().values().iter().map(|v| v.abs().ln()).collect();
            let mean = logarithms.iter().sum::<f64>() / 4096.0;
            (logarithms.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 4096.0).sqrt()
        };
        for phi in [0.5f64, 4.0, 40.0] {
            let expected = phi.hypot(1.0);
            assert!(
                (deviation(phi) / expected - 1.0).abs() < 0.1,
                "{phi}: {}",
                deviation(phi)
            );
        }
    }
}
