//! Dominators of a small graph.

/// For each node, the set of nodes that every path from the start to it goes through, itself included.
#[derive(Debug, Clone)]
pub(super) struct Dominators(Vec<Vec<bool>>);

impl Dominators {
    /// Those of the graph with edges `successors` that starts at `start`. A node that cannot be reached dominates
    /// nothing but counts as dominated by all.
    pub fn new(successors: &[Vec<usize>], start: usize) -> Dominators {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                predecessors[to].push(from);
            }
        }
        let mut sets = vec![vec![true; count]; count];
        sets[start] = (0..count).map(|node| node == start).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for node in (0..count).filter(|node| *node != start && !predecessors[*node].is_empty()) {
                let mut set = vec![true; count];
                for &from in &predecessors[node] {
                    for (mine, theirs) in set.iter_mut().zip(&sets[from]) {
                        *mine &= theirs;
                    }
                }
                set[node] = true;
                if set != sets[node] {
                    sets[node] = set;
                    changed = true;
                }
            }
        }
        Dominators(sets)
    }

    /// Whether every path to `node` goes through `by`.
    pub fn dominates(&self, by: usize, node: usize) -> bool {
        self.0[node][by]
    }
}

#[cfg(test)]
mod tests {
    use super::Dominators;

    #[test]
    fn the_arms_of_a_diamond_do_not_dominate_its_end() {
        let dominators = Dominators::new(&[vec![1, 2], vec![3], vec![3], vec![]], 0);
        assert!(dominators.dominates(0, 3) && dominators.dominates(3, 3));
        assert!(!dominators.dominates(1, 3) && !dominators.dominates(2, 3));
    }

    #[test]
    fn a_jump_back_does_not_change_who_dominates() {
        let dominators = Dominators::new(&[vec![1], vec![2], vec![1, 3], vec![]], 0);
        assert!(dominators.dominates(1, 2) && dominators.dominates(2, 3) && !dominators.dominates(2, 1));
    }
}
