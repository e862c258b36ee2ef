//! The production workload: what a trial times.

use std::collections::BTreeSet;

use super::buffers::Place;
use super::confirm::Claim;
use super::kernel::ModuliKernel;
use crate::crt_gemm::problem::{Problem, Shape, Side};
use crate::crt_gemm::production::{edge, spot_checks};
use crate::crt_gemm::{Refusal, uniform, words};
use crate::family::Production;
use crate::seeded::Seeded;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Products of one pair of seeded matrices, over and over. The first batch brings the exponents and the whole of C, of which
/// seeded elements are held against the host's whole numbers under those exponents; every later one brings the first row,
/// which must be the same bit for bit. That the exponents are the right ones is what a validation proves.
pub struct ModuliProduction {
    kernel: ModuliKernel,
    problem: Problem,
    count: usize,
    repeats: u64,
    places: BTreeSet<(usize, usize)>,
    first_row: Vec<u32>,
}

impl ModuliProduction {
    /// Products of the variant's edge, halved until a batch is not much larger than what was asked for.
    ///
    /// # Errors
    /// When the edge is beyond what 32-bit sums or the moduli hold.
    pub fn new(kernel: ModuliKernel, request: &Production) -> Result<ModuliProduction, Refusal> {
        let edge = edge(kernel.file.trial, request);
        let count = kernel.count(edge)?;
        let mut seeded = Seeded::new(request.seed);
        let (a, b) = (uniform(edge, edge, &mut seeded), uniform(edge, edge, &mut seeded));
        let problem = Problem::new(a, b);
        let places = spot_checks(problem.shape(), &mut seeded);
        Ok(ModuliProduction {
            kernel,
            count,
            repeats: (request.batch_units / problem.shape().units().max(1)).max(1),
            problem,
            places,
            first_row: Vec::new(),
        })
    }

    fn units(&self) -> u64 {
        self.repeats * self.problem.shape().units()
    }

    fn confirm(&self, batch: u64, [rows, cols, c]: &[Vec<u32>; 3]) -> Result<(), Fault> {
        let Shape {
            cols: width, depth, ..
        } = self.problem.shape();
        let values: Vec<f64> = words::doubles(c).collect();
        for &(row, col) in &self.places {
            let claim = Claim {
                row,
                col,
                value: values[row * width + col],
                exponents: (rows[row] as i32, cols[col] as i32),
            };
            let column = (0..depth).map(|k| self.problem.b.at(k, col)).collect();
            claim.confirm(batch, self.problem.a.row(row).to_vec(), column, self.count)?;
        }
        Ok(())
    }
}

impl Workload for ModuliProduction {
    fn setup(&self) -> Setup {
        self.kernel
            .setup(std::iter::once((self.problem.geometry(), self.count)))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let shape = self.problem.shape();
        let sides = [Side::A, Side::B];
        let mut steps = Vec::new();
        if index == 0 {
            steps.extend(sides.map(|side| Step::Upload {
                buffer: Place::Values(side).id(),
                words: words::of_doubles(&self.problem.stored(side)),
            }));
        }
        for _ in 0..self.repeats {
            steps.extend(self.kernel.steps(&self.problem.geometry(), self.count));
        }
        let download = |place: Place, words| Step::Download {
            buffer: place.id(),
            words,
        };
        if index == 0 {
            steps.push(download(Place::Exponents(Side::A), shape.rows));
            steps.push(download(Place::Exponents(Side::B), shape.cols));
        }
        let rows = if index == 0 { shape.rows } else { 1 };
        steps.push(download(Place::C, 2 * rows * shape.cols));
        Some(Batch {
            steps,
            units: self.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let malformed = |outputs: Outputs| Fault::Malformed {
            batch: index,
            what: format!(
                "{} downloads instead of {}",
                outputs.len(),
                if index == 0 { 3 } else { 1 }
            ),
        };
        if index == 0 {
            let outputs: [Vec<u32>; 3] = outputs.try_into().map_err(malformed)?;
            self.confirm(index, &outputs)?;
            let [_, _, c] = outputs;
            self.first_row = c[..2 * self.problem.shape().cols].to_vec();
        } else {
            let [row]: [Vec<u32>; 1] = outputs.try_into().map_err(malformed)?;
            if row != self.first_row {
                return Err(Fault::Unconfirmed {
                    batch: index,
                    candidate: "row 0 of C".to_owned(),
                    what: "the same product came out differently".to_owned(),
                });
            }
        }
        Ok(Collected {
            units: self.units(),
            ..Collected::default()
        })
    }
}
