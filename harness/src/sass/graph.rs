//! Basic blocks and the jumps between them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::SassError;
use super::instruction::{BYTES, Instruction};

/// A stretch of instructions that is only entered at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Its instructions.
    pub range: Range<usize>,
    /// Where it goes; leaving the kernel is no entry.
    pub successors: Vec<usize>,
    /// The block that it calls and that returns to it.
    pub calls: Option<usize>,
}

/// A kernel as a graph. Block 0 is where it starts.
#[derive(Debug, Clone)]
pub(super) struct Graph<'a> {
    pub instructions: &'a [Instruction],
    pub blocks: Vec<Block>,
}

/// What an instruction does to the flow of control.
enum Flow {
    Next,
    Exit,
    /// To a target; also on to the next instruction when conditional.
    Jump(usize),
    Call(usize),
    Return,
}

impl<'a> Graph<'a> {
    /// Build it.
    pub fn new(instructions: &'a [Instruction]) -> Result<Graph<'a>, SassError> {
        let flows = (0..instructions.len())
            .map(|at| flow(instructions, at))
            .collect::<Result<Vec<_>, _>>()?;
        let returning = returning_targets(instructions, &flows);
        let mut starts = BTreeSet::from([0]);
        for (at, flow) in flows.iter().enumerate() {
            match flow {
                Flow::Next => continue,
                Flow::Jump(target) | Flow::Call(target) => {
                    starts.insert(*target);
                }
                Flow::Exit | Flow::Return => {}
            }
            starts.insert(at + 1);
        }
        let starts: Vec<usize> = starts
            .into_iter()
            .filter(|start| *start < instructions.len())
            .collect();
        let number: BTreeMap<usize, usize> = starts
            .iter()
            .enumerate()
            .map(|(block, start)| (*start, block))
            .collect();
        let ends = starts.iter().skip(1).copied().chain([instructions.len()]);
        let mut blocks = Vec::with_capacity(starts.len());
        for (start, end) in starts.iter().copied().zip(ends) {
            let last = end - 1;
            let next = number.get(&end).copied();
            let (mut successors, mut calls) = (Vec::new(), None);
            match &flows[last] {
                Flow::Next => successors.extend(next),
                Flow::Exit | Flow::Return => {
                    if instructions[last].is_conditional() {
                        successors.extend(next);
                    }
                }
                // A call that never returns is a jump: ptxas writes one where threads must leave a loop together.
                Flow::Call(target) if returning.contains(target) => {
                    calls = Some(number[target]);
                    successors.extend(next);
                }
                Flow::Jump(target) | Flow::Call(target) => {
                    successors.push(number[target]);
                    if is_conditional_jump(&instructions[last]) {
                        successors.extend(next);
                    }
                }
            }
            successors.dedup();
            blocks.push(Block {
                range: start..end,
                successors,
                calls,
            });
        }
        Ok(Graph { instructions, blocks })
    }

    /// The instructions of a block.
    pub fn instructions_of(&self, block: usize) -> &'a [Instruction] {
        &self.instructions[self.blocks[block].range.clone()]
    }

    /// Address of a block's first instruction.
    pub fn address(&self, block: usize) -> u64 {
        self.blocks[block].range.start as u64 * BYTES
    }

    /// Blocks that can be reached from `start` without following calls, in ascending order.
    pub fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            for &next in &self.blocks[block].successors {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

fn flow(instructions: &[Instruction], at: usize) -> Result<Flow, SassError> {
    let instruction = &instructions[at];
    let address = at as u64 * BYTES;
    match instruction.base() {
        "EXIT" | "KILL" => Ok(Flow::Exit),
        "RET" => Ok(Flow::Return),
        "BRA" | "JMP" => target(instruction, address, instructions.len()).map(Flow::Jump),
        "CALL" => target(instruction, address, instructions.len()).map(Flow::Call),
        "BRX" | "JMX" | "BRXU" | "JMXU" => Err(SassError::Jump {
            opcode: instruction.opcode.clone(),
            address,
        }),
        _ => Ok(Flow::Next),
    }
}

fn target(instruction: &Instruction, address: u64, count: usize) -> Result<usize, SassError> {
    let operand = instruction.operands.rsplit(',').next().unwrap_or_default().trim();
    operand
        .strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .filter(|target| target % BYTES == 0)
        .map(|target| (target / BYTES) as usize)
        .filter(|target| *target < count)
        .ok_or_else(|| SassError::Target {
            opcode: instruction.opcode.clone(),
            address,
            operands: instruction.operands.clone(),
        })
}

/// Conditional by a predicate in front, or by one among the operands (`BRA.U !UP0, 0x100`).
fn is_conditional_jump(instruction: &Instruction) -> bool {
    instruction.is_conditional() || instruction.operands.contains(',')
}

/// Targets of calls from which a return can be reached.
fn returning_targets(instructions: &[Instruction], flows: &[Flow]) -> BTreeSet<usize> {
    let returns = |start: usize| {
        let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
        while let Some(at) = open.pop() {
            let mut go = |next: usize| {
                if next < flows.len() && seen.insert(next) {
                    open.push(next);
                }
            };
            match flows[at] {
                Flow::Return => return true,
                Flow::Exit if !instructions[at].is_conditional() => {}
                Flow::Jump(target) if !is_conditional_jump(&instructions[at]) => go(target),
                Flow::Jump(target) => {
                    go(target);
                    go(at + 1);
                }
                Flow::Next | Flow::Exit | Flow::Call(_) => go(at + 1),
            }
        }
        false
    };
    let targets: BTreeSet<usize> = flows
        .iter()
        .filter_map(|flow| {
            if let Flow::Call(target) = flow {
                Some(*target)
            } else {
                None
            }
        })
        .collect();
    targets.into_iter().filter(|target| returns(*target)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::parse;
    use super::*;

    fn edges(text: &str) -> Vec<(usize, Vec<usize>)> {
        let instructions = parse(text);
        let graph = Graph::new(&instructions).unwrap();
        graph
            .blocks
            .iter()
            .map(|block| (block.range.start, block.successors.clone()))
            .collect()
    }

    #[test]
    fn jumps_cut_blocks_and_conditional_ones_go_both_ways() {
        let text = "MOV\n@P0 BRA 0x40\nIADD3\nBRA 0x0\nEXIT";
        assert_eq!(edges(text), [(0, vec![2, 1]), (2, vec![0]), (4, vec![])]);
    }

    #[test]
    fn a_uniform_jump_is_conditional_by_its_operand() {
        assert_eq!(edges("BRA.U !UP0, 0x0\nEXIT"), [(0, vec![0, 1]), (1, vec![])]);
    }

    #[test]
    fn a_call_that_never_returns_is_a_jump_and_one_that_does_is_not() {
        assert_eq!(
            edges("@P0 CALL.REL.NOINC 0x20\nBRA 0x0\nEXIT"),
            [(0, vec![2, 1]), (1, vec![0]), (2, vec![])]
        );
        let instructions = parse("CALL.REL.NOINC 0x20\nEXIT\nRET.REL.NODEC R2 0x0");
        let graph = Graph::new(&instructions).unwrap();
        assert_eq!(
            (&graph.blocks[0].successors, graph.blocks[0].calls),
            (&vec![1], Some(2))
        );
    }

    #[test]
    fn a_jump_to_nowhere_and_one_through_a_table_are_errors() {
        assert!(matches!(
            Graph::new(&parse("BRA 0x400")),
            Err(SassError::Target { .. })
        ));
        assert!(matches!(
            Graph::new(&parse("BRX R2 -0x10")),
            Err(SassError::Jump { .. })
        ));
    }
}
