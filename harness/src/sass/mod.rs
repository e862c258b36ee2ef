//! The SASS account: what a unit costs in machine instructions, read off the disassembly.
//!
//! Disassembly -> instructions -> basic blocks -> loops -> how often each block runs per unit -> instructions by pipe.

mod account;
mod dominators;
mod error;
mod frequency;
mod graph;
mod instruction;
mod loops;
mod pipe;
mod published;
#[cfg(test)]
mod real_tests;
mod report;
#[cfg(test)]
mod sample;
mod scope;

pub use account::{Account, PerUnit};
pub use error::SassError;
pub use instruction::{Instruction, entry_instructions};
pub use pipe::{Pipe, pipe_of};
use published::published;
pub use report::{AccountError, PipeSource, SassResult, Subject, opcode_tables, table};
