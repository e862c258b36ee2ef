//! The report: everything that a record's files come to, as Markdown and as one HTML page.
//!
//! It is made from the files alone and is the same text wherever it is made.

mod charts;
mod facts;
mod html;
mod markdown;
mod page;
mod tables;
mod words;

use crate::{Record, RecordError, stats::StatsError};

/// Names of the report's files in a record. They hold nothing that the tables do not.
pub const REPORT_FILES: [&str; 2] = ["report.md", "report.html"];

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its numbers cannot be summarised.
    #[error("{0}")]
    Stats(#[from] StatsError),
    /// A figure cannot be drawn.
    #[error("a figure cannot be drawn: {0}")]
    Figure(String),
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `report.md`.
    pub markdown: String,
    /// `report.html`: one file that needs nothing else.
    pub html: String,
}

impl Report {
    /// The report of a record.
    pub fn of(record: &Record) -> Result<Self, ReportError> {
        let facts = facts::Facts::of(record)?;
        let page = page::Page::of(&facts)?;
        Ok(Self {
            markdown: markdown::text(&page),
            html: html::text(&page),
        })
    }
}
