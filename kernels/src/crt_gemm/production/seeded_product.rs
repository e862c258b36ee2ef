//! A product of two seeded square matrices, and what a device made of it.

use rayon::prelude::*;

use super::multiplier::{Element, Multiplier};
use super::places::places_of;
use crate::crt_gemm::problem::{Problem, Shape, Side};
use crate::crt_gemm::{uniform, words};
use crate::seeded::Seeded;
use crate::workload::{Outputs, Setup, Step};

/// The product, of values uniform in -1 to 1, and the seeded places that are looked at.
pub struct SeededProduct<M> {
    /// How it is multiplied.
    pub multiplier: M,
    problem: Problem,
    places: Vec<(usize, usize)>,
}

/// An element that was looked at.
pub struct Finding {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub col: usize,
    /// Its value.
    pub value: f64,
    /// What the host has instead, where it has something else.
    pub outcome: Result<(), String>,
}

impl<M: Multiplier> SeededProduct<M> {
    /// The product of that edge and seed, of which so many elements are looked at.
    pub fn new(multiplier: M, edge: usize, seed: u64, samples: usize) -> SeededProduct<M> {
        let mut seeded = Seeded::new(seed);
        let (a, b) = (uniform(edge, edge, &mut seeded), uniform(edge, edge, &mut seeded));
        let problem = Problem::new(a, b);
        SeededProduct {
            multiplier,
            places: places_of(problem.shape(), samples, &mut seeded)
                .into_iter()
                .collect(),
            problem,
        }
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.problem.shape()
    }

    /// How many elements are looked at.
    pub fn samples(&self) -> usize {
        self.places.len()
    }

    /// What to build.
    pub fn setup(&self) -> Setup {
        self.multiplier.setup(self.problem.geometry())
    }

    /// Both matrices to the device.
    pub fn uploads(&self) -> Vec<Step> {
        let upload = |(buffer, side)| Step::Upload {
            buffer,
            words: words::of_doubles(&self.problem.stored(side)),
        };
        let sides = [Side::A, Side::B].into_iter();
        self.multiplier
            .inputs()
            .into_iter()
            .zip(sides)
            .map(upload)
            .collect()
    }

    /// The steps of a product.
    pub fn steps(&self) -> Vec<Step> {
        self.multiplier.steps(&self.problem.geometry())
    }

    /// Everything that [`SeededProduct::findings`] reads.
    pub fn downloads(&self) -> Vec<Step> {
        let result = (self.multiplier.result(), 2 * self.shape().elements());
        let evidence = self.multiplier.evidence(self.shape());
        evidence
            .into_iter()
            .chain([result])
            .map(|(buffer, words)| Step::Download { buffer, words })
            .collect()
    }

    /// The first `words` words of C, and what the host says of every element that is looked at, on all cores.
    ///
    /// # Errors
    /// When there are not as many downloads as were asked for, or not as long.
    pub fn findings(&self, mut outputs: Outputs) -> Result<(Vec<u32>, Vec<Finding>), String> {
        let wanted: Vec<usize> = self
            .downloads()
            .iter()
            .filter_map(|step| match step {
                Step::Download { words, .. } => Some(*words),
                _ => None,
            })
            .collect();
        let lengths: Vec<usize> = outputs.iter().map(Vec::len).collect();
        if lengths != wanted {
            return Err(format!("downloads of {lengths:?} words instead of {wanted:?}"));
        }
        // The last one is C: there is always one.
        let c = outputs.pop().unwrap_or_default();
        let Shape { cols, depth, .. } = self.shape();
        let finding = |&(row, col): &(usize, usize)| {
            let at = 2 * (row * cols + col);
            let value = f64::from_bits(u64::from(c[at]) | u64::from(c[at + 1]) << 32);
            let column: Vec<f64> = (0..depth).map(|k| self.problem.b.at(k, col)).collect();
            let element = Element {
                row,
                col,
                value,
                line: self.problem.a.row(row),
                column: &column,
            };
            let outcome = self.multiplier.confirm(&element, &outputs);
            Finding {
                row,
                col,
                value,
                outcome,
            }
        };
        let findings = self.places.par_iter().map(finding).collect();
        Ok((c, findings))
    }
}
