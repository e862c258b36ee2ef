//! What can go wrong when machine code is accounted for.

/// Why machine code has no account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SassError {
    /// The disassembler's JSON is not what this program reads.
    #[error("the disassembler's output is not understood: {0}")]
    Format(String),
    /// A jump to somewhere else.
    #[error("{opcode} at {address:#x} jumps to {operands}, which is no instruction of the kernel")]
    Target {
        /// The instruction.
        opcode: String,
        /// Its address.
        address: u64,
        /// Its operands.
        operands: String,
    },
    /// A jump that the account does not follow.
    #[error("{opcode} at {address:#x} is a jump that the account does not follow")]
    Jump {
        /// The instruction.
        opcode: String,
        /// Its address.
        address: u64,
    },
    /// A cycle with two entries.
    #[error(
        "the cycle that jumps back to {header:#x} can be entered elsewhere too: the account cannot weight it"
    )]
    Irreducible {
        /// Where it jumps back to.
        header: u64,
    },
    /// A block whose frequency follows from nothing.
    #[error(
        "the block at {address:#x}, in {place}, cannot be attributed: it neither always runs nor leads to a hit"
    )]
    Unattributed {
        /// Its first instruction.
        address: u64,
        /// Where it is.
        place: String,
    },
    /// The loops are not those of the plan.
    #[error("{place}: {what}")]
    Shape {
        /// Where in the code.
        place: String,
        /// What is different from the plan.
        what: String,
    },
}
