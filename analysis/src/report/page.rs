//! The report's content in the order of reading, before it is Markdown or HTML.

use super::{ReportError, charts, charts::Figure, facts::Facts, tables};
use crate::{
    Floor, Status, Table, accuracy_table, checks_table, floor_table, is_control, rows::SummaryRow,
    stage_table, summary_table,
};

/// One section.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) parts: Vec<Part>,
}

/// A piece of a section.
pub(super) enum Part {
    /// A paragraph.
    Text(String),
    /// A table.
    Table(Table),
    /// Text whose spaces count.
    Verbatim(String),
    /// A figure; Markdown has its caption alone.
    Figure(Figure),
}

/// The whole report.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lead: Vec<String>,
    pub(super) sections: Vec<Section>,
}

/// How the name of the variant ends that others are held against in accuracy.
const NATIVE: &str = "/native-dgemm";

impl Page {
    pub(super) fn of(facts: &Facts) -> Result<Self, ReportError> {
        let families = facts.families().join(", ");
        let title = match families.as_str() {
            "" => format!("A record of {}", facts.device()),
            families => format!("{families} on {}", facts.device()),
        };
        let sections = [
            ("Results", results(facts)?),
            ("Accuracy", accuracy(facts)),
            ("Energy", energy(facts)?),
            ("Floor and stages", stages(facts)),
            ("Clocks and pipes", clocks(facts)?),
            ("Power and clock over time", traces(facts)?),
            ("Expected time to leading zeros", zeros(facts)?),
            ("Trials", trials(facts)),
            ("Validation", validation(facts)),
            ("Environment", vec![Part::Table(tables::environment(facts))]),
            ("Variants as built", variants(facts)),
            ("Notes", notes(facts)),
            ("Files", files(facts)),
        ];
        let sections = sections
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(title, parts)| Section { title, parts })
            .collect();
        Ok(Self {
            title,
            lead: lead(facts),
            sections,
        })
    }
}

/// The findings, in sentences.
fn lead(facts: &Facts) -> Vec<String> {
    let mut lead = Vec::new();
    match facts.manifest.status {
        Status::Aborted => {
            lead.push("The run was interrupted: what is here is whole, and less than was planned.".into())
        }
        Status::Failed => lead.push("The run failed: see the notes and the validation.".into()),
        Status::Running | Status::Complete => {}
    }
    for class in facts.classes() {
        let fastest = facts.best(class, |row| row.rate_units_per_s_mean);
        lead.extend(fastest.map(|row| {
            format!(
                "{} is the fastest of {class}: {} G units/s{}.",
                row.variant,
                tables::plus_minus_giga(
                    row.rate_units_per_s_mean,
                    row.rate_units_per_s_ci95_lo,
                    row.rate_units_per_s_ci95_hi
                ),
                times_baseline(
                    row,
                    row.ratio_to_baseline_mean,
                    row.ratio_to_baseline_ci95_lo,
                    row.ratio_to_baseline_ci95_hi
                ),
            )
        }));
        let thriftiest = facts.best(class, |row| row.units_per_joule_mean);
        lead.extend(thriftiest.map(|row| {
            format!(
                "{} does the most per joule: {} G units/J{}.",
                row.variant,
                tables::plus_minus_giga(
                    row.units_per_joule_mean,
                    row.units_per_joule_ci95_lo,
                    row.units_per_joule_ci95_hi
                ),
                times_baseline(
                    row,
                    row.units_per_joule_ratio_mean,
                    row.units_per_joule_ratio_ci95_lo,
                    row.units_per_joule_ratio_ci95_hi
                ),
            )
        }));
    }
    for row in facts.summary.rows.iter().filter(|row| is_control(&row.variant)) {
        // Rounded first, so that there is no -0.00.
        let off = |ratio: Option<f64>| {
            let percent = |ratio: f64| ((ratio - 1.0) * 1e4).round() / 100.0 + 0.0;
            ratio.map(|ratio| format!("{:+.2} %", percent(ratio)))
        };
        let rate = off(row.ratio_to_baseline_mean).map(|off| format!("{off} in rate"));
        let energy = off(row.units_per_joule_ratio_mean).map(|off| format!("{off} in units per joule"));
        let parts: Vec<String> = [rate, energy].into_iter().flatten().collect();
        if !parts.is_empty() {
            lead.push(format!(
                "The A/A control {}, the baseline measured a second time, differs from it by {}: that is the noise of this run.",
                row.variant,
                parts.join(" and ")
            ));
        }
    }
    lead
}

/// `, 1.33 ± 0.01 times the baseline v0`, unless it is the baseline itself.
fn times_baseline(row: &SummaryRow, mean: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> String {
    match &row.baseline {
        Some(baseline) if *baseline != row.variant && mean.is_some() => {
            format!(
                ", {} times the baseline {baseline}",
                tables::plus_minus(mean, lo, hi)
            )
        }
        _ => String::new(),
    }
}

fn results(facts: &Facts) -> Result<Vec<Part>, ReportError> {
    if facts.summary.rows.is_empty() && !facts.accuracies.is_empty() {
        return Ok(Vec::new());
    }
    if facts.summary.rows.is_empty() {
        return Ok(vec![Part::Text("Nothing was timed.".into())]);
    }
    let mut parts = vec![Part::Table(summary_table(&facts.summary))];
    parts.extend(charts::rates(facts)?.map(Part::Figure));
    Ok(parts)
}

fn energy(facts: &Facts) -> Result<Vec<Part>, ReportError> {
    if facts.summary.rows.is_empty() {
        return Ok(Vec::new());
    }
    let Some(table) = tables::energy(facts) else {
        return Ok(vec![Part::Text(
            "No energy was measured; the notes say why.".into(),
        )]);
    };
    let mut parts = vec![Part::Table(table)];
    parts.extend(charts::units_per_joule(facts)?.map(Part::Figure));
    parts.push(Part::Text(
        "A card's power sensor has a gain error of some ±5 %, the same in every trial: ratios on one card hold to their interval, joules of \
         two cards are not to be compared below that."
            .into(),
    ));
    Ok(parts)
}

fn accuracy(facts: &Facts) -> Vec<Part> {
    if facts.accuracies.is_empty() {
        return Vec::new();
    }
    let reference = facts.accuracies.iter().find(|row| row.variant.ends_with(NATIVE));
    let reference = reference.map_or("", |row| row.variant.as_str());
    vec![Part::Table(accuracy_table(&facts.accuracies, reference))]
}

fn validation(facts: &Facts) -> Vec<Part> {
    let as_written = facts.validation.clone().map(Part::Verbatim);
    let checks = (!facts.checks.is_empty()).then(|| Part::Table(checks_table(&facts.checks)));
    as_written.into_iter().chain(checks).collect()
}

fn stages(facts: &Facts) -> Vec<Part> {
    let floors: Vec<(String, Floor)> = facts
        .manifest
        .variants
        .iter()
        .filter_map(|variant| Some((variant.label.clone(), variant.floor?)))
        .collect();
    [
        floor_table(&facts.summary, &floors),
        stage_table(&facts.stages, &facts.runs),
    ]
    .into_iter()
    .flatten()
    .map(Part::Table)
    .collect()
}

fn clocks(facts: &Facts) -> Result<Vec<Part>, ReportError> {
    let mut parts: Vec<Part> = tables::clocks(facts).map(Part::Table).into_iter().collect();
    parts.extend(charts::instructions(facts)?.map(Part::Figure));
    parts.extend(charts::bounds(facts)?.map(Part::Figure));
    Ok(parts)
}

fn traces(facts: &Facts) -> Result<Vec<Part>, ReportError> {
    let figures = charts::traces(facts)?;
    if figures.is_empty() {
        return Ok(Vec::new());
    }
    let text = Part::Text(charts::explain_traces(facts));
    Ok([text]
        .into_iter()
        .chain(figures.into_iter().map(Part::Figure))
        .collect())
}

fn zeros(facts: &Facts) -> Result<Vec<Part>, ReportError> {
    Ok(tables::zeros(facts)?.map(Part::Table).into_iter().collect())
}

fn trials(facts: &Facts) -> Vec<Part> {
    if facts.runs.is_empty() {
        return Vec::new();
    }
    vec![Part::Table(tables::trials(facts))]
}

fn variants(facts: &Facts) -> Vec<Part> {
    if facts.manifest.variants.is_empty() {
        return Vec::new();
    }
    vec![Part::Table(tables::variants(facts))]
}

fn notes(facts: &Facts) -> Vec<Part> {
    facts.manifest.notes.iter().cloned().map(Part::Text).collect()
}

fn files(facts: &Facts) -> Vec<Part> {
    vec![
        Part::Text(
            "Everything above follows from these files; `assay check` re-verifies them and `assay report` makes this report again.".into(),
        ),
        Part::Table(tables::files(facts)),
    ]
}
