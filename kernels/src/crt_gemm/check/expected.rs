//! The host's answers to a product, layer by layer.

use rayon::prelude::*;

use crate::crt_gemm::problem::{Problem, Shape, Side};
use crate::crt_gemm::split2::{
    PRIMES, Pass, Slice, Slices, accumulator, admit, pass_sum, residue, scale, slices,
};
use crate::crt_gemm::{Matrix, Refusal};

/// What a refused product holds in every element.
pub const REFUSED: f64 = f64::from_bits(0x7ff8_0000_0000_0000);

/// One matrix, cut.
pub struct Cut {
    /// The slices of each value, line after line along K; `None` where the value has none.
    pub slices: Vec<Option<Slices>>,
    /// Number of lines.
    pub lines: usize,
    depth: usize,
    /// For each slice and prime, the residues of all values in the order of `slices`.
    residues: Vec<Vec<u8>>,
    /// For each slice, the values themselves, zero where there is none.
    values: [Vec<i64>; 2],
}

impl Cut {
    fn of(lines: &Matrix) -> Cut {
        let cut: Vec<Option<Slices>> = lines.values.iter().map(|&v| slices(v)).collect();
        let whole = |slice| {
            cut.iter()
                .map(|cut| cut.map_or(0, |cut| cut.get(slice)))
                .collect()
        };
        let values: [Vec<i64>; 2] = [whole(Slice::High), whole(Slice::Low)];
        let residues = values
            .iter()
            .flat_map(|values| {
                PRIMES.map(|prime| {
                    values
                        .iter()
                        .map(|&value| residue(value, prime))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        Cut {
            slices: cut,
            lines: lines.rows,
            depth: lines.cols,
            residues,
            values,
        }
    }

    /// The residue of value (line, k) in plane `plane`: first the high slice's seven, then the low one's.
    pub fn residue(&self, plane: usize, line: usize, k: usize) -> u8 {
        self.residues[plane][line * self.depth + k]
    }

    fn value_line(&self, slice: Slice, line: usize) -> &[i64] {
        &self.values[slice as usize][line * self.depth..][..self.depth]
    }

    fn residue_line(&self, slice: Slice, prime: usize, line: usize) -> &[u8] {
        &self.residues[slice as usize * PRIMES.len() + prime][line * self.depth..][..self.depth]
    }
}

/// The host's answers.
pub struct Expected {
    /// The shape.
    pub shape: Shape,
    /// A and B, cut.
    pub cuts: [Cut; 2],
    /// Why the product is refused, if it is.
    pub refusal: Option<Refusal>,
    /// The sums of each pass, element after element.
    sums: Vec<Vec<i128>>,
}

impl Expected {
    /// The answers to `problem`.
    pub fn of(problem: &Problem) -> Expected {
        let shape = problem.shape();
        let [a, b] = [Side::A, Side::B].map(|side| Cut::of(&problem.lines(side)));
        let sums = Pass::ALL.map(|pass| {
            by_element(shape, |r, c| {
                pass_sum(a.value_line(pass.a, r), b.value_line(pass.b, c))
            })
        });
        Expected {
            shape,
            cuts: [a, b],
            refusal: admit(&problem.a, &problem.b).err(),
            sums: sums.into(),
        }
    }

    /// The 32-bit sums of a pass and a prime, element after element; `None` where one does not fit.
    pub fn accumulators(&self, pass: usize, prime: usize) -> Vec<Option<i32>> {
        let [a, b] = &self.cuts;
        let Pass { a: left, b: right } = Pass::ALL[pass];
        by_element(self.shape, |r, c| {
            accumulator(a.residue_line(left, prime, r), b.residue_line(right, prime, c))
        })
    }

    /// The remainders of a pass modulo a prime: of the sums themselves, not of sums of residues.
    pub fn mods(&self, pass: usize, prime: usize) -> impl Iterator<Item = i32> + '_ {
        let prime = i128::from(PRIMES[prime]);
        self.sums[pass]
            .iter()
            .map(move |sum| sum.rem_euclid(prime) as i32)
    }

    /// The sums of a pass; `None` where the product is refused.
    pub fn sums(&self, pass: usize) -> impl Iterator<Item = Option<i64>> + '_ {
        let refused = self.refusal.is_some();
        self.sums[pass]
            .iter()
            .map(move |&sum| i64::try_from(sum).ok().filter(|_| !refused))
    }

    /// Element (r, c) of the result.
    pub fn c(&self, r: usize, c: usize) -> f64 {
        if self.refusal.is_some() {
            return REFUSED;
        }
        let place = r * self.shape.cols + c;
        // An admitted product's sums are within half the primes' product.
        scale([0, 1, 2, 3].map(|pass| self.sums[pass][place] as i64))
    }
}

fn by_element<T: Send>(shape: Shape, value: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    (0..shape.elements())
        .into_par_iter()
        .map(|place| value(place / shape.cols, place % shape.cols))
        .collect()
}
