//! Natural loops.

use std::collections::{BTreeMap, BTreeSet};

use super::SassError;
use super::dominators::Dominators;
use super::graph::Graph;

/// A loop: all blocks from which its header can be reached without leaving it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loop {
    pub header: usize,
    pub blocks: BTreeSet<usize>,
    /// The smallest loop around it.
    pub parent: Option<usize>,
}

/// The loops of `graph` among the blocks `within`, which start at `start`, by header in ascending order.
pub(super) fn natural_loops(
    graph: &Graph,
    within: &BTreeSet<usize>,
    start: usize,
) -> Result<Vec<Loop>, SassError> {
    let successors: Vec<Vec<usize>> = (0..graph.blocks.len())
        .map(|block| {
            if within.contains(&block) {
                graph.blocks[block].successors.clone()
            } else {
                Vec::new()
            }
        })
        .collect();
    let dominators = Dominators::new(&successors, start);
    let mut bodies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &from in within {
        for &to in &successors[from] {
            if dominators.dominates(to, from) {
                bodies
                    .entry(to)
                    .or_insert_with(|| BTreeSet::from([to]))
                    .extend(body(&successors, to, from));
            }
        }
    }
    check_reducible(graph, &successors, &dominators, within)?;
    let mut loops: Vec<Loop> = bodies
        .into_iter()
        .map(|(header, blocks)| Loop {
            header,
            blocks,
            parent: None,
        })
        .collect();
    for inner in 0..loops.len() {
        let around = |outer: &usize| *outer != inner && loops[*outer].blocks.contains(&loops[inner].header);
        let parent = (0..loops.len())
            .filter(around)
            .min_by_key(|outer| loops[*outer].blocks.len());
        loops[inner].parent = parent;
    }
    Ok(loops)
}

fn body(successors: &[Vec<usize>], header: usize, latch: usize) -> BTreeSet<usize> {
    let mut blocks = BTreeSet::from([header, latch]);
    let mut open = if latch == header { Vec::new() } else { vec![latch] };
    while let Some(block) = open.pop() {
        for from in (0..successors.len()).filter(|from| successors[*from].contains(&block)) {
            if blocks.insert(from) {
                open.push(from);
            }
        }
    }
    blocks
}

/// Without the jumps back to a dominator there must be no cycle left.
fn check_reducible(
    graph: &Graph,
    successors: &[Vec<usize>],
    dominators: &Dominators,
    within: &BTreeSet<usize>,
) -> Result<(), SassError> {
    let forward = |from: usize| {
        successors[from]
            .iter()
            .copied()
            .filter(move |to| !dominators.dominates(*to, from))
    };
    let mut incoming = vec![0usize; successors.len()];
    for &from in within {
        for to in forward(from) {
            incoming[to] += 1;
        }
    }
    let mut open: Vec<usize> = within
        .iter()
        .copied()
        .filter(|block| incoming[*block] == 0)
        .collect();
    let mut done = BTreeSet::new();
    while let Some(block) = open.pop() {
        done.insert(block);
        for to in forward(block) {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                open.push(to);
            }
        }
    }
    match within.iter().find(|block| !done.contains(block)) {
        None => Ok(()),
        Some(&block) => Err(SassError::Irreducible {
            header: graph.address(block),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::parse;
    use super::*;

    fn loops_of(text: &str) -> Result<Vec<Loop>, SassError> {
        let instructions = parse(text);
        let graph = Graph::new(&instructions).unwrap();
        natural_loops(&graph, &graph.reachable(0), 0)
    }

    #[test]
    fn a_loop_in_a_loop_knows_its_parent() {
        let loops = loops_of("MOV\nIADD3\nIADD3\n@P0 BRA 0x20\n@P1 BRA 0x10\nEXIT").unwrap();
        assert_eq!(loops.len(), 2);
        assert_eq!((loops[0].header, loops[0].parent), (1, None));
        assert_eq!((loops[1].header, loops[1].parent), (2, Some(0)));
    }

    #[test]
    fn a_cycle_with_two_entries_is_an_error() {
        let error = loops_of("@P0 BRA 0x20\nIADD3\nIADD3\n@P1 BRA 0x10\nEXIT").unwrap_err();
        assert!(matches!(error, SassError::Irreducible { .. }));
    }
}
