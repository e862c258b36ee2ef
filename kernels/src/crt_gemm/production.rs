//! The production workload: what a trial times.

use std::collections::BTreeSet;

use super::Matrix;
use super::kernel::{Kernel, Place};
use super::options::TrialOptions;
use super::problem::{Problem, Shape, Side};
use super::split2::{Pass, pass_sum, scale, slices};
use super::{uniform, words};
use crate::family::Production;
use crate::seeded::Seeded;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Elements of the first product that are computed anew on the host.
const SPOT_CHECKS: usize = 64;

/// A batch may be so much larger than what was asked for before the matrices shrink instead.
const SLACK: u64 = 16;

/// The edge of a production's matrices: one asked for by name as it is; that of the variant's file halved until a batch is
/// not much larger than what was asked for.
pub fn edge(trial: TrialOptions, request: &Production) -> usize {
    let mut edge = trial.edge as usize;
    while !trial.fixed && edge > 16 && (edge as u64).pow(3) > SLACK.saturating_mul(request.batch_units.max(1))
    {
        edge /= 2;
    }
    edge
}

/// Seeded places of C that are computed anew on the host: all of them where there are no more than that.
pub fn spot_checks(shape: Shape, seeded: &mut Seeded) -> BTreeSet<(usize, usize)> {
    places_of(shape, SPOT_CHECKS, seeded)
}

/// So many different seeded places of C, or all of them.
pub fn places_of(shape: Shape, count: usize, seeded: &mut Seeded) -> BTreeSet<(usize, usize)> {
    let Shape { rows, cols, .. } = shape;
    if shape.elements() <= count {
        return (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).collect();
    }
    let mut places = BTreeSet::new();
    while places.len() < count {
        let mut below = |bound: usize| seeded.below(bound as u64) as usize;
        places.insert((below(rows), below(cols)));
    }
    places
}

/// Products of one pair of seeded matrices, over and over. The first batch brings the whole of C, of which seeded elements are
/// held against the host's integers; every later one brings the first row, which must be the same bit for bit.
pub struct ProductionWorkload {
    kernel: Kernel,
    problem: Problem,
    repeats: u64,
    places: BTreeSet<(usize, usize)>,
    first_row: Vec<u32>,
}

impl ProductionWorkload {
    /// Products of the variant's edge, halved until a batch is not much larger than what was asked for.
    pub fn new(kernel: Kernel, request: &Production) -> ProductionWorkload {
        let edge = edge(kernel.file.trial, request);
        let mut seeded = Seeded::new(request.seed);
        let (a, b) = (uniform(edge, edge, &mut seeded), uniform(edge, edge, &mut seeded));
        let problem = Problem::new(a, b);
        let places = spot_checks(problem.shape(), &mut seeded);
        ProductionWorkload {
            kernel,
            repeats: (request.batch_units / problem.shape().units().max(1)).max(1),
            problem,
            places,
            first_row: Vec::new(),
        }
    }

    fn shape(&self) -> Shape {
        self.problem.shape()
    }

    fn units(&self) -> u64 {
        self.repeats * self.shape().units()
    }

    /// Element (r, c) by the host's integers.
    fn element(&self, r: usize, c: usize) -> f64 {
        let cut = |line: Vec<f64>, slice| -> Vec<i64> {
            // The values are seeded and at most one.
            line.iter()
                .map(|&v| slices(v).map_or(0, |slices| slices.get(slice)))
                .collect()
        };
        let row = self.problem.a.row(r).to_vec();
        let column: Vec<f64> = (0..self.shape().depth).map(|k| self.problem.b.at(k, c)).collect();
        scale(Pass::ALL.map(|pass| pass_sum(&cut(row.clone(), pass.a), &cut(column.clone(), pass.b)) as i64))
    }

    fn confirm(&self, index: u64, c: &Matrix) -> Result<(), Fault> {
        for &(r, col) in &self.places {
            let (got, expected) = (c.at(r, col), self.element(r, col));
            if got.to_bits() != expected.to_bits() {
                return Err(Fault::Unconfirmed {
                    batch: index,
                    candidate: format!("C[{r}, {col}]"),
                    what: format!("it is {got:e} where the host has {expected:e}"),
                });
            }
        }
        Ok(())
    }
}

impl Workload for ProductionWorkload {
    fn setup(&self) -> Setup {
        self.kernel.setup(std::iter::once(self.problem.geometry()))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let shape = self.shape();
        let mut steps = Vec::new();
        if index == 0 {
            for (place, side) in [(Place::A, Side::A), (Place::B, Side::B)] {
                steps.push(Step::Upload {
                    buffer: place.id(),
                    words: words::of_doubles(&self.problem.stored(side)),
                });
            }
        }
        for _ in 0..self.repeats {
            steps.extend(self.kernel.launches(&self.problem.geometry()));
        }
        let rows = if index == 0 { shape.rows } else { 1 };
        steps.push(Step::Download {
            buffer: Place::C.id(),
            words: 2 * rows * shape.cols,
        });
        Some(Batch {
            steps,
            units: self.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let shape = self.shape();
        let [c] = outputs.as_slice() else {
            return Err(Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            });
        };
        if index == 0 {
            let c_matrix = Matrix {
                rows: shape.rows,
                cols: shape.cols,
                values: words::doubles(c).collect(),
            };
            self.confirm(index, &c_matrix)?;
            self.first_row = c[..2 * shape.cols].to_vec();
        } else if *c != self.first_row {
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
