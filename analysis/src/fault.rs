//! Where in a record something is wrong, and what would be right.

use std::fmt;

/// One thing wrong with one file of a record: the place as exactly as it is known, and a sentence that says what would be right.
///
/// Prints as `runs.csv, line 3, column rate_units_per_s: …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The file's name inside the record.
    pub file: String,
    /// The line, from 1 (a table's header is line 1), where the file has lines.
    pub line: Option<u64>,
    /// The column's name, where one column is at fault.
    pub column: Option<String>,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Fault {
    /// A fault of a file as a whole.
    pub(crate) fn file(file: &str, problem: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            problem: problem.into(),
        }
    }

    /// A fault of one line.
    pub(crate) fn line(file: &str, line: u64, problem: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::file(file, problem)
        }
    }

    /// A fault of one field.
    pub(crate) fn field(file: &str, line: u64, column: &str, problem: impl Into<String>) -> Self {
        Self {
            column: Some(column.into()),
            ..Self::line(file, line, problem)
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}
