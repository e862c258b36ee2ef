//! `sass.csv`.

use serde::{Deserialize, Serialize};

use crate::columns::table;

/// The pipe that an instruction is accounted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    /// Integer and logic pipe.
    Alu,
    /// Multiply-add pipe.
    Fma,
    /// Anything else: memory, control, uniform.
    Other,
}

table! {
    /// The account of the production build's machine code: one row per variant, architecture, pipe and opcode.
    pub struct SassRow in "sass.csv" {
        /// Label of the variant.
        pub variant: String,
        /// Architecture, such as `sm_90`.
        pub arch: String,
        /// Compiler and version.
        pub compiler: String,
        /// Registers per thread.
        pub registers: Option<u32>,
        /// Bytes spilled per thread, stores and loads.
        pub spill_bytes: Option<u32>,
        /// `alu`, `fma` or `other`.
        pub pipe: Pipe,
        /// Opcode with its modifiers.
        pub opcode: String,
        /// Instructions of this opcode executed per unit, weighted by loops.
        pub instructions_per_unit: f64,
    }
}

/// Instructions per unit, summed by pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipeTotals {
    /// All instructions per unit.
    pub total: f64,
    /// Those of the ALU pipe.
    pub alu: f64,
    /// Those of the FMA pipe.
    pub fma: f64,
    /// All others.
    pub other: f64,
}

/// Sums the rows of one variant and architecture by pipe.
pub fn pipe_totals<'a>(rows: impl IntoIterator<Item = &'a SassRow>) -> PipeTotals {
    let mut totals = PipeTotals::default();
    for row in rows {
        let pipe = match row.pipe {
            Pipe::Alu => &mut totals.alu,
            Pipe::Fma => &mut totals.fma,
            Pipe::Other => &mut totals.other,
        };
        *pipe += row.instructions_per_unit;
        totals.total += row.instructions_per_unit;
    }
    totals
}
