//! Markdown tables that explain their own columns.

use std::fmt;

use crate::{Summary, class, is_control, rows::SummaryRow};

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A column as it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its heading.
    pub name: &'static str,
    /// Its unit; empty for a pure number or a text.
    pub unit: &'static str,
    /// What it holds, in one line, for the legend.
    pub description: &'static str,
    /// On which side its cells stand.
    pub align: Align,
}

/// A table; its `Display` is Markdown, readable as it is, with a legend line per column and notes below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows, a cell per column.
    pub rows: Vec<Vec<String>>,
    /// Sentences below the table.
    pub notes: Vec<String>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = |column: &TableColumn| match column.unit {
            "" => column.name.to_owned(),
            unit => format!("{} [{unit}]", column.name),
        };
        let headings: Vec<String> = self.columns.iter().map(heading).collect();
        let cell =
            |row: &[String], i: usize| row.get(i).map_or(String::new(), |cell| cell.replace('|', "\\|"));
        let widths: Vec<usize> = (0..headings.len())
            .map(|i| {
                let cells = self.rows.iter().map(|row| cell(row, i).chars().count());
                cells.chain([headings[i].chars().count(), 3]).max().unwrap_or(3)
            })
            .collect();
        let line = |f: &mut fmt::Formatter<'_>, row: &[String]| {
            for (i, (column, width)) in self.columns.iter().zip(&widths).enumerate() {
                match column.align {
                    Align::Left => write!(f, "| {:<width$} ", cell(row, i))?,
                    Align::Right => write!(f, "| {:>width$} ", cell(row, i))?,
                }
            }
            writeln!(f, "|")
        };
        line(f, &headings)?;
        for (column, width) in self.columns.iter().zip(&widths) {
            match column.align {
                Align::Left => write!(f, "|:{:-<width$}-", "")?,
                Align::Right => write!(f, "|-{:-<width$}:", "")?,
            }
        }
        writeln!(f, "|")?;
        for row in &self.rows {
            line(f, row)?;
        }
        writeln!(f)?;
        for (column, heading) in self.columns.iter().zip(&headings) {
            writeln!(f, "- {heading}: {}", column.description)?;
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        Ok(())
    }
}

/// The summary for the screen: rate and ratio with their intervals, hits, number of trials, and units per joule where measured.
///
/// The fastest variant of each family and device is marked; an A/A control is marked as such and never as the fastest,
/// and neither is a simpler product that others are held against.
pub fn summary_table(summary: &Summary) -> Table {
    const COLUMNS: [TableColumn; 6] = [
        TableColumn {
            name: "variant",
            unit: "",
            description: "what was run; * marks the fastest of its family, size and device that does the whole work",
            align: Align::Left,
        },
        TableColumn {
            name: "device",
            unit: "",
            description: "where it ran",
            align: Align::Left,
        },
        TableColumn {
            name: "rate",
            unit: "G units/s",
            description: "mean over trials ± half the 95 % Student-t interval",
            align: Align::Right,
        },
        TableColumn {
            name: "ratio",
            unit: "",
            description: "rate / the baseline's rate in the same round, mean over rounds ± half the 95 % Student-t interval",
            align: Align::Right,
        },
        TableColumn {
            name: "hits",
            unit: "",
            description: "hits found / hits expected (two-sided Poisson p-value)",
            align: Align::Right,
        },
        TableColumn {
            name: "n",
            unit: "",
            description: "valid trials (+ invalid ones, left out)",
            align: Align::Right,
        },
    ];
    const PER_JOULE: TableColumn = TableColumn {
        name: "energy",
        unit: "G units/J",
        description: "units per joule, gross, mean over trials ± half the 95 % Student-t interval",
        align: Align::Right,
    };

    let with_energy = summary.rows.iter().any(|row| row.units_per_joule_mean.is_some());
    let mut columns = COLUMNS.to_vec();
    columns.extend(with_energy.then_some(PER_JOULE));
    let rows = summary
        .rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                label(row, summary),
                row.device.clone(),
                plus_minus(
                    giga(row.rate_units_per_s_mean),
                    giga(row.rate_units_per_s_ci95_lo),
                    giga(row.rate_units_per_s_ci95_hi),
                ),
                ratio(row),
                hits(row),
                if row.n_invalid == 0 {
                    row.n.to_string()
                } else {
                    format!("{} (+{})", row.n, row.n_invalid)
                },
            ];
            if with_energy {
                cells.push(plus_minus(
                    giga(row.units_per_joule_mean),
                    giga(row.units_per_joule_ci95_lo),
                    giga(row.units_per_joule_ci95_hi),
                ));
            }
            cells
        })
        .collect();
    Table {
        columns,
        rows,
        notes: notes(summary),
    }
}

fn label(row: &SummaryRow, summary: &Summary) -> String {
    let rivals = || {
        summary.rows.iter().filter(|other| {
            other.device == row.device
                && class(&other.variant) == class(&row.variant)
                && summary.competes(other)
        })
    };
    let fastest = row.rate_units_per_s_mean.is_some()
        && summary.competes(row)
        && rivals().count() > 1
        && rivals().all(|other| other.rate_units_per_s_mean <= row.rate_units_per_s_mean);
    match (is_control(&row.variant), fastest) {
        (true, _) => format!("{} (A/A control)", row.variant),
        (false, true) => format!("{} *", row.variant),
        (false, false) => row.variant.clone(),
    }
}

fn ratio(row: &SummaryRow) -> String {
    if row.baseline.as_ref() == Some(&row.variant) {
        return "baseline".into();
    }
    plus_minus(
        row.ratio_to_baseline_mean,
        row.ratio_to_baseline_ci95_lo,
        row.ratio_to_baseline_ci95_hi,
    )
}

fn hits(row: &SummaryRow) -> String {
    match (row.hits, row.hits_expected, row.hits_p_value) {
        (Some(hits), Some(expected), Some(p)) => format!("{hits} / {expected:.1} (p = {p:.2})"),
        (Some(hits), _, _) => hits.to_string(),
        _ => "-".into(),
    }
}

fn notes(summary: &Summary) -> Vec<String> {
    let few = |n: u32, words: &str| {
        let labels: Vec<&str> = summary
            .rows
            .iter()
            .filter(|row| row.n == n)
            .map(|row| row.variant.as_str())
            .collect();
        (!labels.is_empty()).then(|| format!("{words}: {}.", labels.join(", ")))
    };
    let mut notes: Vec<String> = [
        few(0, "No valid trial"),
        few(1, "One trial, so no interval"),
        few(
            2,
            "Two trials, so the interval is very wide (12.7 standard errors to each side)",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    if summary.rows.iter().any(|row| is_control(&row.variant)) {
        notes.push(
            "The A/A control is the baseline measured again: its ratio shows the noise of this run.".into(),
        );
    }
    notes.extend(summary.invalid.iter().map(|trial| {
        format!(
            "Trial {} ({}) is invalid and left out: {}.",
            trial.trial, trial.variant, trial.reason
        )
    }));
    notes
}

/// A value in thousands of millions.
pub(crate) fn giga(value: Option<f64>) -> Option<f64> {
    value.map(|value| value / 1e9)
}

/// A mean with half its interval, to the same number of decimals.
pub(crate) fn plus_minus(mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> String {
    let Some(mean) = mean else { return "-".into() };
    // Five digits: trials seldom agree to better than 0.01 %.
    let decimals = if mean == 0.0 {
        1
    } else {
        (4.0 - mean.abs().log10().floor()).clamp(0.0, 12.0) as usize
    };
    match (lo, hi) {
        (Some(lo), Some(hi)) => format!("{mean:.decimals$} ± {:.decimals$}", (hi - lo) / 2.0),
        _ => format!("{mean:.decimals$}"),
    }
}
