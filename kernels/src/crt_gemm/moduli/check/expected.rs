//! The host's answers to a product, layer by layer.

use num_bigint::BigInt;
use rayon::prelude::*;

use crate::crt_gemm::Matrix;
use crate::crt_gemm::moduli::kernel::lines;
use crate::crt_gemm::moduli::oracle::{Integers, integers};
use crate::crt_gemm::moduli::scaling::{Scaling, scaling};
use crate::crt_gemm::moduli::table::{FOLD_DEPTH, MODULI, Residues};
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::problem::{Problem, Shape, Side};

/// What a refused product holds in every element.
pub const REFUSED: f64 = f64::from_bits(0x7ff8_0000_0000_0000);

/// Bits of an integer's lower half.
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
    /// The integers, line after line along K.
    pub integers: [Vec<i128>; 2],
    /// Which residues are multiplied.
    kind: Residues,
    /// For each modulus, the residues in the order of `integers`.
    residues: [Vec<Vec<u8>>; 2],
    scaled: Integers,
    /// The exact sums, element after element.
    pub sums: Vec<BigInt>,
}

impl Expected {
    /// The answers to `problem` with `count` moduli.
    pub fn of(problem: &Problem, count: usize, file: &VariantFile) -> Expected {
        let kind = file.residues();
        let shape = problem.shape();
        let (a, b) = (finite(&problem.a), finite(&problem.b));
        let refused = [&problem.a, &problem.b]
            .iter()
            .any(|matrix| matrix.values.iter().any(|v| !v.is_finite()));
        let none = "every value is finite here";
        let scaling = scaling(&a, &b, count, file.bound()).expect(none);
        let scaled = integers(&a, &b, &scaling.exponents).expect(none);
        let integers = [&scaled.a, &scaled.b].map(|integers| -> Vec<i128> {
            let small = |v| i128::try_from(v).expect("an integer has 96 bits and a sign");
            integers.iter().map(small).collect()
        });
        let residues = integers.each_ref().map(|integers| {
            let of = |&modulus: &u32| -> Vec<u8> {
                let byte = |v: &i128| kind.byte(v.rem_euclid(modulus.into()) as u32, modulus);
                integers.iter().map(byte).collect()
            };
            MODULI[..count].par_iter().map(of).collect()
        });
        let sums = sums(shape, &integers);
        Expected {
            shape,
            count,
            scaling,
            refused,
            integers,
            kind,
            residues,
            scaled,
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

    /// A residue's byte.
    pub fn residue(&self, side: Side, modulus: usize, line: usize, k: usize) -> u8 {
        self.residues[side as usize][modulus][line * self.shape.depth + k]
    }

    /// Number of lines.
    pub fn lines(&self, side: Side) -> usize {
        lines(self.shape, side)
    }

    /// The 32-bit sums of one modulus, element after element; they wrap, or are folded.
    pub fn accumulators(&self, modulus: usize) -> Vec<i32> {
        let [a, b] = self.residues.each_ref().map(|all| &all[modulus]);
        let depth = self.shape.depth;
        by_element(self.shape, |r, c| {
            let (row, col) = (&a[r * depth..][..depth], &b[c * depth..][..depth]);
            let sum = |row: &[u8], col: &[u8]| -> i64 {
                let product = |(&a, &b)| i64::from(self.kind.value(a) * self.kind.value(b));
                row.iter().zip(col).map(product).sum()
            };
            let sum = match self.kind {
                Residues::Balanced => sum(row, col),
                Residues::Least => {
                    let parts = row.chunks(FOLD_DEPTH).zip(col.chunks(FOLD_DEPTH));
                    parts.fold(0, |before, (row, col)| {
                        before % i64::from(MODULI[modulus]) + sum(row, col)
                    })
                }
            };
            sum as i32
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
        self.scaled.scaled_back(&self.sums[r * self.shape.cols + c], r, c)
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

/// Every exact sum. An integer is high * 2^44 + low, below 2^52 and 2^44: sums of products of such fit 128 bits.
fn sums(shape: Shape, integers: &[Vec<i128>; 2]) -> Vec<BigInt> {
    let halves = integers.each_ref().map(|integers| -> Vec<(i128, i128)> {
        let halves = |&v: &i128| (v >> HALF_BITS, v & ((1 << HALF_BITS) - 1));
        integers.iter().map(halves).collect()
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
        let file =
            VariantFile::parse(include_str!("../../../../../variants/crt-gemm/moduli-naive.toml")).unwrap();
        for count in [8, 15, 21] {
            let expected = Expected::of(&problem, count, &file);
            for (place, sum) in expected.sums.iter().enumerate() {
                assert_eq!(
                    *sum,
                    expected.scaled.sum(place / 3, place % 3),
                    "{count}: {place}"
                );
            }
        }
    }
}
