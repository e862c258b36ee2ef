//! Whether a pattern's machine code is what its name says.

use std::collections::BTreeMap;

use super::kernel::CHAINS;
use super::pattern::Pattern;
use crate::sass::Instruction;

/// Instructions beyond the claimed ones that a loop may have: its counter, its end, and what fills predicates.
const EXTRA: u32 = 14;

/// The loop of a pattern, as found in its machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// Instructions of one pass.
    pub instructions: u32,
    /// The claimed ones among them.
    pub claimed: u32,
}

/// An opcode without the modifiers that do not change what it costs: `IMAD.WIDE.U32` is an `IMAD.WIDE`.
pub fn kind_of(opcode: &str) -> String {
    let mut parts = opcode.split('.');
    let base = parts.next().unwrap_or(opcode);
    let second = parts.next().unwrap_or_default();
    match (base, second) {
        ("IMAD", "HI" | "WIDE" | "IADD" | "MOV" | "SHL" | "X") | ("LEA", "HI") | ("IADD3", "X") => {
            format!("{base}.{second}")
        }
        _ => base.to_string(),
    }
}

/// Find the loop of `pattern` in its kernel and check that it is what is claimed.
///
/// # Errors
/// In words what it is instead.
pub fn verify(pattern: &Pattern, instructions: &[Instruction]) -> Result<Loop, String> {
    let body = longest_loop(instructions).ok_or("its kernel has no loop")?;
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for instruction in body {
        *counts.entry(kind_of(&instruction.opcode)).or_insert(0) += 1;
    }
    let passes = pattern.unroll() * CHAINS;
    let mut claimed = 0;
    for (kind, per_step) in pattern.claims {
        let expected = passes * per_step;
        let found = counts.get(*kind).copied().unwrap_or(0);
        if found < expected || found > expected + EXTRA {
            let all: Vec<_> = counts
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            return Err(format!(
                "{expected} {kind} expected, the loop has {}",
                all.join(", ")
            ));
        }
        claimed += expected;
    }
    let instructions = body.len() as u32;
    if instructions > claimed + EXTRA {
        return Err(format!(
            "its loop has {} instructions beyond the {claimed} claimed ones",
            instructions - claimed
        ));
    }
    Ok(Loop {
        instructions,
        claimed,
    })
}

fn longest_loop(instructions: &[Instruction]) -> Option<&[Instruction]> {
    let mut best: Option<&[Instruction]> = None;
    for (end, instruction) in instructions.iter().enumerate() {
        if instruction.base() != "BRA" {
            continue;
        }
        let operand = instruction.operands.rsplit(',').next().unwrap_or_default().trim();
        let target = operand
            .strip_prefix("0x")
            .and_then(|digits| usize::from_str_radix(digits, 16).ok());
        if let Some(start) = target.map(|target| target / 16).filter(|start| *start < end) {
            let body = &instructions[start..=end];
            if best.is_none_or(|best| best.len() < body.len()) {
                best = Some(body);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::PATTERNS;
    use super::super::kernel::{ENTRY, source};
    use super::*;
    use crate::sass::entry_instructions;
    use crate::toolchain::{Arch, CubinCache, real};

    #[test]
    fn opcodes_fall_into_kinds() {
        for (opcode, kind) in [
            ("IMAD.WIDE.U32", "IMAD.WIDE"),
            ("IMAD.U32", "IMAD"),
            ("LEA.HI", "LEA.HI"),
            ("LOP3.LUT", "LOP3"),
            ("LEA", "LEA"),
        ] {
            assert_eq!(kind_of(opcode), kind);
        }
    }

    #[test]
    fn on_sm_90_every_pattern_is_what_it_claims() {
        let Some(tools) = real::tools(CubinCache::none()) else {
            return;
        };
        let arch = Arch::number(90);
        let mut refused = Vec::new();
        for pattern in PATTERNS {
            let cubin = tools.build(&source(pattern), arch).unwrap();
            let json = tools.nvdisasm().unwrap().json(&cubin.bytes, arch).unwrap();
            if let Err(why) = verify(pattern, &entry_instructions(&json, ENTRY).unwrap()) {
                refused.push(format!("{}: {why}", pattern.name));
            }
        }
        assert!(refused.is_empty(), "{refused:#?}");
    }

    #[test]
    fn a_pattern_whose_instruction_the_architecture_lacks_is_refused_with_what_it_is_instead() {
        let Some(tools) = real::tools(CubinCache::none()) else {
            return;
        };
        let arch = Arch::number(75);
        let pattern = PATTERNS
            .iter()
            .find(|pattern| pattern.name == "LOP3+VIADD+LEA.HI")
            .unwrap();
        let cubin = tools.build(&source(pattern), arch).unwrap();
        let json = tools.nvdisasm().unwrap().json(&cubin.bytes, arch).unwrap();
        let why = verify(pattern, &entry_instructions(&json, ENTRY).unwrap()).unwrap_err();
        assert!(why.contains("VIADD expected") && why.contains("IADD3"), "{why}");
    }
}
