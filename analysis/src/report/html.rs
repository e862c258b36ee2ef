//! The report as one HTML page: no script, no other file, readable on paper and in the dark.

use std::fmt::Write;

use super::page::{Page, Part};
use crate::{Align, Table};

const STYLE: &str = include_str!("report.css");

/// `report.html`.
pub(super) fn text(page: &Page) -> String {
    let title = escape(&page.title);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for sentence in &page.lead {
        let _ = writeln!(text, "<p class=\"lead\">{}</p>", prose(sentence));
    }
    text += "<nav><ul>\n";
    for (number, section) in page.sections.iter().enumerate() {
        let _ = writeln!(
            text,
            "<li><a href=\"#s{number}\">{}</a></li>",
            escape(section.title)
        );
    }
    text += "</ul></nav>\n";
    for (number, section) in page.sections.iter().enumerate() {
        let _ = writeln!(
            text,
            "<section id=\"s{number}\">\n<h2>{}</h2>",
            escape(section.title)
        );
        for part in &section.parts {
            match part {
                Part::Text(sentence) => {
                    let _ = writeln!(text, "<p>{}</p>", prose(sentence));
                }
                Part::Table(table) => text += &html_table(table),
                Part::Verbatim(lines) => {
                    let _ = writeln!(
                        text,
                        "<div class=\"box\" tabindex=\"0\"><pre>{}</pre></div>",
                        escape(lines.trim_end())
                    );
                }
                Part::Figure(figure) => {
                    let caption = escape(&figure.caption);
                    let svg = figure.svg.replacen(
                        "<svg ",
                        &format!("<svg role=\"img\" aria-label=\"{caption}\" "),
                        1,
                    );
                    let _ = writeln!(
                        text,
                        "<figure><div class=\"card\" tabindex=\"0\">{}</div><figcaption>{caption}</figcaption></figure>",
                        svg.trim_end()
                    );
                }
            }
        }
        text += "</section>\n";
    }
    text += "</main>\n</body>\n</html>\n";
    text
}

fn html_table(table: &Table) -> String {
    let class = |i: usize| match table.columns.get(i).map(|column| column.align) {
        Some(Align::Right) => " class=\"r\"",
        _ => "",
    };
    let mut text = String::from("<div class=\"box\" tabindex=\"0\"><table>\n<thead><tr>");
    for (i, column) in table.columns.iter().enumerate() {
        let unit = match column.unit {
            "" => String::new(),
            unit => format!("<br><span class=\"unit\">{}</span>", escape(unit)),
        };
        let _ = write!(
            text,
            "<th scope=\"col\"{} title=\"{}\">{}{unit}</th>",
            class(i),
            escape(column.description),
            escape(column.name)
        );
    }
    text += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        text += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            let _ = write!(text, "<td{}>{}</td>", class(i), escape(cell));
        }
        text += "</tr>\n";
    }
    text += "</tbody>\n</table></div>\n<details><summary>What the columns mean</summary>\n<dl>\n";
    for column in &table.columns {
        let _ = writeln!(
            text,
            "<dt>{}</dt><dd>{}</dd>",
            escape(column.name),
            escape(column.description)
        );
    }
    text += "</dl></details>\n";
    for note in &table.notes {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", prose(note));
    }
    text
}

/// A sentence: what stands between back ticks is code.
fn prose(sentence: &str) -> String {
    let mut text = String::new();
    for (i, piece) in sentence.split('`').enumerate() {
        let piece = escape(piece);
        if i % 2 == 1 {
            let _ = write!(text, "<code>{piece}</code>");
        } else {
            text += &piece;
        }
    }
    text
}

/// Text that means itself, in an element or in a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<b a=\"1\">&"), "&lt;b a=&quot;1&quot;&gt;&amp;");
        assert_eq!(prose("run `a<b` now"), "run <code>a&lt;b</code> now");
    }
}
