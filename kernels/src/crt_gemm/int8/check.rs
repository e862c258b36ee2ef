//! Products whose every sum is compared with the host's.

use rayon::prelude::*;

use super::cases::{Int8Case, sum};
use super::kernel::{C, Int8Kernel, STALE};
use crate::crt_gemm::check::{Findings, not_formed_but};
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// The layer that this product forms.
const LAYER: &str = "accumulator";

/// The check: a batch for each case.
pub struct Int8Check {
    kernel: Int8Kernel,
    name: String,
    cases: Vec<Int8Case>,
    findings: Findings,
}

impl Int8Check {
    /// The check of `cases`.
    pub fn new(kernel: Int8Kernel, name: &str, cases: Vec<Int8Case>, findings: Findings) -> Int8Check {
        Int8Check {
            kernel,
            name: name.to_owned(),
            cases,
            findings,
        }
    }
}

impl Workload for Int8Check {
    fn setup(&self) -> Setup {
        self.kernel.setup(self.cases.iter().map(|case| &case.problem))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let Int8Case { problem, clear, .. } = self.cases.get(index as usize)?;
        let words = self.kernel.c_words(problem);
        let mut steps = self.kernel.uploads(problem);
        if *clear {
            steps.push(Step::Clear {
                buffer: C,
                words,
                value: STALE,
            });
        }
        steps.extend(self.kernel.multiplication(problem));
        steps.push(Step::Download { buffer: C, words });
        Some(Batch {
            steps,
            units: problem.shape().units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let Int8Case { name, problem, .. } = &self.cases[index as usize];
        let [got] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        let (cols, stride) = (problem.b.lines, self.kernel.c_stride(problem));
        // Padding that is written has sums of zeros.
        let written = self.kernel.written(problem);
        let expected: Vec<i32> = (0..self.kernel.c_words(problem))
            .into_par_iter()
            .map(|place| {
                let (r, c) = (place / stride, place % stride);
                if c < cols {
                    sum(problem.a.line(r), problem.b.line(c))
                } else if c < written {
                    0
                } else {
                    STALE as i32
                }
            })
            .collect();
        let place = |place: usize| {
            let (r, c) = (place / stride, place % stride);
            let what = if c < cols { "" } else { "the gap behind " };
            format!("{name}, {what}C[{r}, {c}]")
        };
        let got = got.iter().map(|&word| word as i32);
        self.findings.compare(LAYER, got, expected, place, i32::to_string);
        Ok(Collected {
            units: problem.shape().units(),
            ..Collected::default()
        })
    }
}

impl Check for Int8Check {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn finish(&mut self) -> Verdict {
        Verdict {
            not_formed: not_formed_but(&[LAYER]),
            ..self.findings.verdict()
        }
    }
}
