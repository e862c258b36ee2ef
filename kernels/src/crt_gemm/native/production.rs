//! The production workload: what a trial times.

use std::collections::BTreeSet;

use super::kernel::{A, B, C, confirm, element, gemm, setup};
use crate::crt_gemm::options::TrialOptions;
use crate::crt_gemm::problem::{Problem, Side};
use crate::crt_gemm::production::{edge, spot_checks};
use crate::crt_gemm::{uniform, words};
use crate::family::Production;
use crate::library::GemmKind;
use crate::seeded::Seeded;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Products of one pair of seeded matrices, over and over; seeded elements of the first batch are held against the exact
/// ones, and every later batch's first row must be the same bit for bit.
pub struct NativeProduction {
    variant: String,
    kind: GemmKind,
    problem: Problem,
    repeats: u64,
    places: BTreeSet<(usize, usize)>,
    first_row: Vec<u32>,
}

impl NativeProduction {
    /// Products of the edge of the variant's file, halved until a batch is not much larger than what was asked for.
    pub fn new(variant: &str, kind: GemmKind, trial: TrialOptions, request: &Production) -> NativeProduction {
        let edge = edge(trial, request);
        let mut seeded = Seeded::new(request.seed);
        let (a, b) = (uniform(edge, edge, &mut seeded), uniform(edge, edge, &mut seeded));
        let problem = Problem::new(a, b);
        let places = spot_checks(problem.shape(), &mut seeded);
        NativeProduction {
            variant: variant.to_owned(),
            kind,
            repeats: (request.batch_units / problem.shape().units().max(1)).max(1),
            problem,
            places,
            first_row: Vec::new(),
        }
    }

    fn units(&self) -> u64 {
        self.repeats * self.problem.shape().units()
    }
}

impl Workload for NativeProduction {
    fn setup(&self) -> Setup {
        setup(&self.variant, std::iter::once(self.problem.geometry()))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let shape = self.problem.shape();
        let mut steps = Vec::new();
        if index == 0 {
            steps.extend([(A, Side::A), (B, Side::B)].map(|(buffer, side)| Step::Upload {
                buffer,
                words: words::of_doubles(&self.problem.stored(side)),
            }));
        }
        steps.extend((0..self.repeats).map(|_| Step::Gemm(gemm(&self.problem.geometry(), self.kind))));
        let rows = if index == 0 { shape.rows } else { 1 };
        steps.push(Step::Download {
            buffer: C,
            words: 2 * rows * shape.cols,
        });
        Some(Batch {
            steps,
            units: self.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let [words] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        let cols = self.problem.shape().cols;
        if index == 0 {
            let values: Vec<f64> = words::doubles(words).collect();
            for &(r, c) in &self.places {
                let bound = element(self.kind, &self.problem.a, &self.problem.b, r, c);
                confirm(index, (r, c), values[r * cols + c], bound)?;
            }
            self.first_row = words[..2 * cols].to_vec();
        } else if *words != self.first_row {
            return Err(Fault::Unconfirmed {
                batch: index,
                candidate: "row 0 of C".to_owned(),
                what: "the same product came out differently".to_owned(),
            });
        }
        Ok(Collected {
            units: self.units(),
            ..Collected::default()
        })
    }
}
