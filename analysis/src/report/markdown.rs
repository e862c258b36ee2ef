//! The report as Markdown.

use std::fmt::Write;

use super::page::{Page, Part};

/// `report.md`. Figures are in `report.html`; here stand their captions.
pub(super) fn text(page: &Page) -> String {
    let mut text = format!("# {}\n", page.title);
    for sentence in &page.lead {
        let _ = write!(text, "\n{sentence}\n");
    }
    for section in &page.sections {
        let _ = write!(text, "\n## {}\n", section.title);
        for part in &section.parts {
            let _ = match part {
                Part::Text(sentence) => write!(text, "\n{sentence}\n"),
                Part::Table(table) => write!(text, "\n{table}"),
                Part::Verbatim(lines) => write!(text, "\n{}\n", lines.trim_end()),
                Part::Figure(figure) => write!(text, "\n(Figure in report.html: {})\n", figure.caption),
            };
        }
    }
    text
}
