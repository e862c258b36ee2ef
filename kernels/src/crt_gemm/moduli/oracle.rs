//! The host's answer for each layer: integers, exact sums, and the double that they round to.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;

use super::scaling::Exponents;
use super::table::{MODULI, product_of};
use crate::crt_gemm::Matrix;
use crate::crt_gemm::exact::{Dyadic, parts};

/// The two matrices as integers: `2^rows[i] A[i, k]` and `2^cols[j] B[k, j]`, each the nearest, the even one of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Integers {
    /// Row after row of A.
    pub a: Vec<BigInt>,
    /// Column after column of B.
    pub b: Vec<BigInt>,
    /// K.
    pub depth: usize,
    /// The scaling that they were rounded under.
    pub exponents: Exponents,
}

/// Round `a` and `b` to integers. `None` where a value is NaN or infinite.
///
/// # Panics
/// When the shapes do not fit each other or the exponents.
pub fn integers(a: &Matrix, b: &Matrix, exponents: &Exponents) -> Option<Integers> {
    assert!(a.cols == b.rows && a.rows == exponents.rows.len() && b.cols == exponents.cols.len());
    let lines = |matrix: &Matrix, exponents: &[i32]| -> Option<Vec<BigInt>> {
        let line = |r: usize| matrix.row(r).iter().map(move |&v| nearest(v, exponents[r]));
        (0..matrix.rows).flat_map(line).collect()
    };
    Some(Integers {
        a: lines(a, &exponents.rows)?,
        b: lines(&b.transposed(), &exponents.cols)?,
        depth: a.cols,
        exponents: exponents.clone(),
    })
}

/// The integer nearest to `v 2^exponent`, the even one of two.
fn nearest(v: f64, exponent: i32) -> Option<BigInt> {
    let parts = parts(v)?;
    let shift = parts.exponent + exponent;
    let value = BigInt::from(parts.mantissa);
    if shift >= 0 {
        return Some(value << shift as u64);
    }
    let down = shift.unsigned_abs() as u64;
    // Towards minus infinity; what is left of it, twice, against one.
    let floor = &value >> down;
    let twice: BigInt = (value - (&floor << down)) << 1u32;
    Some(match twice.cmp(&(BigInt::from(1) << down)) {
        Ordering::Less => floor,
        Ordering::Greater => floor + 1,
        Ordering::Equal => &floor + (&floor & BigInt::from(1)),
    })
}

impl Integers {
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

/// The product of the integers, scaled back and rounded once, on all cores.
pub fn product(integers: &Integers) -> Matrix {
    let (rows, cols) = (integers.exponents.rows.len(), integers.exponents.cols.len());
    let values = (0..rows * cols)
        .into_par_iter()
        .map(|place| {
            let (i, j) = (place / cols, place % cols);
            integers.scaled_back(&integers.sum(i, j), i, j)
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

/// A bound on the error of element (i, j) of the product before its last rounding: what rounding to integers changes each value
/// by, at most 2^-(s + 1) of A's and 2^-(t + 1) of B's, times the magnitudes that it meets.
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
    // |ab - a'b'| <= |a - a'| |b| + |a| |b - b'| + |a - a'| |b - b'|
    let bound = &(&row.shifted(-t - 1) + &column.shifted(-s - 1)) + &Dyadic::new(a.cols, -s - t - 2);
    bound.to_f64().next_up()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::moduli::{Bound, MAX_BITS, Residues, choose, exponents};
    use crate::crt_gemm::options::MIN_BITS;
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
            for bits in [MIN_BITS, 53, MAX_BITS] {
                let count = choose(a.cols, bits).unwrap();
                for bound in [Bound::Fast, Bound::Accurate, Bound::Blocks] {
                    let exponents = exponents(&a, &b, count, bound).unwrap();
                    let integers = integers(&a, &b, &exponents).unwrap();
                    for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
                        let twice = integers.sum_of_magnitudes(i, j) * 2u32;
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
            let integers = integers(&a, &b, &exponents).unwrap();
            let residue = |value: &BigInt, modulus: u32| -> i64 {
                let remainder = ((value % modulus) + modulus) % modulus;
                let byte = Residues::Balanced.byte(u32::try_from(remainder).unwrap(), modulus);
                i64::from(Residues::Balanced.value(byte))
            };
            for (i, j) in (0..a.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
                // Sums of products of residues, as the INT8 units form them.
                let residues: Vec<i64> = MODULI[..count]
                    .iter()
                    .map(|&modulus| {
                        (0..integers.depth)
                            .map(|k| {
                                residue(&integers.a[i * integers.depth + k], modulus)
                                    * residue(&integers.b[j * integers.depth + k], modulus)
                            })
                            .sum()
                    })
                    .collect();
                assert_eq!(
                    crt(&residues),
                    integers.sum(i, j),
                    "seed {seed}, {name} [{i}, {j}]"
                );
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
                let got = product(&integers(&a, &b, &exponents).unwrap());
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
        assert_eq!(integers(&a, &b, &one), None);
        assert_eq!(nearest(f64::INFINITY, 3), None);
    }

    #[test]
    fn an_integer_is_the_nearest_and_the_even_one_of_two() {
        for (v, exponent, integer) in [
            (-1.75, 1, -4),
            (-1.75, 0, -2),
            (-1.25, 0, -1),
            (1.25, 1, 2),
            (1.75, 1, 4),
            (0.5, 0, 0),
            (0.5f64.next_up(), 0, 1),
            (-1.5, 0, -2),
            (-2.5, 0, -2),
            (-1.0, -2000, 0),
            (f64::from_bits(5), 1074, 5),
        ] {
            assert_eq!(
                nearest(v, exponent),
                Some(BigInt::from(integer)),
                "{v} 2^{exponent}"
            );
        }
    }
}
