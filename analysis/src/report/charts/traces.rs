//! Power, SM clock and temperature over the trials of a round, with throttle marks.

use plotters::prelude::*;

use super::{
    Figure,
    canvas::{
        AMBER, BLUE, Canvas, Drawn, GREEN, GRID, INK, ORANGE, RED, SOFT, Side, WIDTH, draw, fill, line,
        steps, tick_label, write,
    },
};
use crate::{
    Effect, LEAD_S,
    report::{
        ReportError,
        facts::{Facts, short},
    },
    rows::{Phase, PowerRow, RunRow, Verdict},
};

/// Rounds that are drawn; a record may hold hundreds.
const ROUNDS: usize = 12;

/// Points of a curve, at most: more than a screen has columns.
const POINTS: usize = 1200;

const LEFT: i32 = 70;
const RIGHT: i32 = WIDTH - 16;
/// Top of the first panel: above it stand the labels of the trials and the throttle marks.
const TOP: i32 = 62;
const PANEL: i32 = 120;
/// Between two panels stands the name of the lower one.
const BETWEEN: i32 = 30;

/// One curve over time.
struct Panel {
    name: &'static str,
    colour: RGBColor,
    value: fn(&PowerRow) -> Option<f64>,
}

const PANELS: [Panel; 3] = [
    Panel {
        name: "power now, W",
        colour: BLUE,
        value: |row| row.power_instant_w,
    },
    Panel {
        name: "SM clock, MHz",
        colour: ORANGE,
        value: |row| row.sm_clock_mhz.map(f64::from),
    },
    Panel {
        name: "temperature, °C",
        colour: GREEN,
        value: |row| row.temperature_c.map(f64::from),
    },
];

/// A trial with its samples.
struct Trial<'f> {
    run: &'f RunRow,
    samples: Vec<&'f PowerRow>,
}

/// A figure a round.
pub(in crate::report) fn traces(facts: &Facts) -> Result<Vec<Figure>, ReportError> {
    let mut rounds: Vec<u32> = facts.runs.iter().map(|run| run.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let mut figures = Vec::new();
    for round in rounds.into_iter().take(ROUNDS) {
        let trials = trials_of(facts, round);
        let panels: Vec<&Panel> = PANELS
            .iter()
            .filter(|panel| {
                trials
                    .iter()
                    .flat_map(|trial| &trial.samples)
                    .any(|row| (panel.value)(row).is_some())
            })
            .collect();
        if panels.is_empty() {
            continue;
        }
        let height = TOP + (PANEL + BETWEEN) * panels.len() as i32 + 34;
        let svg = draw(height, |canvas| paint(canvas, &trials, &panels))?;
        let caption = format!("Round {round}: samples of every trial, in the order of time.");
        figures.push(Figure { svg, caption });
    }
    Ok(figures)
}

/// How to read them.
pub(in crate::report) fn explain(facts: &Facts) -> String {
    let rounds = facts.runs.iter().map(|run| run.round).max().unwrap_or(0) as usize;
    let mut text = format!(
        "The darker start of a trial ({LEAD_S} s) enters no statistic. Marks above the curves: red, a slowdown that voids the trial; \
         amber, clocks held by a limit. A trial whose name is red does not count."
    );
    if rounds > ROUNDS {
        text += &format!(" The first {ROUNDS} of {rounds} rounds are drawn, the others are in power.csv.");
    }
    text
}

fn trials_of(facts: &Facts, round: u32) -> Vec<Trial<'_>> {
    let of_round = facts.runs.iter().filter(|run| run.round == round);
    let with_samples = of_round.map(|run| Trial {
        run,
        samples: facts
            .power
            .iter()
            .filter(|row| row.phase == Phase::Trial && row.trial == run.trial)
            .collect(),
    });
    with_samples.filter(|trial| !trial.samples.is_empty()).collect()
}

fn paint(canvas: &Canvas, trials: &[Trial], panels: &[&Panel]) -> Drawn {
    let samples = || trials.iter().flat_map(|trial| trial.samples.iter().copied());
    let start = samples().map(|row| row.t_host_s).fold(f64::INFINITY, f64::min);
    let end = samples().map(|row| row.t_host_s).fold(start, f64::max);
    let span = (end - start).max(1.0);
    let x = |time: f64| LEFT + (f64::from(RIGHT - LEFT) * (time - start) / span).round() as i32;
    let bottom = TOP + (PANEL + BETWEEN) * panels.len() as i32 - BETWEEN;

    for trial in trials {
        let (Some(first), Some(last)) = (trial.samples.first(), trial.samples.last()) else {
            continue;
        };
        let (from, to) = (x(first.t_host_s), x(last.t_host_s));
        fill(canvas, (from, TOP), (to, bottom), RGBColor(0xf4, 0xf6, 0xf9))?;
        fill(
            canvas,
            (from, TOP),
            (x(first.t_host_s + LEAD_S).min(to), bottom),
            RGBColor(0xe4, 0xe9, 0xf0),
        )?;
        let colour = if trial.run.verdict == Verdict::Valid {
            INK
        } else {
            RED
        };
        // Some seven units of the view box a letter.
        let room = ((to - from) / 7).max(1) as usize;
        let label: String = short(&trial.run.variant).chars().take(room).collect();
        write(canvas, &label, ((from + to) / 2, 12), 13, colour, Side::Middle)?;
        for row in &trial.samples {
            let Some(reasons) = row.throttle_reasons else {
                continue;
            };
            let mark = if !reasons.with(Effect::Invalid).is_empty() {
                RED
            } else if !reasons.with(Effect::Label).is_empty() {
                AMBER
            } else {
                continue;
            };
            line(canvas, (x(row.t_host_s), 26), (x(row.t_host_s), 36), mark, 2)?;
        }
    }
    for (panel, top) in panels.iter().zip((TOP..).step_by((PANEL + BETWEEN) as usize)) {
        paint_panel(canvas, trials, panel, top, x)?;
    }
    let times = steps(0.0, span);
    for time in times.iter().filter(|time| **time <= span) {
        let at = x(start + time);
        line(canvas, (at, bottom), (at, bottom + 5), SOFT, 1)?;
        write(
            canvas,
            &tick_label(*time, &times),
            (at, bottom + 14),
            12,
            SOFT,
            Side::Middle,
        )?;
    }
    write(
        canvas,
        "seconds",
        ((LEFT + RIGHT) / 2, bottom + 32),
        12,
        SOFT,
        Side::Middle,
    )
}

fn paint_panel(canvas: &Canvas, trials: &[Trial], panel: &Panel, top: i32, x: impl Fn(f64) -> i32) -> Drawn {
    let values = || {
        trials
            .iter()
            .flat_map(|trial| trial.samples.iter().filter_map(|row| (panel.value)(row)))
    };
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let ticks = steps(low, high);
    let (from, to) = (
        ticks.first().copied().unwrap_or(low),
        ticks.last().copied().unwrap_or(high),
    );
    let y = |value: f64| top + PANEL - (f64::from(PANEL) * (value - from) / (to - from)).round() as i32;
    for tick in &ticks {
        line(canvas, (LEFT, y(*tick)), (RIGHT, y(*tick)), GRID, 1)?;
        write(
            canvas,
            &tick_label(*tick, &ticks),
            (LEFT - 8, y(*tick)),
            12,
            SOFT,
            Side::Left,
        )?;
    }
    let stride = (values().count() / POINTS).max(1);
    for trial in trials {
        let points = trial.samples.iter().step_by(stride);
        let path: Vec<(i32, i32)> = points
            .filter_map(|row| Some((x(row.t_host_s), y((panel.value)(row)?))))
            .collect();
        canvas.draw(&PathElement::new(path, panel.colour.stroke_width(1)))?;
    }
    write(
        canvas,
        panel.name,
        (LEFT, top - 11),
        12,
        panel.colour,
        Side::Right,
    )
}
