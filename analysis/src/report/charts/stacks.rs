//! Instructions per unit by pipe, and what the pipes allow.

use super::{
    Figure,
    canvas::{
        BLUE, Canvas, Drawn, GRAY, GREEN, GRID, INK, ORANGE, SOFT, Side, WIDTH, draw, fill, gutter, line,
        tick_label, ticks, write,
    },
};
use crate::{
    is_control,
    report::{
        ReportError,
        facts::{Facts, short},
        words::significant,
    },
    rows::{PipeTotals, pipe_totals},
};

const RIGHT: i32 = WIDTH - 170;
const TOP: i32 = 38;
const ROW: i32 = 34;

/// Machine instructions per unit, stacked by pipe.
pub(in crate::report) fn instructions(facts: &Facts) -> Result<Option<Figure>, ReportError> {
    let mut stacks: Vec<(String, PipeTotals)> = Vec::new();
    for variant in &facts.manifest.variants {
        let mut of_variant = facts
            .sass
            .iter()
            .filter(|row| row.variant == variant.label)
            .peekable();
        if of_variant.peek().is_some() {
            stacks.push((short(&variant.label).to_owned(), pipe_totals(of_variant)));
        }
    }
    if stacks.is_empty() {
        return Ok(None);
    }
    let arch = facts.sass.first().map_or("", |row| row.arch.as_str());
    let bottom = TOP + ROW * stacks.len() as i32;
    let svg = draw(bottom + 48, |canvas| paint_stacks(canvas, &stacks, bottom))?;
    let caption = format!(
        "Machine instructions per unit on {arch}, by pipe, from the disassembly of the code that was timed."
    );
    Ok(Some(Figure { svg, caption }))
}

fn paint_stacks(canvas: &Canvas, stacks: &[(String, PipeTotals)], bottom: i32) -> Drawn {
    let left = gutter(stacks.iter().map(|(label, _)| label.as_str()));
    let ticks = ticks(stacks.iter().map(|(_, totals)| totals.total).fold(0.0, f64::max));
    let end = ticks.last().copied().unwrap_or(1.0);
    let x = |value: f64| left + (f64::from(RIGHT - left) * value / end).round() as i32;
    legend(canvas, left, &[("ALU", BLUE), ("FMA", ORANGE), ("other", GRAY)])?;
    axis(canvas, &ticks, left, x, bottom, "instructions per unit")?;
    for ((label, totals), top) in stacks.iter().zip((TOP..).step_by(ROW as usize)) {
        let middle = top + ROW / 2;
        write(canvas, label, (left - 10, middle), 14, INK, Side::Left)?;
        let mut from = 0.0;
        for (count, colour) in [(totals.alu, BLUE), (totals.fma, ORANGE), (totals.other, GRAY)] {
            fill(
                canvas,
                (x(from), top + 6),
                (x(from + count), top + ROW - 6),
                colour,
            )?;
            // A label needs some forty units of the view box.
            if x(from + count) - x(from) > 40 {
                let place = ((x(from) + x(from + count)) / 2, middle);
                write(
                    canvas,
                    &format!("{count:.1}"),
                    place,
                    13,
                    plotters::style::WHITE,
                    Side::Middle,
                )?;
            }
            from += count;
        }
        write(
            canvas,
            &format!("{:.1}", totals.total),
            (x(from) + 8, middle),
            14,
            INK,
            Side::Right,
        )?;
    }
    line(canvas, (left, TOP), (left, bottom), SOFT, 1)
}

/// Measured units per clock and multiprocessor, against what each pipe allows.
pub(in crate::report) fn bounds(facts: &Facts) -> Result<Option<Figure>, ReportError> {
    let mut rows = Vec::new();
    for row in facts.summary.rows.iter().filter(|row| !is_control(&row.variant)) {
        if let (Some(bound), Some(got)) = (facts.bound(&row.variant), row.units_per_clock_per_sm_mean) {
            let marks = [
                (bound.alu_units_per_clock_per_sm, BLUE),
                (bound.fma_units_per_clock_per_sm, ORANGE),
                (bound.issue_units_per_clock_per_sm, GRAY),
            ];
            let share = bound.lowest().map_or(0.0, |(lowest, _)| got / lowest);
            rows.push(BoundBar {
                label: short(&row.variant).to_owned(),
                got,
                share,
                marks,
            });
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let bottom = TOP + ROW * rows.len() as i32;
    let svg = draw(bottom + 48, |canvas| paint_bounds(canvas, &rows, bottom))?;
    let caption = "Units per clock and multiprocessor as measured (bar), and the most that each pipe's nominal rate allows for the variant's \
                   instructions (marks); the number is the share of the lowest."
        .to_owned();
    Ok(Some(Figure { svg, caption }))
}

struct BoundBar {
    label: String,
    got: f64,
    share: f64,
    marks: [(Option<f64>, plotters::style::RGBColor); 3],
}

fn paint_bounds(canvas: &Canvas, rows: &[BoundBar], bottom: i32) -> Drawn {
    let left = gutter(rows.iter().map(|row| row.label.as_str()));
    // A mark far above every bar would flatten the figure: the axis ends at twice the highest bar or lowest mark.
    let lowest = |row: &BoundBar| {
        row.marks
            .iter()
            .filter_map(|(bound, _)| *bound)
            .fold(f64::INFINITY, f64::min)
    };
    let tallest = rows.iter().map(|row| row.got).fold(0.0, f64::max);
    let of_interest = rows
        .iter()
        .map(lowest)
        .filter(|bound| bound.is_finite())
        .fold(tallest, f64::max);
    let ticks = ticks(of_interest * 1.5);
    let end = ticks.last().copied().unwrap_or(1.0);
    let x = |value: f64| left + (f64::from(RIGHT - left) * value / end).round() as i32;
    legend(
        canvas,
        left,
        &[
            ("measured", GREEN),
            ("ALU allows", BLUE),
            ("FMA allows", ORANGE),
            ("issue allows", GRAY),
        ],
    )?;
    axis(canvas, &ticks, left, x, bottom, "units per clock and SM")?;
    for (row, top) in rows.iter().zip((TOP..).step_by(ROW as usize)) {
        let middle = top + ROW / 2;
        write(canvas, &row.label, (left - 10, middle), 14, INK, Side::Left)?;
        fill(canvas, (left, top + 8), (x(row.got), top + ROW - 8), GREEN)?;
        for (bound, colour) in row.marks {
            if let Some(bound) = bound.filter(|bound| *bound <= end) {
                line(canvas, (x(bound), top + 3), (x(bound), top + ROW - 3), colour, 3)?;
            }
        }
        let text = format!("{}, {:.1} %", significant(row.got, 4), row.share * 100.0);
        write(canvas, &text, (RIGHT + 24, middle), 14, INK, Side::Right)?;
    }
    line(canvas, (left, TOP), (left, bottom), SOFT, 1)
}

fn axis(canvas: &Canvas, ticks: &[f64], left: i32, x: impl Fn(f64) -> i32, bottom: i32, unit: &str) -> Drawn {
    for tick in ticks {
        line(canvas, (x(*tick), TOP), (x(*tick), bottom), GRID, 1)?;
        write(
            canvas,
            &tick_label(*tick, ticks),
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
    )
}

fn legend(canvas: &Canvas, mut left: i32, entries: &[(&str, plotters::style::RGBColor)]) -> Drawn {
    for (name, colour) in entries {
        fill(canvas, (left, 12), (left + 14, 26), *colour)?;
        write(canvas, name, (left + 20, 19), 13, INK, Side::Right)?;
        left += 46 + 8 * name.len() as i32;
    }
    Ok(())
}
