//! Instructions from a few lines of text, for tests.

use super::Instruction;

/// One instruction a line: `[@P0] OPCODE [operands]`.
pub(super) fn parse(text: &str) -> Vec<Instruction> {
    let line = |line: &str| {
        let (predicate, rest) = match line.split_once(' ') {
            Some((first, rest)) if first.starts_with('@') => (Some(first.to_string()), rest),
            _ => (None, line),
        };
        let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        Instruction {
            opcode: opcode.into(),
            operands: operands.into(),
            predicate,
        }
    };
    text.lines()
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(line)
        .collect()
}
