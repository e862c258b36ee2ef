//! Matrices of doubles on the host, and seeded ones.

use crate::seeded::Seeded;

/// A matrix, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows * cols` values; that of row `r` and column `c` is at `r * cols + c`.
    pub values: Vec<f64>,
}

impl Matrix {
    /// The matrix whose value at row `r` and column `c` is `value(r, c)`.
    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f64) -> Matrix {
        let values = (0..rows)
            .flat_map(|r| (0..cols).map(move |c| (r, c)))
            .map(|(r, c)| value(r, c))
            .collect();
        Matrix { rows, cols, values }
    }

    /// A matrix of one value.
    pub fn constant(rows: usize, cols: usize, value: f64) -> Matrix {
        Matrix {
            rows,
            cols,
            values: vec![value; rows * cols],
        }
    }

    /// The value at row `r` and column `c`.
    pub fn at(&self, r: usize, c: usize) -> f64 {
        self.values[r * self.cols + c]
    }

    /// Row `r`.
    pub fn row(&self, r: usize) -> &[f64] {
        &self.values[r * self.cols..(r + 1) * self.cols]
    }

    /// Rows as columns.
    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.cols, self.rows, |r, c| self.at(c, r))
    }
}

/// Values uniform in -1 to 1, multiples of 2^-53.
pub fn uniform(rows: usize, cols: usize, seeded: &mut Seeded) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| signed_fraction(seeded))
}

/// Values whose magnitudes spread: `u * exp(phi * g)`, u uniform in -1/2 to 1/2 and g standard normal. The spread of the
/// tests in the literature: phi = 0.5 is like LU factors, phi = 4 spans some 20 powers of ten.
pub fn wide(rows: usize, cols: usize, phi: f64, seeded: &mut Seeded) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| spread_value(phi, seeded))
}

/// A value of [`wide`].
pub fn spread_value(phi: f64, seeded: &mut Seeded) -> f64 {
    let u = signed_fraction(seeded) / 2.0;
    u * (phi * normal(seeded)).exp()
}

/// A value of [`uniform`].
pub fn signed_fraction(seeded: &mut Seeded) -> f64 {
    ((seeded.bits() >> 10) as i64 - (1 << 53)) as f64 / (1u64 << 53) as f64
}

/// By the polar form of Box and Muller, "A note on the generation of random normal deviates", 1958.
fn normal(seeded: &mut Seeded) -> f64 {
    let u = ((seeded.bits() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    let angle = std::f64::consts::TAU * (seeded.bits() >> 11) as f64 / (1u64 << 53) as f64;
    (-2.0 * u.ln()).sqrt() * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_values_fill_the_interval_and_stay_in_it() {
        let values = uniform(100, 100, &mut Seeded::new(1)).values;
        assert!(values.iter().all(|v| v.abs() <= 1.0));
        for (low, high) in [(-1.0, -0.9), (-0.1, 0.0), (0.0, 0.1), (0.9, 1.0)] {
            let inside = values.iter().filter(|&&v| low <= v && v < high).count();
            assert!((400..600).contains(&inside), "{inside} of 10000 in {low}..{high}");
        }
    }

    #[test]
    fn wide_values_spread_with_phi() {
        let spread = |phi| {
            let values = wide(100, 100, phi, &mut Seeded::new(2)).values;
            let exponents: Vec<i32> = values.iter().map(|v| v.abs().log2() as i32).collect();
            exponents.iter().max().unwrap() - exponents.iter().min().unwrap()
        };
        assert!(spread(4.0) > 35 && spread(4.0) > spread(1.0) && spread(1.0) > spread(0.5));
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let matrix = Matrix::from_fn(3, 5, |r, c| (10 * r + c) as f64);
        assert_eq!(matrix.transposed().at(4, 2), 24.0);
        assert_eq!(matrix.transposed().transposed(), matrix);
        assert_eq!(matrix.row(1), [10.0, 11.0, 12.0, 13.0, 14.0]);
    }
}
