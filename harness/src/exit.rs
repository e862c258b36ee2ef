//! Exit codes, and which error ends the program with which.

use std::process::ExitCode;

use assay_analysis::{CheckError, RecordError, ReportError};
use assay_kernels::workload::Fault;

use crate::command::BuildUsage;
use crate::device::DeviceError;
use crate::memory::NoMemory;
use crate::power::NoPower;
use crate::sass::AccountError;
use crate::toolchain::ToolError;

/// How a command that carried out its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done and right.
    Right,
    /// A check failed.
    Wrong,
    /// `--zeros` not reached within `--for`.
    NotReached,
    /// Interrupted; what is known was written.
    Interrupted,
}

impl Outcome {
    /// Its exit code.
    pub fn code(self) -> u8 {
        match self {
            Outcome::Right => 0,
            Outcome::Wrong => 1,
            Outcome::NotReached => 4,
            Outcome::Interrupted => 130,
        }
    }
}

/// What the user typed or handed in cannot be used: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A check failed in a way that ends the command: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// There is no device, or none that can do what is asked: exit code 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoDevice(pub String);

/// The exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.is::<Usage>() || cause.is::<BuildUsage>() {
            return 2;
        }
        if cause.is::<NoDevice>() || cause.is::<NoPower>() || cause.is::<NoMemory>() {
            return 3;
        }
        if cause.is::<Wrong>() || cause.is::<Fault>() {
            return 1;
        }
        if let Some(error) = cause.downcast_ref::<CheckError>() {
            return if matches!(error, CheckError::NotARecord(_)) {
                2
            } else {
                1
            };
        }
        if cause.is::<RecordError>() || matches!(cause.downcast_ref(), Some(ReportError::Record(_))) {
            return 2;
        }
        if let Some(error) = cause.downcast_ref::<ToolError>() {
            return error.exit_code();
        }
        if let Some(AccountError::Tool(error)) = cause.downcast_ref::<AccountError>() {
            return error.exit_code();
        }
        if let Some(error) = cause.downcast_ref::<DeviceError>() {
            return match error {
                DeviceError::Compile { .. } | DeviceError::Invalid(_) => 1,
                DeviceError::NoCode { .. } => 2,
                _ => 3,
            };
        }
    }
    1
}

/// Print an error as one sentence and turn it into an exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("assay: {}", printable(&sentence(error)));
    ExitCode::from(code(error))
}

/// Without control characters: what a message quotes of a file must not command the terminal.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => printable.push(c),
            c if c.is_control() => printable.extend(c.escape_default()),
            c => printable.push(c),
        }
    }
    printable
}

/// An error with its causes, of which those that it already tells are left out.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !sentence.contains(&cause) {
            sentence = format!("{sentence}: {cause}");
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(
            printable("\u{1b}[31mred\u{0} é\nnext"),
            "\\u{1b}[31mred\\u{0} é\nnext"
        );
    }

    #[test]
    fn a_cause_is_told_once() {
        let cause = || anyhow::anyhow!("no such file");
        let told = cause().context("x.toml cannot be read (no such file): give another");
        assert_eq!(
            sentence(&told),
            "x.toml cannot be read (no such file): give another"
        );
        assert_eq!(
            sentence(&cause().context("x.toml cannot be read")),
            "x.toml cannot be read: no such file"
        );
    }
}
