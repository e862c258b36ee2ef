//! The report's figures, as SVG whose text is text.

mod canvas;
mod estimates;
mod stacks;
mod traces;

pub(super) use estimates::{rates, units_per_joule};
pub(super) use stacks::{bounds, instructions};
pub(super) use traces::{explain as explain_traces, traces};

/// A drawing with its caption.
pub(super) struct Figure {
    pub(super) svg: String,
    pub(super) caption: String,
}
