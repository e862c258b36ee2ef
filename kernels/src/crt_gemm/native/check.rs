//! Products whose every element is held against the exact one.

use super::kernel::{A, B, C, allowed, element, gemm, setup};
use crate::crt_gemm::check::{Case, Findings, not_formed_but};
use crate::crt_gemm::kernel::STALE;
use crate::crt_gemm::problem::Side;
use crate::crt_gemm::words;
use crate::family::{Check, Verdict};
use crate::library::GemmKind;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// The layer that the library forms.
const LAYER: &str = "scale";

/// The check: a batch for each case.
pub struct NativeCheck {
    variant: String,
    kind: GemmKind,
    name: String,
    cases: Vec<Case>,
    findings: Findings,
}

impl NativeCheck {
    /// The check of those `cases` that have elements and a K: the library takes no others.
    pub fn new(
        variant: &str,
        kind: GemmKind,
        name: &str,
        cases: Vec<Case>,
        findings: Findings,
    ) -> NativeCheck {
        let multiplies = |case: &Case| case.problem.shape().units() > 0;
        NativeCheck {
            variant: variant.to_owned(),
            kind,
            name: name.to_owned(),
            cases: cases.into_iter().filter(multiplies).collect(),
            findings,
        }
    }
}

impl Workload for NativeCheck {
    fn setup(&self) -> Setup {
        setup(
            &self.variant,
            self.cases.iter().map(|case| case.problem.geometry()),
        )
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let Case { problem, clear, .. } = self.cases.get(index as usize)?;
        let geometry = problem.geometry();
        let words = 2 * geometry.c_doubles();
        let mut steps: Vec<Step> = [(A, Side::A), (B, Side::B)]
            .map(|(buffer, side)| Step::Upload {
                buffer,
                words: words::of_doubles(&problem.stored(side)),
            })
            .into();
        if *clear {
            steps.push(Step::Clear {
                buffer: C,
                words,
                value: STALE,
            });
        }
        steps.push(Step::Gemm(gemm(&geometry, self.kind)));
        steps.push(Step::Download { buffer: C, words });
        Some(Batch {
            steps,
            units: problem.shape().units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let Case { name, problem, .. } = &self.cases[index as usize];
        let [words] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        let (shape, stride) = (problem.shape(), problem.geometry().c_stride());
        let got: Vec<f64> = words::doubles(words).collect();
        let stale = u64::from(STALE) << 32 | u64::from(STALE);
        for (place, &got) in got.iter().enumerate() {
            let (r, c) = (place / stride, place % stride);
            // Whether it is right, and what it should be.
            let (right, expected) = if c < shape.cols {
                let bound = element(self.kind, &problem.a, &problem.b, r, c);
                (allowed(got, bound), format!("{:e} within {:e}", bound.0, bound.1))
            } else {
                (got.to_bits() == stale, "untouched".to_owned())
            };
            self.findings.compare(
                LAYER,
                [right],
                [true],
                |_| format!("{name}, C[{r}, {c}]"),
                |right| {
                    if *right {
                        expected.clone()
                    } else {
                        format!("{got:e}")
                    }
                },
            );
        }
        Ok(Collected {
            units: shape.units(),
            ..Collected::default()
        })
    }
}

impl Check for NativeCheck {
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
