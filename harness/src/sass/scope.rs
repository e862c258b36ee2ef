//! One pass through a loop, or through the kernel: a graph without cycles, in which each inner loop is a single node.

use std::collections::BTreeSet;

use super::dominators::Dominators;
use super::graph::Graph;
use super::loops::Loop;

/// A block of its own, or a whole inner loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    Block(usize),
    Loop(usize),
}

/// A pass.
#[derive(Debug)]
pub(super) struct Scope {
    /// Which loop, or `None` for the kernel itself.
    pub of: Option<usize>,
    /// Its nodes; the first is where it starts.
    pub nodes: Vec<Node>,
    /// For each node, the nodes that may follow it in the same pass.
    pub successors: Vec<Vec<usize>>,
    /// Whether a node may be the last of all passes: it can leave the loop.
    pub leaves: Vec<bool>,
    dominators: Dominators,
    /// On the reversed graph, from a node behind all that end the pass.
    post: Dominators,
}

impl Scope {
    /// The pass of loop `of`, or of the kernel, whose blocks are `kernel`.
    pub fn new(
        graph: &Graph,
        loops: &[Loop],
        of: Option<usize>,
        kernel: &BTreeSet<usize>,
        start: usize,
    ) -> Scope {
        let blocks = of.map_or(kernel, |index| &loops[index].blocks);
        let start = of.map_or(start, |index| loops[index].header);
        let inner: Vec<usize> = (0..loops.len())
            .filter(|index| loops[*index].parent == of)
            .collect();
        let mut nodes: Vec<Node> = inner.iter().map(|index| Node::Loop(*index)).collect();
        let own = |block: &&usize| !inner.iter().any(|index| loops[*index].blocks.contains(block));
        nodes.extend(blocks.iter().filter(own).map(|block| Node::Block(*block)));
        nodes.sort_by_key(|node| match *node {
            Node::Block(block) => (block != start, block),
            Node::Loop(index) => (loops[index].header != start, loops[index].header),
        });
        let holds = |node: &Node, block: usize| match *node {
            Node::Block(own) => own == block,
            Node::Loop(index) => loops[index].blocks.contains(&block),
        };
        let end = nodes.len();
        let mut successors = vec![Vec::new(); end];
        let mut ends = vec![false; end];
        let mut leaves = vec![false; end];
        for (number, node) in nodes.iter().enumerate() {
            let members: Vec<usize> = match *node {
                Node::Block(block) => vec![block],
                Node::Loop(index) => loops[index].blocks.iter().copied().collect(),
            };
            for block in members {
                for &next in &graph.blocks[block].successors {
                    if holds(node, next) && matches!(node, Node::Loop(_)) {
                        continue;
                    }
                    if !blocks.contains(&next) {
                        leaves[number] = true;
                    } else if of.is_some() && next == start {
                        ends[number] = true;
                    } else if let Some(to) = nodes.iter().position(|node| holds(node, next))
                        && !successors[number].contains(&to)
                    {
                        successors[number].push(to);
                    }
                }
                let last = graph.instructions_of(block).last();
                if last.is_some_and(|last| matches!(last.base(), "EXIT" | "KILL" | "RET")) {
                    leaves[number] = true;
                    // In the kernel's own pass, leaving is how it ends; in a loop's, it is what a last pass does.
                    ends[number] |= of.is_none();
                }
            }
        }
        let dominators = Dominators::new(&successors, 0);
        let mut reversed = vec![Vec::new(); end + 1];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                reversed[to].push(from);
            }
            if ends[from] || targets.is_empty() {
                reversed[end].push(from);
            }
        }
        let post = Dominators::new(&reversed, end);
        Scope {
            of,
            nodes,
            successors,
            leaves,
            dominators,
            post,
        }
    }

    /// Whether every way to `node` goes through `by`.
    pub fn dominates(&self, by: usize, node: usize) -> bool {
        self.dominators.dominates(by, node)
    }

    /// Whether every way from `node` to the end of the pass goes through `by`.
    pub fn post_dominates(&self, by: usize, node: usize) -> bool {
        self.post.dominates(by, node)
    }

    /// Whether one runs exactly when the other does.
    pub fn together(&self, a: usize, b: usize) -> bool {
        (self.dominates(a, b) && self.post_dominates(b, a))
            || (self.dominates(b, a) && self.post_dominates(a, b))
    }

    /// Whether `node` comes after a place that runs in every pass and may leave the loop: the last pass misses it.
    pub fn after_leaving(&self, node: usize) -> bool {
        (0..self.nodes.len())
            .any(|by| by != node && self.leaves[by] && self.together(0, by) && self.dominates(by, node))
    }
}
