//! Exact products of matrices of doubles.

use rayon::prelude::*;

use super::accumulator::Accumulator;
use super::dyadic::{Dyadic, Parts, parts};
use crate::crt_gemm::Matrix;

/// The exact sum of `a[k] * b[k]`, or `None` where a value is NaN or infinite.
///
/// # Panics
/// When the lengths differ.
pub fn dot(a: &[f64], b: &[f64]) -> Option<Dyadic> {
    assert_eq!(a.len(), b.len());
    let mut sum = Accumulator::default();
    for (&a, &b) in a.iter().zip(b) {
        sum.add_product(parts(a)?, parts(b)?);
    }
    Some(sum.value())
}

/// What IEEE 754 makes of the sum of `a[k] * b[k]` with one rounding at the end: the exact sum rounded where all values are
/// finite; NaN where a value is, where an infinity meets a zero, or where infinities of both signs meet; else an infinity.
///
/// # Panics
/// When the lengths differ.
pub fn dot_ieee(a: &[f64], b: &[f64]) -> f64 {
    if let Some(sum) = dot(a, b) {
        return sum.to_f64();
    }
    // Only the terms with an infinity or NaN decide; a product of finite ones must not overflow to another.
    a.iter()
        .zip(b)
        .filter(|(a, b)| !(a.is_finite() && b.is_finite()))
        .map(|(a, b)| a * b)
        .sum()
}

/// The exact elements of `a * b` at `places` (row, column), rounded once as [`dot_ieee`] does, on all cores.
///
/// # Panics
/// When the shapes do not fit, or a place is outside.
pub fn elements(a: &Matrix, b: &Matrix, places: &[(usize, usize)]) -> Vec<f64> {
    assert_eq!(a.cols, b.rows);
    places
        .par_iter()
        .map(|&(r, c)| {
            let column: Vec<f64> = (0..b.rows).map(|k| b.at(k, c)).collect();
            dot_ieee(a.row(r), &column)
        })
        .collect()
}

/// The exact product, rounded once as [`dot_ieee`] does, on all cores. Takes about 6 ns a multiply-add and core.
///
/// # Panics
/// When the shapes do not fit.
pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    assert_eq!(a.cols, b.rows);
    let taken_apart = |matrix: &Matrix| {
        matrix
            .values
            .iter()
            .map(|&v| parts(v))
            .collect::<Option<Vec<Parts>>>()
    };
    let transposed = b.transposed();
    let (Some(left), Some(right)) = (taken_apart(a), taken_apart(&transposed)) else {
        let places: Vec<_> = (0..a.rows)
            .flat_map(|r| (0..b.cols).map(move |c| (r, c)))
            .collect();
        return Matrix {
            rows: a.rows,
            cols: b.cols,
            values: elements(a, b, &places),
        };
    };
    let depth = a.cols;
    let line = |parts: &[Parts], line: usize| parts[line * depth..(line + 1) * depth].to_vec();
    let values = (0..a.rows)
        .into_par_iter()
        .flat_map_iter(|r| {
            let row = line(&left, r);
            let right = &right;
            (0..b.cols).map(move |c| {
                let mut sum = Accumulator::default();
                for (&a, &b) in row.iter().zip(&right[c * depth..(c + 1) * depth]) {
                    sum.add_product(a, b);
                }
                sum.value().to_f64()
            })
        })
        .collect();
    Matrix {
        rows: a.rows,
        cols: b.cols,
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::{uniform, wide};
    use crate::seeded::Seeded;

    #[test]
    fn cancellation_leaves_what_is_left() {
        assert_eq!(
            dot_ieee(&[1e300, 1.0, -1e300], &[1e8, 2f64.powi(-60), 1e8]),
            2f64.powi(-60)
        );
        assert_eq!(dot_ieee(&[f64::MAX, f64::MAX, -f64::MAX], &[2.0, 3.0, 5.0]), 0.0);
        assert_eq!(dot_ieee(&[f64::MAX, 1.0], &[2.0, 1.0]), f64::INFINITY);
        assert_eq!(dot_ieee(&[], &[]), 0.0);
    }

    #[test]
    fn infinities_and_nans_come_out_as_ieee_says() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        // The finite terms overflow by themselves, and must not turn +inf into NaN.
        assert_eq!(dot_ieee(&[inf, f64::MAX], &[2.0, -f64::MAX]), inf);
        assert_eq!(dot_ieee(&[1.0, inf], &[1.0, -1.0]), -inf);
        assert_eq!(dot_ieee(&[inf, inf], &[inf, 1e-300]), inf);
        for (a, b) in [
            ([inf, inf], [1.0, -1.0]),
            ([inf, 0.0], [0.0, 1.0]),
            ([nan, 0.0], [1.0, 1.0]),
        ] {
            assert!(dot_ieee(&a, &b).is_nan(), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_product_is_its_elements() {
        let mut seeded = Seeded::new(7);
        for (a, b) in [
            (wide(5, 9, 4.0, &mut seeded), wide(9, 4, 4.0, &mut seeded)),
            (uniform(1, 40, &mut seeded), uniform(40, 1, &mut seeded)),
            (uniform(3, 0, &mut seeded), uniform(0, 2, &mut seeded)),
            (Matrix::constant(2, 2, f64::INFINITY), uniform(2, 2, &mut seeded)),
        ] {
            let whole = product(&a, &b);
            assert_eq!((whole.rows, whole.cols), (a.rows, b.cols));
            let places: Vec<_> = (0..a.rows)
                .flat_map(|r| (0..b.cols).map(move |c| (r, c)))
                .collect();
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&whole.values), bits(&elements(&a, &b, &places)));
        }
    }

    /// `cargo test --release -p assay-kernels exact_rates -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement, not a check"]
    fn exact_rates() {
        let mut seeded = Seeded::new(3);
        let (a, b) = (uniform(512, 512, &mut seeded), uniform(512, 512, &mut seeded));
        let start = std::time::Instant::now();
        let sum: f64 = product(&a, &b).values.iter().sum();
        println!("512^3: {:.2} s ({sum})", start.elapsed().as_secs_f64());
        let (a, b) = (uniform(512, 8192, &mut seeded), uniform(8192, 512, &mut seeded));
        let places: Vec<_> = (0..4096)
            .map(|_| (seeded.below(512) as usize, seeded.below(512) as usize))
            .collect();
        let start = std::time::Instant::now();
        let sum: f64 = elements(&a, &b, &places).iter().sum();
        println!(
            "4096 elements at K = 8192: {:.2} s ({sum})",
            start.elapsed().as_secs_f64()
        );
    }
}
