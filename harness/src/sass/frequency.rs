//! How often each block runs per unit.
//!
//! The pass of a loop is a graph without cycles. In it a node falls under the first rule that fits:
//! 1. what runs in every pass runs once;
//! 2. units are computed by *workers*: inner loops, or stretches that the compiler has peeled off them, told by the
//!    number of their marks, such as rotations. The plan says how many units there are; workers take as many as they
//!    can, those of several units first;
//! 3. what guards workers, or runs together with one, runs when they do;
//! 4. what leads to an atomic, or comes after one, is a hit's path and counts as never run;
//! 5. the other arm of a branch takes what is left.
//!
//! Anything else is an error that names the block. In the kernel's own pass it counts as once a thread.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use assay_kernels::loops::{LoopLevel, LoopPlan, UnitMark};

use super::SassError;
use super::graph::Graph;
use super::loops::{Loop, natural_loops};
use super::scope::{Node, Scope};

/// How far a worker's marks may be from a whole number of units.
const TOLERANCE: f64 = 0.15;

/// Frequency of every block of `graph` per unit of `plan`; zero for what is never reached.
pub(super) fn frequencies(graph: &Graph, plan: &LoopPlan) -> Result<Vec<f64>, SassError> {
    let kernel = graph.reachable(0);
    let loops = natural_loops(graph, &kernel, 0)?;
    let walk = Walk {
        graph,
        loops: &loops,
        kernel: &kernel,
        mark: &plan.mark,
    };
    let pass = walk.pass(None, &plan.levels)?;
    let per_thread = 1.0 / plan.units_per_thread();
    let mut frequencies = vec![0.0; graph.blocks.len()];
    for (block, run) in &pass.blocks {
        frequencies[*block] = run.times * per_thread;
    }
    add_callees(graph, &mut frequencies, per_thread)?;
    Ok(frequencies)
}

/// A called function runs as often as it is called. Nothing that runs more than once a thread may call one.
fn add_callees(graph: &Graph, frequencies: &mut [f64], per_thread: f64) -> Result<(), SassError> {
    let mut called: BTreeMap<usize, f64> = BTreeMap::new();
    for (block, calling) in graph.blocks.iter().enumerate() {
        let Some(target) = calling.calls else {
            continue;
        };
        if frequencies[block] > per_thread * (1.0 + 1e-9) {
            let place = "code that runs more than once a thread and calls a function".to_string();
            return Err(SassError::Unattributed {
                address: graph.address(block),
                place,
            });
        }
        *called.entry(target).or_insert(0.0) += frequencies[block];
    }
    for (target, times) in called {
        for block in graph.reachable(target) {
            frequencies[block] = frequencies[block].max(times);
        }
    }
    Ok(())
}

/// What a block does in one pass of a loop.
#[derive(Debug, Clone, Copy)]
struct Run {
    times: f64,
    /// It comes after the place where the loop is left.
    after_leaving: bool,
}

/// One pass of a loop.
struct Pass {
    blocks: BTreeMap<usize, Run>,
    /// Marks.
    marks: f64,
    /// Most of them come after the place where the loop is left: it tests first and works then.
    tests_first: bool,
}

/// Something that computes units.
#[derive(Debug, Clone, PartialEq)]
struct Worker {
    node: usize,
    /// Units that one execution computes; for a level's loop, one iteration.
    units: u32,
    repeats: bool,
    /// Mean executions in a pass.
    times: f64,
    /// For each case of the level's trips, whether it runs at all.
    runs: Vec<bool>,
}

struct Walk<'a> {
    graph: &'a Graph<'a>,
    loops: &'a [Loop],
    kernel: &'a BTreeSet<usize>,
    mark: &'a UnitMark,
}

impl Walk<'_> {
    /// One pass of loop `of`, or of the kernel, with the levels of the plan that are inside it.
    fn pass(&self, of: Option<usize>, levels: &[LoopLevel]) -> Result<Pass, SassError> {
        let scope = Scope::new(self.graph, self.loops, of, self.kernel, 0);
        let mut inner: BTreeMap<usize, Pass> = BTreeMap::new();
        for (node, kind) in scope.nodes.iter().enumerate() {
            if let Node::Loop(index) = *kind {
                let works = self.marks_of(&self.loops[index].blocks) >= 0.5 * self.mark.per_unit;
                if works && levels.is_empty() {
                    let what =
                        "a loop inside it does a unit's work, and the plan has no further level".to_string();
                    return Err(self.shape(of, what));
                }
                inner.insert(
                    node,
                    self.pass(Some(index), if works { &levels[1..] } else { &[] })?,
                );
            }
        }
        let workers = match levels.first() {
            None => Vec::new(),
            Some(level) => self.workers(&scope, &inner, level, levels.len() == 1)?,
        };
        let times = self.times(&scope, &workers, levels.first())?;
        Ok(self.assemble(&scope, &inner, &workers, &times))
    }

    /// Who computes the units of `level` in a pass, and how often.
    fn workers(
        &self,
        scope: &Scope,
        inner: &BTreeMap<usize, Pass>,
        level: &LoopLevel,
        last: bool,
    ) -> Result<Vec<Worker>, SassError> {
        let mut workers = Vec::new();
        for (node, kind) in scope.nodes.iter().enumerate() {
            let marks = match kind {
                Node::Loop(index) if self.marks_of(&self.loops[*index].blocks) < 0.5 * self.mark.per_unit => {
                    continue;
                }
                Node::Loop(_) if !last => self.mark.per_unit,
                Node::Loop(_) => inner[&node].marks,
                // A stretch is counted once, at its first block, with all blocks that run together with it.
                Node::Block(_) if !last || scope.together(0, node) => continue,
                Node::Block(_) => {
                    let stretch = self.stretch(scope, node);
                    let marks = self.marks_of(&stretch.iter().map(|(_, block)| *block).collect());
                    if marks < 0.5 * self.mark.per_unit || stretch[0].0 != node {
                        continue;
                    }
                    marks
                }
            };
            let units = (marks / self.mark.per_unit).round().max(1.0);
            if (marks / self.mark.per_unit - units).abs() > TOLERANCE * units {
                let what = format!(
                    "the code at {:#x} has {marks} marks, which is no whole number of units of {}",
                    self.address(scope, node),
                    self.mark.per_unit
                );
                return Err(self.shape(scope.of, what));
            }
            if let Node::Loop(index) = *kind
                && last
            {
                self.check_reports(scope, index, units)?;
            }
            let repeats = matches!(kind, Node::Loop(_));
            workers.push(Worker {
                node,
                units: units as u32,
                repeats,
                times: 0.0,
                runs: Vec::new(),
            });
        }
        // Wide loops before narrow ones: what is left over goes to the narrow, wherever the compiler puts them. A stretch
        // peeled off a loop runs before it.
        workers.sort_by_key(|worker| {
            (
                Reverse(worker.units),
                worker.repeats,
                self.address(scope, worker.node),
            )
        });
        if workers.is_empty() || (!last && workers.len() > 1) {
            let what = format!(
                "the plan has the level `{}` here, and the code has {} loops that do its work (is it unrolled?)",
                level.name,
                workers.len()
            );
            return Err(self.shape(scope.of, what));
        }
        self.share(scope, level, &mut workers)?;
        Ok(workers)
    }

    /// Every unit has its own report of a hit: a second way to count the units of a loop.
    fn check_reports(&self, scope: &Scope, index: usize, units: f64) -> Result<(), SassError> {
        let instructions = |block: &usize| self.graph.instructions_of(*block).iter();
        let reports = self.loops[index]
            .blocks
            .iter()
            .flat_map(instructions)
            .filter(|i| i.is_atomic())
            .count();
        if reports == 0 || reports as f64 == units {
            return Ok(());
        }
        let header = self.graph.address(self.loops[index].header);
        let what =
            format!("by its marks the loop at {header:#x} has {units} units, and it reports {reports}");
        Err(self.shape(scope.of, what))
    }

    /// Let the workers take the units of each case.
    fn share(&self, scope: &Scope, level: &LoopLevel, workers: &mut [Worker]) -> Result<(), SassError> {
        let whole: f64 = level.trips.iter().map(|trips| trips.weight).sum();
        for trips in &level.trips {
            let mut left = trips.count;
            for worker in workers.iter_mut() {
                let most = left / worker.units;
                let times = if worker.repeats { most } else { most.min(1) };
                left -= times * worker.units;
                worker.times += f64::from(times) * trips.weight / whole;
                worker.runs.push(times > 0);
            }
            if left > 0 {
                let what = format!(
                    "of {} `{}` its code computes all but {left}",
                    trips.count, level.name
                );
                return Err(self.shape(scope.of, what));
            }
        }
        Ok(())
    }

    /// How often each node runs in a pass.
    fn times(
        &self,
        scope: &Scope,
        workers: &[Worker],
        level: Option<&LoopLevel>,
    ) -> Result<Vec<f64>, SassError> {
        let count = scope.nodes.len();
        let guards = |by: usize| -> Vec<&Worker> {
            workers
                .iter()
                .filter(|worker| scope.dominates(by, worker.node) || scope.together(by, worker.node))
                .collect()
        };
        let hits: Vec<usize> = (0..count)
            .filter(|node| self.is_hit(scope, *node) && !scope.together(0, *node) && guards(*node).is_empty())
            .collect();
        let mut times: Vec<Option<f64>> = vec![None; count];
        for node in 0..count {
            // What runs together with it and first: that is what guards.
            let first = (0..count)
                .find(|by| scope.together(*by, node) && scope.dominates(*by, node))
                .unwrap_or(node);
            let guarded = guards(first);
            times[node] = if scope.together(0, node) {
                Some(1.0)
            } else if !guarded.is_empty() {
                level.map(|level| any_runs(level, &guarded))
            } else if hits.iter().any(|hit| {
                scope.dominates(first, *hit)
                    || scope.dominates(*hit, node)
                    || scope.post_dominates(*hit, node)
            }) {
                Some(0.0)
            } else {
                None
            };
        }
        self.other_arms(scope, &mut times);
        let unknown = |node: usize| SassError::Unattributed {
            address: self.address(scope, node),
            place: self.place(scope.of),
        };
        times
            .into_iter()
            .enumerate()
            .map(|(node, times)| match times {
                Some(times) => Ok(times),
                None if scope.of.is_none() => Ok(1.0),
                None => Err(unknown(node)),
            })
            .collect()
    }

    /// The other arm of a branch takes what the known one leaves.
    fn other_arms(&self, scope: &Scope, times: &mut [Option<f64>]) {
        let count = scope.nodes.len();
        let before = |node: usize| -> Vec<usize> {
            (0..count)
                .filter(|from| scope.successors[*from].contains(&node))
                .collect()
        };
        loop {
            let mut changed = false;
            for node in 0..count {
                if times[node].is_some() {
                    continue;
                }
                let [from] = before(node)[..] else { continue };
                let [one, two] = scope.successors[from][..] else {
                    continue;
                };
                let other = if one == node { two } else { one };
                if before(other) != [from] {
                    continue;
                }
                if let (Some(all), Some(known)) = (times[from], times[other]) {
                    times[node] = Some((all - known).max(0.0));
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The pass, block by block.
    fn assemble(
        &self,
        scope: &Scope,
        inner: &BTreeMap<usize, Pass>,
        workers: &[Worker],
        times: &[f64],
    ) -> Pass {
        let mut pass = Pass {
            blocks: BTreeMap::new(),
            marks: 0.0,
            tests_first: false,
        };
        let mut late = 0.0;
        for (node, kind) in scope.nodes.iter().enumerate() {
            let after_leaving = scope.of.is_some() && scope.after_leaving(node);
            let before = pass.marks;
            match *kind {
                Node::Block(block) => {
                    pass.marks += times[node] * self.marks_of(&BTreeSet::from([block]));
                    pass.blocks.insert(
                        block,
                        Run {
                            times: times[node],
                            after_leaving,
                        },
                    );
                }
                Node::Loop(_) => {
                    let body = &inner[&node];
                    // A loop that does no unit's work is one that threads wait in for each other: it runs once.
                    let worker = workers.iter().find(|worker| worker.node == node);
                    let iterations = worker.map_or(times[node], |worker| worker.times);
                    let entered = times[node];
                    for (block, run) in &body.blocks {
                        let often = match (body.tests_first, run.after_leaving) {
                            (true, false) => iterations + entered,
                            (false, true) => iterations - entered,
                            (true, true) | (false, false) => iterations,
                        };
                        pass.blocks.insert(
                            *block,
                            Run {
                                times: run.times * often,
                                after_leaving,
                            },
                        );
                    }
                    pass.marks += body.marks * iterations;
                }
            }
            if after_leaving {
                late += pass.marks - before;
            }
        }
        pass.tests_first = late > 0.5 * pass.marks && pass.marks > 0.0;
        pass
    }

    /// The blocks that run together with `node`, as nodes and blocks, first one first.
    fn stretch(&self, scope: &Scope, node: usize) -> Vec<(usize, usize)> {
        let mut stretch: Vec<(usize, usize)> = (0..scope.nodes.len())
            .filter(|other| scope.together(*other, node))
            .filter_map(|other| {
                if let Node::Block(block) = scope.nodes[other] {
                    Some((other, block))
                } else {
                    None
                }
            })
            .collect();
        stretch.sort_by_key(|(other, _)| (!scope.dominates(*other, node), *other));
        stretch
    }

    fn marks_of(&self, blocks: &BTreeSet<usize>) -> f64 {
        let marks = |block: &usize| {
            self.graph
                .instructions_of(*block)
                .iter()
                .filter(|i| self.mark.is(&i.opcode))
                .count()
        };
        blocks.iter().map(marks).sum::<usize>() as f64
    }

    /// Whether a node reports a hit. A call counts: whatever is worth calling in a pass is the report.
    fn is_hit(&self, scope: &Scope, node: usize) -> bool {
        let reports = |block: &usize| {
            self.graph.blocks[*block].calls.is_some()
                || self.graph.instructions_of(*block).iter().any(|i| i.is_atomic())
        };
        match scope.nodes[node] {
            Node::Block(block) => reports(&block),
            Node::Loop(index) => self.loops[index].blocks.iter().any(reports),
        }
    }

    fn address(&self, scope: &Scope, node: usize) -> u64 {
        match scope.nodes[node] {
            Node::Block(block) => self.graph.address(block),
            Node::Loop(index) => self.graph.address(self.loops[index].header),
        }
    }

    fn place(&self, of: Option<usize>) -> String {
        match of {
            None => "the kernel's own pass".to_string(),
            Some(index) => format!("the loop at {:#x}", self.graph.address(self.loops[index].header)),
        }
    }

    fn shape(&self, of: Option<usize>, what: String) -> SassError {
        SassError::Shape {
            place: self.place(of),
            what,
        }
    }
}

/// Mean of whether at least one of `workers` runs.
fn any_runs(level: &LoopLevel, workers: &[&Worker]) -> f64 {
    let whole: f64 = level.trips.iter().map(|trips| trips.weight).sum();
    let weight = |(case, trips): (usize, &assay_kernels::loops::Trips)| {
        if workers.iter().any(|worker| worker.runs[case]) {
            trips.weight
        } else {
            0.0
        }
    };
    level.trips.iter().enumerate().map(weight).sum::<f64>() / whole
}
