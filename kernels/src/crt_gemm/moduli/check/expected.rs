//! The host's answers to a product, layer by layer.

use num_bigint::BigInt;
use rayon::prelude::*;

use crate::crt_gemm::Matrix;
use crate::crt_gemm::moduli::kernel::lines;
use crate::crt_gemm::moduli::oracle::{Truncated, truncated};
use crate::crt_gemm::moduli::scaling::{Bound, Scaling, scaling};
use crate::crt_gemm::moduli::table::{MODULI, balanced};
use crate::crt_gemm::problem::{Problem, Shape, Side};

/// What a refused product holds in every element.
pub const REFUSED: f64 = f64::from_bits(0x7ff8_0000_0000_0000);

/// Bits of a cut value's lower half.
const HALF_BITS: u32 = 44;

/// The host's answers. Values that are not finite count as zeros, up to where the product is refused.
pub struct Expected {
    /// The shape.
    pub shape: Shape,
    /// How many moduli.
    pub count: usize,
    /// Magnitudes, bounds and exponents.
    pub scaling: Scaling,
    /// Whether a value is not finite.
    pub refused: bool,
    /// The cut values, line after line along K.
    pub cuts: [Vec<i128>; 2],
    /// For each modulus, the residues in the order of `cuts`.
    residues: [Vec<Vec<i8>>; 2],
    truncated: Truncated,
    /// The exact sums, element after element.
    pub sums: Vec<BigInt>,
}

impl Expected {
    /// The answers to `problem` with `count` moduli.
    pub fn of(problem: &Problem, count: usize, bound: Bound) -> Expected {
        let shape = problem.shape();
        let (a, b) = (finite(&problem.a), finite(&problem.b));
        let refused = [&problem.a, &problem.b]
            .iter()
            .any(|matrix| matrix.values.iter().any(|v| !v.is_finite()));
        let none = "every value is finite here";
        let scaling = scaling(&a, &b, count, bound).expect(none);
        let truncated = truncated(&a, &b, &scaling.exponents).expect(none);
        let cuts = [&truncated.a, &truncated.b].map(|cut| -> Vec<i128> {
            let small = |v| i128::try_from(v).expect("a cut value has 96 bits and a sign");
            cut.iter().map(small).collect()
        });
        let residues = cuts.each_ref().map(|cuts| {
            let of = |&modulus: &u32| -> Vec<i8> {
                let residue = |v: &i128| balanced(v.rem_euclid(modulus.into()) as u32, modulus);
                cuts.iter().map(residue).collect()
            };
            MODULI[..count].par_iter().map(of).collect()
        });
        let sums = sums(shape, &cuts);
        Expected {
            shape,
            count,
            scaling,
            refused,
            cuts,
            residues,
            truncated,
            sums,
        }
    }

    /// Tops, biased as the kernel stores them: 0 for a line of zeros.
    pub fn tops(&self, side: Side) -> impl Iterator<Item = u32> + '_ {
        self.rounded(side).iter().map(|line| {
            let zero = line.values.iter().all(|&v| v == 0);
            if zero { 0 } else { (line.top + 1075) as u32 }
        })
    }

    /// The lines' magnitudes.
    pub fn rounded(&self, side: Side) -> &[crate::crt_gemm::moduli::scaling::Rounded] {
        match side {
            Side::A => &self.scaling.rows,
            Side::B => &self.scaling.cols,
        }
    }

    /// The lines' bounds.
    pub fn bounds(&self, side: Side) -> impl Iterator<Item = u64> + '_ {
        let bounds = &self.scaling.bounds[side as usize];
        bounds
            .iter()
            .map(|bound| u64::try_from(bound).expect("a bound has 64 bits"))
    }

    /// The lines' exponents.
    pub fn exponents(&self, side: Side) -> &[i32] {
        match side {
            Side::A => &self.scaling.exponents.rows,
            Side::B => &self.scaling.exponents.cols,
        }
    }

    /// A residue.
    pub fn residue(&self, side: Side, modulus: usize, line: usize, k: usize) -> i8 {
        self.residues[side as usize][modulus][line * self.shape.depth + k]
    }

    /// Number of lines.
    pub fn lines(&self, side: Side) -> usize {
        lines(self.shape, side)
    }

    /// The 32-bit sums of one modulus, element after element; they wrap.
    pub fn accumulators(&self, modulus: usize) -> Vec<i32> {
        let [a, b] = self.residues.each_ref().map(|all| &all[modulus]);
        let depth = self.shape.depth;
        by_element(self.shape, |r, c| {
            let (row, col) = (&a[r * depth..][..depth], &b[c * depth..][..depth]);
            let products = row.iter().zip(col).map(|(&a, &b)| i64::from(a) * i64::from(b));
            products.sum::<i64>() as i32
        })
    }

    /// The remainder of an element: of its exact sum, not of sums of residues.
    pub fn remainder(&self, modulus: usize, place: usize) -> u8 {
        let modulus = BigInt::from(MODULI[modulus]);
        let remainder = (&self.sums[place] % &modulus + &modulus) % &modulus;
        u8::try_from(&remainder).expect("below the modulus")
    }

    /// Element (r, c) of the result.
    pub fn c(&self, r: usize, c: usize) -> f64 {
        if self.refused {
            return REFUSED;
        }
        self.truncated
            .scaled_back(&self.sums[r * self.shape.cols + c], r, c)
    }
}

/// The matrix with zeros for what is not finite.
fn finite(matrix: &Matrix) -> Matrix {
    let values = matrix.values.iter();
    Matrix {
        rows: matrix.rows,
        cols: matrix.cols,
        values: values.map(|&v| if v.is_finite() { v } else { 0.0 }).collect(),
    }
}

/// Every exact sum. A cut value is high * 2^44 + low, below 2^52 and 2^44: sums of products of such fit 128 bits.
fn sums(shape: Shape, cuts: &[Vec<i128>; 2]) -> Vec<BigInt> {
    let halves = cuts.each_ref().map(|cuts| -> Vec<(i128, i128)> {
        let halves = |&v: &i128| (v >> HALF_BITS, v & ((1 << HALF_BITS) - 1));
        cuts.iter().map(halves).collect()
    });
    by_element(shape, |r, c| {
        let line = |side: usize, line: usize| &halves[side][line * shape.depth..][..shape.depth];
        let mut parts = [0i128; 3];
        for (a, b) in line(0, r).iter().zip(line(1, c)) {
            parts[0] += a.1 * b.1;
            parts[1] += a.0 * b.1 + a.1 * b.0;
            parts[2] += a.0 * b.0;
        }
        let [low, middle, high] = parts.map(BigInt::from);
        (((high << HALF_BITS) + middle) << HALF_BITS) + low
    })
}

fn by_element<T: Send>(shape: Shape, value: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    (0..shape.elements())
        .into_par_iter()
        .map(|place| value(place / shape.cols, place % shape.cols))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crt_gemm::wide;
    use crate::seeded::Seeded;

    #[test]
    fn sums_by_halves_are_those_of_big_integers() {
        let mut seeded = Seeded::new(11);
        let problem = Problem::new(wide(4, 30, 2.0, &mut seeded), wide(30, 3, 2.0, &mut seeded));
        for count in [2, 15, 21] {
            let expected = Expected::of(&problem, count, Bound::Accurate);
            for (place, sum) in expected.sums.iter().enumerate() {
                assert_eq!(
                    *sum,
                    expected.truncated.sum(place / 3, place % 3),
                    "{count}: {place}"
                );
            }
        }
    }
}
