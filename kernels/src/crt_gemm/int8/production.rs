//! The production workload: what a trial times.

use super::cases::{Bytes, sum};
use super::kernel::{C, Int8Kernel, Int8Problem};
use crate::crt_gemm::production::{edge, repeats};
use crate::family::Production;
use crate::seeded::Seeded;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Products of one pair of seeded matrices, over and over. Every batch brings the first row of C, which is held against the
/// host's sums.
pub struct Int8Production {
    kernel: Int8Kernel,
    problem: Int8Problem,
    repeats: u64,
    first_row: Vec<u32>,
}

impl Int8Production {
    /// Products of the variant's edge, halved until a batch is not much larger than what was asked for.
    pub fn new(kernel: Int8Kernel, request: &Production) -> Int8Production {
        let edge = edge(kernel.file.trial, request);
        let mut seeded = Seeded::new(request.seed);
        let (a, b) = (
            Bytes::random(edge, edge, &mut seeded),
            Bytes::random(edge, edge, &mut seeded),
        );
        let first_row = (0..edge).map(|c| sum(a.line(0), b.line(c)) as u32).collect();
        let problem = Int8Problem { a, b, gap: 0 };
        Int8Production {
            kernel,
            repeats: repeats(problem.shape(), request),
            problem,
            first_row,
        }
    }

    fn units(&self) -> u64 {
        self.repeats * self.problem.shape().units()
    }
}

impl Workload for Int8Production {
    fn setup(&self) -> Setup {
        self.kernel.setup(std::iter::once(&self.problem))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let mut steps = if index == 0 {
            self.kernel.uploads(&self.problem)
        } else {
            Vec::new()
        };
        for _ in 0..self.repeats {
            steps.extend(self.kernel.multiplication(&self.problem));
        }
        steps.push(Step::Download {
            buffer: C,
            words: self.first_row.len(),
        });
        Some(Batch {
            steps,
            units: self.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let [row] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        if let Some(c) = (0..self.first_row.len()).find(|&c| row.get(c) != self.first_row.get(c)) {
            return Err(Fault::Unconfirmed {
                batch: index,
                candidate: format!("C[0, {c}]"),
                what: format!("it is {:?} where the host has {}", row.get(c), self.first_row[c]),
            });
        }
        Ok(Collected {
            units: self.units(),
            ..Collected::default()
        })
    }
}
