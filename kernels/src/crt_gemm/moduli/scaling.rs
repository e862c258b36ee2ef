//! Powers of two for the rows of A and the columns of B, such that every sum of products stays below half the moduli's
//! product.
//!
//! Both rules are stated in integers, so that a kernel and the host come to the same exponents. With H the largest number
//! below P/2, and u(i) and w(j) such that the sum of |A(i,k)| |B(k,j)| is at most sqrt(u(i) w(j)) for every i and j, the
//! exponents s(i) = max { s : 4^s u(i) <= H } and t(j) likewise give sums of at most sqrt(H H) = H.
//!
//! What is multiplied are the nearest integers, which may be larger than the values. The bounds hold for them too: they are of
//! magnitudes rounded up to multiples of a power of two, which scaled by 2^s is a whole number, and rounding to the nearest
//! passes no whole number. It is one since 2^s times the least power of two above a line is about 2^`bits` at least (a bit less
//! where the bound is a rough one), more than the bits of a magnitude: that is what the least `options.bits` is for. Of [`Bound::Blocks`] the power of two is a block's; where
//! scaled it is a fraction, the block's integers are below 2^7 + 1/2, and their norm is below one unit of the line's bytes.

use num_bigint::BigUint;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::norms::{self, Norm, norms};
use super::table::product_of;
use crate::crt_gemm::Matrix;
use crate::crt_gemm::exact::{Parts, parts};

/// Bits behind the point of a magnitude that is rounded up for [`Bound::Accurate`]: at most 64, so that it fits 8 bits.
const ACCURATE_BITS: i32 = 6;
/// The same for [`Bound::Fast`]: squares of 2^23 summed over the largest K, 133144, fit 64 bits.
const FAST_BITS: i32 = 23;

/// What bounds the sums of |A| |B|.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The inequality of Cauchy and Schwarz: u(i) is the sum of squares of row i. Cheap, and wasteful where large values
    /// of A meet small ones of B.
    Fast,
    /// One more INT8 product, of the magnitudes rounded up to 6 bits under each line's largest: u(i) is the largest sum in row
    /// i of it, w(j) the largest in column j. An element is at most both, and so at most their geometric mean.
    #[default]
    Accurate,
    /// The inequality of Cauchy and Schwarz in blocks of 16 neighbours along K: as `accurate`, of the blocks' Euclidean norms
    /// rounded up to 4 bits under each line's largest value in the place of magnitudes. One pass over the matrices less, and a
    /// 16th of the product.
    Blocks,
}

impl Bound {
    /// Bits behind the point of a magnitude that is rounded up.
    pub fn bits(self) -> i32 {
        match self {
            Bound::Fast => FAST_BITS,
            Bound::Accurate => ACCURATE_BITS,
            Bound::Blocks => norms::BYTE_BITS,
        }
    }

    /// Whether one more INT8 product gives it.
    pub fn by_product(self) -> bool {
        matches!(self, Bound::Accurate | Bound::Blocks)
    }

    /// Neighbours along K that one magnitude stands for.
    pub fn neighbours(self) -> usize {
        match self {
            Bound::Fast | Bound::Accurate => 1,
            Bound::Blocks => norms::BLOCK,
        }
    }
}

/// Exponents of the scaling: row i of A times 2^`rows[i]`, column j of B times 2^`cols[j]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exponents {
    /// One for each row of A. One whose bound is zero, which no sum comes of, gets what makes its integers 1 at most.
    pub rows: Vec<i32>,
    /// One for each column of B, likewise.
    pub cols: Vec<i32>,
}

/// [`exponents`], with what they come from.
///
/// # Panics
/// When the shapes do not fit, or there are not so many moduli.
pub fn scaling(a: &Matrix, b: &Matrix, count: usize, bound: Bound) -> Option<Scaling> {
    assert_eq!(a.cols, b.rows);
    let half = half_product(count);
    let columns = b.transposed();
    let bits = bound.bits();
    let rows = Rounded::lines(a, bound)?;
    let cols = Rounded::lines(&columns, bound)?;
    let (u, w): (Vec<BigUint>, Vec<BigUint>) = match bound {
        Bound::Fast => {
            let squares = |line: &Rounded| line.values.iter().map(|&v| BigUint::from(v) * v).sum();
            (
                rows.iter().map(squares).collect(),
                cols.iter().map(squares).collect(),
            )
        }
        Bound::Accurate | Bound::Blocks => largest_sums(&rows, &cols),
    };
    let of = |lines: &[Rounded], sums: &[BigUint]| {
        lines
            .iter()
            .zip(sums)
            .map(|(line, sum)| largest_power(&half, sum).map_or(-line.top, |power| power + bits - line.top))
            .collect()
    };
    let exponents = Exponents {
        rows: of(&rows, &u),
        cols: of(&cols, &w),
    };
    Some(Scaling {
        rows,
        cols,
        bounds: [u, w],
        exponents,
    })
}

/// H: the largest number below half the product of `count` moduli.
///
/// # Panics
/// When there are not so many.
pub fn half_product(count: usize) -> BigUint {
    (product_of(count) - 1u32) >> 1
}

/// The exponents with what they come from.
pub struct Scaling {
    /// The rows of A, rounded up.
    pub rows: Vec<Rounded>,
    /// The columns of B, rounded up.
    pub cols: Vec<Rounded>,
    /// u of every row and w of every column.
    pub bounds: [Vec<BigUint>; 2],
    /// The exponents.
    pub exponents: Exponents,
}

/// The exponents for `count` moduli. `None` where a value is NaN or infinite.
///
/// # Panics
/// When the shapes do not fit, or there are not so many moduli.
pub fn exponents(a: &Matrix, b: &Matrix, count: usize, bound: Bound) -> Option<Exponents> {
    scaling(a, b, count, bound).map(|scaling| scaling.exponents)
}

/// The largest sum of products of each row with any column, and of each column with any row.
fn largest_sums(rows: &[Rounded], cols: &[Rounded]) -> (Vec<BigUint>, Vec<BigUint>) {
    let sum = |row: &Rounded, col: &Rounded| -> u64 {
        row.values
            .iter()
            .zip(&col.values)
            .map(|(&a, &b)| u64::from(a) * u64::from(b))
            .sum()
    };
    let largest = |lines: &[Rounded], others: &[Rounded]| -> Vec<BigUint> {
        lines
            .par_iter()
            .map(|line| {
                others
                    .iter()
                    .map(|other| sum(line, other))
                    .max()
                    .unwrap_or(0)
                    .into()
            })
            .collect()
    };
    (largest(rows, cols), largest(cols, rows))
}

/// The largest q with 4^q sum <= half; `None` for a sum of zero.
fn largest_power(half: &BigUint, sum: &BigUint) -> Option<i32> {
    if sum.bits() == 0 {
        return None;
    }
    // Within one of it by the number of bits; negative where the sum alone is above the half.
    let guess = (half.bits() as i32 - sum.bits() as i32).div_euclid(2);
    let fits = |power: i32| {
        let shift = 2 * power.unsigned_abs() as u64;
        if power >= 0 {
            sum << shift <= *half
        } else {
            *sum <= half << shift
        }
    };
    [guess + 1, guess, guess - 1]
        .into_iter()
        .find(|&power| fits(power))
}

/// A line's magnitudes, rounded up to multiples of 2^(top - [`Bound::bits`]), where all values are below 2^top.
pub struct Rounded {
    /// Rounded up, in units of 2^(top - bits): of the values, or of the norms of blocks.
    pub values: Vec<u32>,
    /// The norms that they are of, with [`Bound::Blocks`]; else none.
    pub norms: Vec<Norm>,
    /// Power of two above all values' magnitudes; 0 for a line of zeros.
    pub top: i32,
}

impl Rounded {
    /// Those of every row; `None` where a value is not finite.
    fn lines(matrix: &Matrix, bound: Bound) -> Option<Vec<Rounded>> {
        (0..matrix.rows)
            .map(|r| Rounded::of(matrix.row(r), bound))
            .collect()
    }

    /// Those of a line; `None` where a value is not finite.
    pub fn of(line: &[f64], bound: Bound) -> Option<Rounded> {
        let parts: Vec<_> = line.iter().map(|&v| parts(v)).collect::<Option<_>>()?;
        let top = top_of(&parts);
        let norms = match bound {
            Bound::Fast | Bound::Accurate => vec![],
            Bound::Blocks => norms(&parts),
        };
        let values = match bound {
            Bound::Fast | Bound::Accurate => parts
                .iter()
                .map(|parts| round_up(parts.mantissa.unsigned_abs(), parts.exponent + bound.bits() - top))
                .collect(),
            Bound::Blocks => norms.iter().map(|norm| norm.byte(top)).collect(),
        };
        Some(Rounded { values, norms, top })
    }
}

/// The least power of two above all magnitudes; 0 for zeros alone.
pub fn top_of(parts: &[Parts]) -> i32 {
    let length = |mantissa: i64| (64 - mantissa.unsigned_abs().leading_zeros()) as i32;
    parts
        .iter()
        .filter(|parts| parts.mantissa != 0)
        .map(|parts| parts.exponent + length(parts.mantissa))
        .max()
        .unwrap_or(0)
}

/// `magnitude` 2^`shift`, rounded up.
pub fn round_up(magnitude: u64, shift: i32) -> u32 {
    let magnitude = u128::from(magnitude);
    if shift >= 0 {
        (magnitude << shift) as u32
    } else {
        let down = shift.unsigned_abs().min(120);
        ((magnitude + (1 << down) - 1) >> down) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_power_is_the_largest() {
        for half in [1u64, 2, 3, 63, 64, 65, 1 << 40, (1 << 40) - 1] {
            for sum in [1u64, 2, 3, 4, 5, 1000, 1 << 39, 1 << 41, (1 << 50) + 1] {
                let power = largest_power(&half.into(), &sum.into()).unwrap();
                let at = |power: i32| sum as f64 * 4f64.powi(power);
                assert!(
                    at(power) <= half as f64 && at(power + 1) > half as f64,
                    "{half} {sum} {power}"
                );
            }
        }
        assert_eq!(largest_power(&1u32.into(), &0u32.into()), None);
    }

    #[test]
    fn magnitudes_are_rounded_up_and_fit_their_bits() {
        let line = Rounded::of(&[1.0, -0.999, 0.5, 1e-300, 0.0, -2f64.powi(-6)], Bound::Accurate).unwrap();
        assert_eq!((line.top, line.values), (1, vec![32, 32, 16, 1, 0, 1]));
        let line = Rounded::of(&[1f64.next_down(), f64::from_bits(1)], Bound::Accurate).unwrap();
        assert_eq!((line.top, line.values), (0, vec![64, 1]));
        let line = Rounded::of(&[f64::from_bits(3), -f64::from_bits(1)], Bound::Fast).unwrap();
        assert_eq!((line.top, line.values), (-1072, vec![3 << 21, 1 << 21]));
        assert_eq!(Rounded::of(&[0.0, -0.0], Bound::Accurate).unwrap().values, [0, 0]);
        assert!(Rounded::of(&[f64::NAN], Bound::Accurate).is_none());
    }

    /// The sum of all exponents: what a bound leaves of the values.
    fn kept(a: &Matrix, b: &Matrix, bound: Bound) -> i32 {
        let Exponents { rows, cols } = exponents(a, b, 15, bound).unwrap();
        rows.iter().chain(&cols).sum()
    }

    #[test]
    fn blocks_keep_nearly_what_the_values_own_product_does_where_neighbours_are_of_one_size() {
        let (lines, depth, seed) = (12, 320, 13);
        // A falls along K by 20 powers of two where B grows by them: the sums of squares know nothing of that.
        let graded = |k: usize| 2f64.powi(-((20 * k / depth) as i32));
        let mut seeded = crate::seeded::Seeded::new(seed);
        let mut a = crate::crt_gemm::uniform(lines, depth, &mut seeded);
        let mut b = crate::crt_gemm::uniform(depth, lines, &mut seeded);
        for k in 0..depth {
            for line in 0..lines {
                a.values[line * depth + k] *= graded(k);
                b.values[k * lines + line] *= graded(depth - 1 - k);
            }
        }
        let [accurate, blocks, fast] =
            [Bound::Accurate, Bound::Blocks, Bound::Fast].map(|bound| kept(&a, &b, bound));
        let exponents = 2 * lines as i32;
        assert!(
            blocks > fast + exponents && accurate < blocks + exponents,
            "seed {seed}: accurate {accurate}, blocks {blocks}, fast {fast}"
        );
    }
}
