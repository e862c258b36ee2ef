//! A mean per variant with its interval and its trials.

use plotters::prelude::*;

use super::{
    Figure,
    canvas::{
        BLUE, Canvas, Drawn, GRAY, GRID, INK, PALE, SOFT, Side, WIDTH, draw, fill, gutter, line, tick_label,
        ticks, write,
    },
};
use crate::{
    family, is_control,
    report::{ReportError, facts::Facts, tables::plus_minus},
    rows::{RunRow, SummaryRow, Verdict},
};

/// One variant of the figure, in the unit of its axis.
struct Bar {
    label: String,
    mean: f64,
    interval: Option<(f64, f64)>,
    trials: Vec<f64>,
    is_control: bool,
}

/// Rates.
pub(in crate::report) fn rates(facts: &Facts) -> Result<Option<Figure>, ReportError> {
    let bars = bars(
        facts,
        |row| {
            (
                row.rate_units_per_s_mean,
                row.rate_units_per_s_ci95_lo,
                row.rate_units_per_s_ci95_hi,
            )
        },
        |run| Some(run.rate_units_per_s),
    );
    figure(
        facts,
        &bars,
        "G units/s",
        "Rate: mean of the valid trials (bar), its 95 % interval (whisker) and every valid trial (dot).",
    )
}

/// Units per joule.
pub(in crate::report) fn units_per_joule(facts: &Facts) -> Result<Option<Figure>, ReportError> {
    let bars = bars(
        facts,
        |row| {
            (
                row.units_per_joule_mean,
                row.units_per_joule_ci95_lo,
                row.units_per_joule_ci95_hi,
            )
        },
        |run| run.units_per_joule,
    );
    figure(
        facts,
        &bars,
        "G units/J",
        "Units per joule, gross: mean of the valid trials (bar), its 95 % interval (whisker) and every valid trial (dot).",
    )
}

type Mean = (Option<f64>, Option<f64>, Option<f64>);

fn bars(facts: &Facts, of_row: fn(&SummaryRow) -> Mean, of_run: fn(&RunRow) -> Option<f64>) -> Vec<Bar> {
    let families = facts.families().len();
    let bar = |row: &SummaryRow| {
        let (mean, lo, hi) = of_row(row);
        let of_variant = facts
            .runs
            .iter()
            .filter(|run| run.variant == row.variant && run.device == row.device);
        let valid = of_variant.filter(|run| run.verdict == Verdict::Valid);
        let label = match families {
            1 => row
                .variant
                .trim_start_matches(family(&row.variant))
                .trim_start_matches('/'),
            _ => &row.variant,
        };
        Some(Bar {
            label: label.to_owned(),
            mean: mean? / 1e9,
            interval: lo.zip(hi).map(|(lo, hi)| (lo / 1e9, hi / 1e9)),
            trials: valid.filter_map(of_run).map(|value| value / 1e9).collect(),
            is_control: is_control(&row.variant),
        })
    };
    shown(facts).filter_map(bar).collect()
}

/// The rows of the figures: beside a simpler product, whose units are less work, one could not tell the others apart.
fn shown(facts: &Facts) -> impl Iterator<Item = &SummaryRow> {
    let simple = &facts.summary.simple;
    let whole = |row: &&SummaryRow| !simple.contains(&row.variant);
    let any = facts.summary.rows.iter().any(|row| whole(&row));
    facts.summary.rows.iter().filter(move |row| !any || whole(row))
}

/// Right edge of the axis; the numbers stand behind it.
const RIGHT: i32 = WIDTH - 170;
const TOP: i32 = 12;
const ROW: i32 = 34;

fn figure(facts: &Facts, bars: &[Bar], unit: &str, caption: &str) -> Result<Option<Figure>, ReportError> {
    if bars.is_empty() {
        return Ok(None);
    }
    let bottom = TOP + ROW * bars.len() as i32;
    let svg = draw(bottom + 48, |canvas| paint(canvas, bars, unit, bottom))?;
    let all = shown(facts).count() == facts.summary.rows.len();
    let left_out = if all {
        ""
    } else {
        " Simpler products that others are held against are in the table alone."
    };
    Ok(Some(Figure {
        svg,
        caption: format!("{caption}{left_out}"),
    }))
}

fn paint(canvas: &Canvas, bars: &[Bar], unit: &str, bottom: i32) -> Drawn {
    let left = gutter(bars.iter().map(|bar| bar.label.as_str()));
    let means = bars.iter().map(|bar| bar.mean);
    let trials = bars.iter().flat_map(|bar| bar.trials.iter().copied());
    let ticks = ticks(means.chain(trials).fold(0.0, f64::max));
    let end = ticks.last().copied().unwrap_or(1.0);
    let x = |value: f64| left + (f64::from(RIGHT - left) * (value / end).clamp(0.0, 1.04)).round() as i32;
    for tick in &ticks {
        line(canvas, (x(*tick), TOP), (x(*tick), bottom), GRID, 1)?;
        write(
            canvas,
            &tick_label(*tick, &ticks),
            (x(*tick), bottom + 12),
            13,
            SOFT,
            Side::Middle,
        )?;
    }
    write(
        canvas,
        unit,
        ((left + RIGHT) / 2, bottom + 34),
        13,
        SOFT,
        Side::Middle,
    )?;
    for (bar, top) in bars.iter().zip((TOP..).step_by(ROW as usize)) {
        let middle = top + ROW / 2;
        let colour = if bar.is_control { GRID } else { PALE };
        fill(canvas, (left, top + 6), (x(bar.mean), top + ROW - 6), colour)?;
        write(canvas, &bar.label, (left - 10, middle), 14, INK, Side::Left)?;
        for trial in &bar.trials {
            let dot = if bar.is_control { GRAY } else { BLUE };
            canvas.draw(&Circle::new((x(*trial), middle), 3, dot.mix(0.7).filled()))?;
        }
        if let Some((lo, hi)) = bar.interval {
            line(canvas, (x(lo), middle), (x(hi), middle), INK, 2)?;
            for at in [lo, hi] {
                line(canvas, (x(at), middle - 6), (x(at), middle + 6), INK, 2)?;
            }
        }
        let (lo, hi) = (bar.interval.map(|ends| ends.0), bar.interval.map(|ends| ends.1));
        write(
            canvas,
            &plus_minus(Some(bar.mean), lo, hi),
            (RIGHT + 24, middle),
            14,
            INK,
            Side::Right,
        )?;
    }
    line(canvas, (left, TOP), (left, bottom), SOFT, 1)
}
