//! What all figures are drawn with.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::ReportError;

/// Width of every figure, in the units of its view box.
pub(super) const WIDTH: i32 = 960;

pub(super) const INK: RGBColor = RGBColor(0x1c, 0x24, 0x30);
pub(super) const SOFT: RGBColor = RGBColor(0x5a, 0x66, 0x75);
pub(super) const GRID: RGBColor = RGBColor(0xe2, 0xe7, 0xed);
pub(super) const BLUE: RGBColor = RGBColor(0x2f, 0x6d, 0xb5);
pub(super) const PALE: RGBColor = RGBColor(0xb9, 0xd0, 0xea);
pub(super) const ORANGE: RGBColor = RGBColor(0xd9, 0x7b, 0x29);
pub(super) const GRAY: RGBColor = RGBColor(0xa9, 0xb2, 0xbd);
pub(super) const GREEN: RGBColor = RGBColor(0x3a, 0x8f, 0x5c);
pub(super) const RED: RGBColor = RGBColor(0xc6, 0x28, 0x28);
pub(super) const AMBER: RGBColor = RGBColor(0xe0, 0xa1, 0x00);

/// The drawing area of a figure, in pixels.
pub(super) type Canvas<'c> = DrawingArea<SVGBackend<'c>, Shift>;

/// What can go wrong while drawing.
pub(super) type Drawn = Result<(), Box<dyn Error + Send + Sync>>;

/// The SVG that `paint` makes on a white card.
pub(super) fn draw(height: i32, paint: impl FnOnce(&Canvas) -> Drawn) -> Result<String, ReportError> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        let painted = canvas
            .fill(&WHITE)
            .map_err(Into::into)
            .and_then(|()| paint(&canvas))
            .and_then(|()| canvas.present().map_err(Into::into));
        painted.map_err(|error: Box<dyn Error + Send + Sync>| ReportError::Figure(error.to_string()))?;
    }
    Ok(svg)
}

/// On which side of its place a text stands; always at its middle height.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// Write a text at a place.
pub(super) fn write(
    canvas: &Canvas,
    text: &str,
    at: (i32, i32),
    size: i32,
    colour: RGBColor,
    side: Side,
) -> Drawn {
    let horizontal = match side {
        Side::Left => HPos::Right,
        Side::Middle => HPos::Center,
        Side::Right => HPos::Left,
    };
    let style = ("sans-serif", size)
        .into_font()
        .color(&colour)
        .pos(Pos::new(horizontal, VPos::Center));
    Ok(canvas.draw(&Text::new(text.to_owned(), at, style))?)
}

/// A filled rectangle.
pub(super) fn fill(canvas: &Canvas, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> Drawn {
    Ok(canvas.draw(&Rectangle::new([from, to], colour.filled()))?)
}

/// A line.
pub(super) fn line(canvas: &Canvas, from: (i32, i32), to: (i32, i32), colour: RGBColor, width: u32) -> Drawn {
    Ok(canvas.draw(&PathElement::new(vec![from, to], colour.stroke_width(width)))?)
}

/// Room for labels at the left of a figure.
pub(super) fn gutter<'l>(labels: impl Iterator<Item = &'l str>) -> i32 {
    let longest = labels.map(|label| label.chars().count()).max().unwrap_or(0) as i32;
    (longest * 8 + 24).clamp(60, 300)
}

/// Ticks from 0 to at least `highest`, some five of them at round values.
pub(super) fn ticks(highest: f64) -> Vec<f64> {
    steps(0.0, highest)
}

/// Round values that cover `low` to `high`.
pub(super) fn steps(low: f64, high: f64) -> Vec<f64> {
    // Values that do not differ stand in a window of a twentieth of themselves.
    let span = if high > low {
        high - low
    } else {
        (low.abs() / 20.0).max(1.0)
    };
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(rough);
    let first = (low / step).floor() as i64;
    let last = (high / step).ceil().max(first as f64 + 1.0) as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A tick's label: as many decimals as its step needs.
pub(super) fn tick_label(value: f64, ticks: &[f64]) -> String {
    let step = match ticks {
        [first, second, ..] => second - first,
        _ => 1.0,
    };
    let decimals = (0..9).find(|decimals| {
        let scaled = step * 10f64.powi(*decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs()
    });
    format!("{value:.*}", decimals.unwrap_or(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(ticks(184.3), [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(
            steps(1935.0, 1980.0),
            [1930.0, 1940.0, 1950.0, 1960.0, 1970.0, 1980.0]
        );
        for (low, high) in [(0.0, 0.0), (50.0, 50.0), (-3.0, 2.0), (0.0, 1e-9), (1e11, 2e11)] {
            let steps = steps(low, high);
            assert!(steps.len() >= 2 && steps.len() < 12, "{low} {high}: {steps:?}");
            assert!(
                steps[0] <= low && steps[steps.len() - 1] >= high,
                "{low} {high}: {steps:?}"
            );
        }
        assert_eq!(tick_label(0.25, &[0.0, 0.25]), "0.25");
        assert_eq!(tick_label(50.0, &[0.0, 50.0]), "50");
    }
}
