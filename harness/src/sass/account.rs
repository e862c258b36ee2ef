//! The account of a kernel: instructions per unit.

use std::collections::BTreeMap;

use assay_kernels::loops::LoopPlan;
use serde::Serialize;

use super::frequency::frequencies;
use super::graph::Graph;
use super::{Instruction, Pipe, SassError, pipe_of};
use crate::toolchain::Arch;

/// Instructions per unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PerUnit {
    /// All of them: issue slots.
    pub total: f64,
    /// Those of the ALU.
    pub alu: f64,
    /// Those of the FMA pipe.
    pub fma: f64,
    /// The rest.
    pub other: f64,
    /// By opcode, modifiers included.
    pub opcodes: BTreeMap<String, f64>,
}

/// The account of one kernel on one architecture.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// Per unit.
    pub per_unit: PerUnit,
    /// Instructions in the kernel, each once.
    pub instructions: usize,
}

impl Account {
    /// Account for `instructions`, whose loops are those of `plan`.
    ///
    /// # Errors
    /// When a block cannot be attributed, or the loops are not the plan's.
    pub fn new(instructions: &[Instruction], plan: &LoopPlan, arch: Arch) -> Result<Account, SassError> {
        let graph = Graph::new(instructions)?;
        let mut per_unit = PerUnit::default();
        for (block, frequency) in frequencies(&graph, plan)?.into_iter().enumerate() {
            if frequency == 0.0 {
                continue;
            }
            for instruction in graph.instructions_of(block) {
                per_unit.total += frequency;
                match pipe_of(arch, &instruction.opcode) {
                    Pipe::Alu => per_unit.alu += frequency,
                    Pipe::Fma => per_unit.fma += frequency,
                    Pipe::Other => per_unit.other += frequency,
                }
                *per_unit.opcodes.entry(instruction.opcode.clone()).or_insert(0.0) += frequency;
            }
        }
        Ok(Account {
            per_unit,
            instructions: instructions.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use assay_kernels::loops::{LoopLevel, Trips, UnitMark};

    use super::super::sample::parse;
    use super::*;

    const SM_90: Arch = Arch::number(90);

    fn plan(levels: Vec<LoopLevel>) -> LoopPlan {
        LoopPlan {
            mark: UnitMark {
                opcodes: &["LOP3"],
                per_unit: 4.0,
            },
            levels,
        }
    }

    fn account(text: &str, levels: Vec<LoopLevel>) -> Result<PerUnit, SassError> {
        Account::new(&parse(text), &plan(levels), SM_90).map(|account| account.per_unit)
    }

    fn lop3(count: usize) -> String {
        "LOP3.LUT R0,R0,R1,R2\n".repeat(count)
    }

    #[test]
    fn a_loop_with_a_hit_path_counts_once_a_unit_and_the_path_not_at_all() {
        // 0 MOV; 1..4 LOP3; 5 ISETP; 6 branch over the hit; 7 atomic; 8 store; 9 add; 10 back; 11 EXIT
        let text = format!(
            "MOV\n{}ISETP\n@P0 BRA 0x90\nATOMG R0\nSTG\nIADD3\n@P1 BRA 0x10\nEXIT",
            lop3(4)
        );
        let per_unit = account(&text, vec![LoopLevel::times("candidate", 100)]).unwrap();
        assert_eq!(per_unit.opcodes.get("ATOMG"), None);
        assert_eq!(per_unit.opcodes["LOP3.LUT"], 4.0);
        assert!(
            (per_unit.total - (8.0 + 2.0 / 100.0)).abs() < 1e-9,
            "{per_unit:?}"
        );
        assert!((per_unit.alu - (6.0 + 1.0 / 100.0)).abs() < 1e-9, "{per_unit:?}");
    }

    #[test]
    fn a_loop_of_two_units_and_its_tail_share_the_units() {
        // 0 skip to 7 when one is left; 1 (8 LOP3) loop; then tail (4 LOP3)
        let text = format!(
            "@P0 BRA 0xa0\n{}@P1 BRA 0x10\n@P2 EXIT\n{}@P3 BRA 0xb0\nEXIT",
            lop3(8),
            lop3(4)
        );
        let even = account(&text, vec![LoopLevel::times("candidate", 10)]).unwrap();
        assert_eq!(even.opcodes["LOP3.LUT"], 4.0);
        let odd = account(&text, vec![LoopLevel::times("candidate", 11)]).unwrap();
        assert!((odd.opcodes["LOP3.LUT"] - 4.0).abs() < 1e-9);
        assert!(odd.opcodes["BRA"] > even.opcodes["BRA"]);
    }

    #[test]
    fn an_outer_loop_is_weighted_by_the_units_inside_it() {
        // 0 IADD3 (outer header); 1 skip to 7 when there are none; 2..5 LOP3; 6 back; 7 back to 0; 8 EXIT
        let text = format!("IADD3\n@P0 BRA 0x70\n{}@P1 BRA 0x20\n@P2 BRA 0x0\nEXIT", lop3(4));
        let trips = vec![
            Trips {
                count: 0,
                weight: 1.0,
            },
            Trips {
                count: 16,
                weight: 1.0,
            },
        ];
        let levels = vec![
            LoopLevel::times("group", 1000),
            LoopLevel {
                name: "member",
                trips,
            },
        ];
        let per_unit = account(&text, levels).unwrap();
        assert!((per_unit.opcodes["LOP3.LUT"] - 4.0).abs() < 1e-9, "{per_unit:?}");
        assert!(
            (per_unit.opcodes["IADD3"] - 1.0 / 8.0).abs() < 1e-9,
            "{per_unit:?}"
        );
    }

    #[test]
    fn a_block_that_depends_on_something_else_is_an_error_that_names_it() {
        let text = format!("{}@P0 BRA 0x60\nIADD3\n@P1 BRA 0x0\nEXIT", lop3(4));
        let error = account(&text, vec![LoopLevel::times("candidate", 8)]).unwrap_err();
        assert!(
            error.to_string().contains("block at 0x50, in the loop at 0x0"),
            "{error}"
        );
    }

    #[test]
    fn a_loop_that_is_no_whole_number_of_units_is_an_error() {
        let text = format!("{}@P1 BRA 0x0\nEXIT", lop3(6));
        let error = account(&text, vec![LoopLevel::times("candidate", 8)]).unwrap_err();
        assert!(error.to_string().contains("6 marks"), "{error}");
    }

    #[test]
    fn a_loop_that_reports_more_often_than_it_has_units_is_an_error() {
        let text = format!(
            "{}@P0 BRA 0x60\nATOMG R0\n@P0 BRA 0x80\nATOMG R0\n@P1 BRA 0x0\nEXIT",
            lop3(4)
        );
        let error = account(&text, vec![LoopLevel::times("candidate", 8)]).unwrap_err();
        assert!(
            error.to_string().contains("has 1 units, and it reports 2"),
            "{error}"
        );
    }

    #[test]
    fn a_plan_with_more_levels_than_the_code_is_an_error_that_names_the_level() {
        let text = format!("{}@P1 BRA 0x0\nEXIT", lop3(4));
        let levels = vec![LoopLevel::times("group", 2), LoopLevel::times("member", 8)];
        assert!(
            account(&text, levels)
                .unwrap_err()
                .to_string()
                .contains("`member`")
        );
    }
}
