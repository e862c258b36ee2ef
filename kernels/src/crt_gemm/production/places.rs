//! How large the matrices are, how often a batch multiplies them, and which elements are looked at.

use std::collections::BTreeSet;

use crate::crt_gemm::options::TrialOptions;
use crate::crt_gemm::problem::Shape;
use crate::family::Production;
use crate::seeded::Seeded;

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

/// How many products of a shape make a batch.
pub fn repeats(shape: Shape, request: &Production) -> u64 {
    (request.batch_units / shape.units().max(1)).max(1)
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
