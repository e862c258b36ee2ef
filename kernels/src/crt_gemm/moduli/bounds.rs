//! What rounding the values of a product to whole numbers loses, line by line.

use rayon::prelude::*;

use crate::crt_gemm::exact::parts;
use crate::multiply::{Bounds, Line, Product, power_of_two, sum_up};

/// A unit that every sum is a multiple of: that of a line of zeros.
const ZEROS: i32 = 100_000;

/// The bounds of `product` with row i of A rounded to multiples of 2^-`rows[i]` and column j of B to those of 2^-`cols[j]`.
///
/// What a line loses is taken from its values, not from where they are rounded: a line of small whole numbers loses nothing.
/// Values that meet zeros alone are left out.
///
/// # Panics
/// When there are not as many exponents as lines.
pub fn bounds(product: &Product, rows: &[i32], cols: &[i32]) -> Bounds {
    let (a, b, depth) = (product.a(), product.b(), product.depth());
    assert!(a.rows() == rows.len() && b.cols() == cols.len());
    let meets: Vec<bool> = (0..depth)
        .map(|k| (0..a.rows()).any(|r| a.at(r, k) != 0.0) && (0..b.cols()).any(|c| b.at(k, c) != 0.0))
        .collect();
    let line = |values: Vec<f64>, exponent: i32| {
        let values = values
            .into_iter()
            .zip(&meets)
            .filter_map(|(v, meets)| meets.then_some(v));
        rounded(values, exponent)
    };
    Bounds {
        rows: rows
            .par_iter()
            .enumerate()
            .map(|(i, &s)| line(product.row(i), s))
            .collect(),
        cols: cols
            .par_iter()
            .enumerate()
            .map(|(j, &t)| line(product.column(j), t))
            .collect(),
        constant: 0.0,
    }
}

/// A line rounded to multiples of 2^-`exponent`, to the nearest, the even one of two.
fn rounded(values: impl Iterator<Item = f64>, exponent: i32) -> Line {
    let mut line = Line {
        lost: 0.0,
        sum: 0.0,
        unit: ZEROS,
    };
    for v in values {
        // The values of a product are finite.
        let Some(parts) = parts(v).filter(|parts| parts.mantissa != 0) else {
            continue;
        };
        let magnitude = parts.mantissa.unsigned_abs();
        // Places that the multiples' unit is above the value's last bit; what is left of it is a double with that last bit.
        let down = (-exponent).saturating_sub(parts.exponent).clamp(0, 63);
        let (floor, rest) = (magnitude >> down, magnitude & ((1 << down) - 1));
        let up = 2 * rest + (floor & 1) > 1 << down;
        let (whole, lost) = if up {
            (floor + 1, (1 << down) - rest)
        } else {
            (floor, rest)
        };
        let lost = lost as f64 * power_of_two(parts.exponent);
        line.lost = line.lost.max(lost);
        // As much as the rounded value at least.
        line.sum = sum_up(line.sum, sum_up(v.abs(), lost));
        if whole != 0 {
            line.unit = line
                .unit
                .min(parts.exponent + down + whole.trailing_zeros() as i32);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::crt_gemm::exact::{Dyadic, dot};
    use crate::crt_gemm::moduli::{Exponents, integers};
    use crate::crt_gemm::{Matrix, uniform, wide};
    use crate::multiply::{Dense, Order};
    use crate::seeded::Seeded;

    fn dense(matrix: &Matrix) -> Dense {
        Dense::new(matrix.rows, matrix.cols, Order::Rows, matrix.values.clone()).unwrap()
    }

    /// Every element of the product of what is rounded under `exponents` is within its bound; the sum of the bounds.
    fn assert_bounded(a: &Matrix, b: &Matrix, exponents: &Exponents) -> f64 {
        let product = Product::new(dense(a), dense(b)).unwrap();
        let bounds = bounds(&product, &exponents.rows, &exponents.cols);
        let integers = integers(a, b, exponents).unwrap();
        let mut sum = 0.0;
        for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
            let value = integers.scaled_back(&integers.sum(i, j), i, j);
            let bound = bounds.at(i, j, value);
            if bound.is_finite() {
                let exact = dot(&product.row(i), &product.column(j)).unwrap();
                let error = (&Dyadic::of(value).unwrap() - &exact).abs();
                assert!(error <= Dyadic::of(bound).unwrap(), "[{i}, {j}]: {bound:e}");
            }
            sum += bound;
        }
        sum
    }

    fn exponents(rows: i32, cols: i32, a: &Matrix, b: &Matrix) -> Exponents {
        Exponents {
            rows: vec![rows; a.rows],
            cols: vec![cols; b.cols],
        }
    }

    proptest! {
        #[test]
        fn any_doubles_rounded_anywhere_stay_within_the_bound(
            bits in prop::collection::vec(any::<u64>(), 24),
            s in -1100i32..1100,
            t in -1100i32..1100,
            near in any::<bool>(),
        ) {
            let value = |bits: u64| {
                // All exponents, or those near one.
                let bits = if near { bits & 0x803f_ffff_ffff_ffff | 0x3fc0 << 48 } else { bits };
                Some(f64::from_bits(bits)).filter(|v| v.is_finite()).unwrap_or(0.0)
            };
            let values: Vec<f64> = bits.into_iter().map(value).collect();
            let a = Matrix { rows: 2, cols: 6, values: values[..12].to_vec() };
            let b = Matrix { rows: 6, cols: 2, values: values[12..].to_vec() };
            let (s, t) = if near { (s / 18, t / 18) } else { (s, t) };
            assert_bounded(&a, &b, &exponents(s, t, &a, &b));
        }
    }

    #[test]
    fn seeded_products_stay_within_bounds_that_are_not_wide() {
        let mut seeded = Seeded::new(11);
        for (a, b) in [
            (uniform(4, 60, &mut seeded), uniform(60, 3, &mut seeded)),
            (wide(4, 60, 4.0, &mut seeded), wide(60, 3, 4.0, &mut seeded)),
        ] {
            assert_bounded(&a, &b, &exponents(50, 50, &a, &b));
        }
        let (a, b) = (uniform(4, 60, &mut seeded), uniform(60, 3, &mut seeded));
        let bound = assert_bounded(&a, &b, &exponents(50, 50, &a, &b)) / 12.0;
        // 2^-51 times both sums of 60 magnitudes of 1/2 on average.
        assert!(bound < 2f64.powi(-51) * 2.0 * 45.0, "{bound:e}");
    }

    #[test]
    fn whole_numbers_lose_nothing_and_what_meets_zeros_does_not_count() {
        let a = Matrix::from_fn(3, 4, |r, c| (r * 7 + c) as f64 - 9.0);
        let b = Matrix::from_fn(4, 2, |r, c| (r * 3 + c) as f64 / 8.0);
        assert_eq!(assert_bounded(&a, &b, &exponents(2, 5, &a, &b)), 0.0);
        // Rounded to nothing, but every value meets a zero.
        let a = Matrix::from_fn(2, 4, |_, c| if c < 2 { 0.1 } else { 0.0 });
        let b = Matrix::from_fn(4, 2, |r, _| if r < 2 { 0.0 } else { 0.1 });
        assert_eq!(assert_bounded(&a, &b, &exponents(-3, -3, &a, &b)), 0.0);
    }

    #[test]
    fn the_largest_values_have_no_bound_rather_than_a_wrong_one() {
        let a = Matrix::constant(1, 3, f64::MAX);
        let b = Matrix::from_fn(3, 1, |k, _| [0.1, -0.1, 1e-10][k]);
        assert_eq!(
            assert_bounded(&a, &b, &exponents(-960, 60, &a, &b)),
            f64::INFINITY
        );
    }
}
