//! The host's answer for each layer: truncated integers, exact sums, and the double that they round to.

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;

use super::scaling::Exponents;
use super::table::{MODULI, product_of};
use crate::crt_gemm::Matrix;
use crate::crt_gemm::exact::{Dyadic, parts};

/// The two matrices as integers: `trunc(2^rows[i] A[i, k])` and `trunc(2^cols[j] B[k, j])`.
#[derive(Debug, Clone, PartialEq)]
pub struct Truncated {
    /// Row after row of A.
    pub a: Vec<BigInt>,
    /// Column after column of B.
    pub b: Vec<BigInt>,
    /// K.
    pub depth: usize,
    /// The scaling that they were cut under.
    pub exponents: Exponents,
}

/// Cut `a` and `b` to integers, towards zero. `None` where a value is NaN or infinite.
///
/// # Panics
/// When the shapes do not fit each other or the exponents.
pub fn truncated(a: &Matrix, b: &Matrix, exponents: &Exponents) -> Option<Truncated> {
    assert!(a.cols == b.rows && a.rows == exponents.rows.len() && b.cols == exponents.cols.len());
    let lines = |matrix: &Matrix, exponents: &[i32]| -> Option<Vec<BigInt>> {
        let line = |r: usize| matrix.row(r).iter().map(move |&v| truncate(v, exponents[r]));
        (0..matrix.rows).flat_map(line).collect()
    };
    Some(Truncated {
        a: lines(a, &exponents.rows)?,
        b: lines(&b.transposed(), &exponents.cols)?,
        depth: a.cols,
        exponents: exponents.clone(),
    })
}

/// `v 2^exponent` towards zero.
fn truncate(v: f64, exponent: i32) -> Option<BigInt> {
    let parts = parts(v)?;
    let shift = parts.exponent + exponent;
    let magnitude = BigUint::from(parts.mantissa.unsigned_abs());
    let magnitude = if shift >= 0 {
        magnitude << shift as u64
    } else {
        magnitude >> shift.unsigned_abs() as u64
    };
    let value = BigInt::from(magnitude);
    Some(if parts.mantissa < 0 { -value } else { value })
}

impl Truncated {
    /// The exact sum of row `i` of A with column `j` of B.
    pub fn sum(&self, i: usize, j: usize) -> BigInt {
        let line = |values: &[BigInt], line: usize| values[line * self.depth..][..self.depth].to_vec();
        line(&self.a, i)
            .iter()
            .zip(line(&self.b, j))
            .map(|(a, b)| a * b)
            .sum()
    }

    /// The same sum over magnitudes: what must stay below half the moduli's product.
    pub fn sum_of_magnitudes(&self, i: usize, j: usize) -> BigUint {
        let line = |values: &[BigInt], line: usize| values[line * self.depth..][..self.depth].to_vec();
        line(&self.a, i)
            .iter()
            .zip(line(&self.b, j))
            .map(|(a, b)| a.magnitude() * b.magnitude())
            .sum()
    }

    /// The double that a sum stands for: scaled back, rounded once.
    pub fn scaled_back(&self, sum: &BigInt, i: usize, j: usize) -> f64 {
        let exponent = i64::from(self.exponents.rows[i]) + i64::from(self.exponents.cols[j]);
        Dyadic::new(sum.clone(), -exponent).to_f64()
    }
}

/// The product of the cut matrices, scaled back and rounded once, on all cores.
pub fn product(truncated: &Truncated) -> Matrix {
    let (rows, cols) = (truncated.exponents.rows.len(), truncated.exponents.cols.len());
    let values = (0..rows * cols)
        .into_par_iter()
        .map(|place| {
            let (i, j) = (place / cols, place % cols);
            truncated.scaled_back(&truncated.sum(i, j), i, j)
        })
        .collect();
    Matrix { rows, cols, values }
}

/// The integer nearest to zero with these residues modulo the first moduli. Exact iff twice its magnitude is below their product.
///
/// # Panics
/// When there are more residues than moduli.
pub fn crt(residues: &[i64]) -> BigInt {
    let product = BigInt::from(product_of(residues.len()));
    let sum: BigInt = residues
        .iter()
        .zip(MODULI)
        .map(|(&residue, modulus)| {
            let rest = &product / modulus;
            // The rest is coprime to the modulus, so it has an inverse.
            let inverse = rest.modinv(&modulus.into()).unwrap_or_default();
            rest * inverse * residue
        })
        .sum();
    let x = ((sum % &product) + &product) % &product;
    if BigInt::from(2) * &x > product {
        x - product
    } else {
        x
    }
}

/// A bound on the error of element (i, j) of the product before its last rounding: what cutting leaves out of each value,
/// below 2^-s of A's and 2^-t of B's, times the magnitudes that it meets.
///
/// # Panics
/// When a place is outside.
pub fn error_bound(a: &Matrix, b: &Matrix, exponents: &Exponents, i: usize, j: usize) -> f64 {
    let (s, t) = (i64::from(exponents.rows[i]), i64::from(exponents.cols[j]));
    let magnitude = |v: f64| Dyadic::of(v).map_or_else(|| Dyadic::new(0, 0), |v| v.abs());
    let sum =
        |values: &mut dyn Iterator<Item = f64>| values.fold(Dyadic::new(0, 0), |sum, v| &sum + &magnitude(v));
    let row = sum(&mut a.row(i).iter().copied());
    let column = sum(&mut (0..b.rows).map(|k| b.at(k, j)));
    // |ab - a'b'| <= |a - a'| |b| + |a'| |b - b'|, and |a'| <= |a| where both are in the same units.
    let bound = &row.shifted(-t) + &column.shifted(-s);
    bound.to_f64().next_up()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::moduli::{Bound, balanced, choose, exponents};
    use crate::crt_gemm::{exact, uniform, wide};
    use crate::seeded::Seeded;

    fn cases(seed: u64) -> Vec<(String, Matrix, Matrix)> {
        let mut seeded = Seeded::new(seed);
        let mut cases = vec![
            (
                "uniform".to_owned(),
                uniform(5, 70, &mut seeded),
                uniform(70, 4, &mut seeded),
            ),
            (
                "row by column".to_owned(),
                uniform(1, 33, &mut seeded),
                uniform(33, 1, &mut seeded),
            ),
            (
                "column by row".to_owned(),
                uniform(4, 1, &mut seeded),
                uniform(1, 6, &mut seeded),
            ),
            (
                "empty K".to_owned(),
                uniform(2, 0, &mut seeded),
                uniform(0, 3, &mut seeded),
            ),
        ];
        for phi in [0.5, 1.0, 2.0, 4.0] {
            let (a, b) = (wide(4, 50, phi, &mut seeded), wide(50, 3, phi, &mut seeded));
            cases.push((format!("phi {phi}"), a, b));
        }
        // Zero rows and columns, subnormals, the largest doubles.
        let mut a = uniform(4, 8, &mut seeded);
        let mut b = uniform(8, 3, &mut seeded);
        for k in 0..8 {
            (a.values[k], a.values[8 + k], b.values[3 * k + 1]) = (0.0, f64::from_bits(k as u64), -0.0);
            a.values[16 + k] = f64::MAX;
        }
        cases.push(("zeros, subnormals and the largest".to_owned(), a, b));
        cases
    }

    #[test]
    fn no_sum_reaches_half_the_product_whatever_the_bound() {
        let seed = 5;
        for (name, a, b) in cases(seed) {
            for count in [2, 9, 15, 20] {
                for bound in [Bound::Fast, Bound::Accurate, Bound::Blocks] {
                    let exponents = exponents(&a, &b, count, bound).unwrap();
                    let cut = truncated(&a, &b, &exponents).unwrap();
                    for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
                        let twice = cut.sum_of_magnitudes(i, j) * 2u32;
                        assert!(
                            twice < product_of(count),
                            "seed {seed}, {name}, {count} {bound:?} [{i}, {j}]"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn residues_and_remainder_theorem_give_back_the_sum() {
        let seed = 6;
        for (name, a, b) in cases(seed) {
            let count = 15;
            let exponents = exponents(&a, &b, count, Bound::Accurate).unwrap();
            let cut = truncated(&a, &b, &exponents).unwrap();
            let residue = |value: &BigInt, modulus: u32| -> i64 {
                let remainder = ((value % modulus) + modulus) % modulus;
                i64::from(balanced(u32::try_from(remainder).unwrap(), modulus))
            };
            for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
                // Sums of products of residues, as the INT8 units form them.
                let residues: Vec<i64> = MODULI[..count]
                    .iter()
                    .map(|&modulus| {
                        (0..cut.depth)
                            .map(|k| {
                                residue(&cut.a[i * cut.depth + k], modulus)
                                    * residue(&cut.b[j * cut.depth + k], modulus)
                            })
                            .sum()
                    })
                    .collect();
                assert_eq!(crt(&residues), cut.sum(i, j), "seed {seed}, {name} [{i}, {j}]");
            }
        }
    }

    #[test]
    fn the_fold_is_exact_up_to_half_the_product_and_not_beyond() {
        let count = 3;
        let product = BigInt::from(product_of(count));
        let residues = |x: &BigInt| -> Vec<i64> {
            MODULI[..count]
                .iter()
                .map(|&m| i64::try_from(x % m).unwrap())
                .collect()
        };
        let half: BigInt = (&product - 1) / 2;
        for x in [BigInt::from(0), BigInt::from(-1), half.clone(), -&half] {
            assert_eq!(crt(&residues(&x)), x);
        }
        let beyond: BigInt = half + 1;
        // An even product's half stands for itself and its negative: it is refused by 2 K amax bmax < P.
        assert_eq!(crt(&residues(&(-&beyond))), beyond);
    }

    #[test]
    fn the_error_stays_within_its_bound_and_accurate_beats_fast_on_wide_data() {
        let seed = 9;
        for (name, a, b) in cases(seed) {
            let count = choose(a.cols, 53).unwrap();
            let exact = exact::product(&a, &b);
            let mut worst = Vec::new();
            for bound in [Bound::Fast, Bound::Accurate, Bound::Blocks] {
                let exponents = exponents(&a, &b, count, bound).unwrap();
                let got = product(&truncated(&a, &b, &exponents).unwrap());
                let mut largest: f64 = 0.0;
                for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
                    let (x, y) = (got.at(i, j), exact.at(i, j));
                    let allowed = error_bound(&a, &b, &exponents, i, j)
                        + (y.next_up() - y).abs().max((y - y.next_down()).abs());
                    let error = (x - y).abs();
                    assert!(
                        x == y || error <= allowed,
                        "seed {seed}, {name} {bound:?} [{i}, {j}]: {x:e} for {y:e}"
                    );
                    largest = largest.max(if x == y { 0.0 } else { error / y.abs() });
                }
                worst.push(largest);
            }
            if name == "phi 4" {
                assert!(
                    worst[1] < worst[0],
                    "seed {seed}: fast {:e}, accurate {:e}",
                    worst[0],
                    worst[1]
                );
            }
        }
    }

    #[test]
    fn nothing_finite_comes_of_what_is_not() {
        let (a, b) = (Matrix::constant(1, 2, f64::NAN), Matrix::constant(2, 1, 1.0));
        assert_eq!(exponents(&a, &b, 15, Bound::Accurate), None);
        assert_eq!(exponents(&b, &a, 15, Bound::Fast), None);
        assert_eq!(exponents(&a, &b, 15, Bound::Blocks), None);
        let one = Exponents {
            rows: vec![0],
            cols: vec![0],
        };
        assert_eq!(truncated(&a, &b, &one), None);
        assert_eq!(truncate(f64::INFINITY, 3), None);
        assert_eq!(truncate(-1.75, 1), Some(BigInt::from(-3)));
        assert_eq!(truncate(f64::from_bits(5), 1074), Some(BigInt::from(5)));
    }
}
