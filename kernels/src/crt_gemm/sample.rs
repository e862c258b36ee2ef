//! Seeded elements of a product against the exact ones: no bound may be passed.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::exact::{Dyadic, dot};
use super::problem::Shape;
use super::production::places_of;
use crate::multiply::{Bounds, Product, Sample, Worst};
use crate::seeded::Seeded;
use crate::workload::Fault;

/// The shape of a product.
pub fn shape_of(product: &Product) -> Shape {
    Shape {
        rows: product.a().rows(),
        cols: product.b().cols(),
        depth: product.depth(),
    }
}

/// The places that are looked at.
pub fn places(product: &Product) -> BTreeSet<(usize, usize)> {
    places_of(shape_of(product), product.samples, &mut Seeded::new(product.seed))
}

/// What the exact element says of a value.
struct Distance {
    error: f64,
    magnitude: f64,
    /// error / magnitude; `None` where that is 0.
    ratio: Option<f64>,
    /// error / |exact|; `None` where that is 0.
    relative: Option<f64>,
    /// What is beyond half the smallest subnormal of the error, / magnitude; 0 where nothing is.
    above_underflow: f64,
}

/// Power of two of half the smallest subnormal.
const HALF_SUBNORMAL: i64 = -1075;

/// Hold the elements of `values` at `places` against the exact ones, on all cores.
///
/// # Errors
/// [`Fault::Unconfirmed`] for the first that is further off than its bound.
pub fn sampled(
    product: &Product,
    values: &[f64],
    bounds: &Bounds,
    places: &BTreeSet<(usize, usize)>,
) -> Result<Sample, Fault> {
    let width = product.b().cols();
    let places: Vec<(usize, usize)> = places.iter().copied().collect();
    let distances: Vec<Result<Option<Distance>, Fault>> = places
        .par_iter()
        .map(|&(r, c)| distance(product, values[r * width + c], bounds, r, c))
        .collect();
    let mut sample = Sample {
        elements: places.len() as u64,
        ..Sample::default()
    };
    let (mut sum, mut count) = (0.0, 0u32);
    for (&(row, col), distance) in places.iter().zip(distances) {
        let Some(distance) = distance? else {
            sample.beyond += 1;
            continue;
        };
        sample.error = sample.error.max(distance.error);
        sample.relative = sample.relative.max(distance.relative.unwrap_or(0.0));
        let Some(ratio) = distance.ratio else { continue };
        if sample.worst.is_none_or(|worst| ratio > worst.ratio) {
            sample.worst = Some(Worst {
                row,
                col,
                error: distance.error,
                magnitude: distance.magnitude,
                ratio,
            });
        }
        sample.above_underflow = sample.above_underflow.max(distance.above_underflow);
        sum += ratio;
        count += 1;
    }
    sample.mean = if count > 0 { sum / f64::from(count) } else { 0.0 };
    Ok(sample)
}

/// How far element (r, c) is from the exact one; `None` for one beyond the largest double, which has no distance from anything.
fn distance(
    product: &Product,
    value: f64,
    bounds: &Bounds,
    r: usize,
    c: usize,
) -> Result<Option<Distance>, Fault> {
    let (row, column) = (product.row(r), product.column(c));
    let magnitudes = |line: &[f64]| line.iter().map(|v| v.abs()).collect::<Vec<_>>();
    // The values of a product are finite.
    let (Some(got), Some(exact), Some(magnitude)) = (
        Dyadic::of(value),
        dot(&row, &column),
        dot(&magnitudes(&row), &magnitudes(&column)),
    ) else {
        return Ok(None);
    };
    let error = (&got - &exact).abs();
    let bound = bounds.at(r, c, value);
    if Dyadic::of(bound).is_some_and(|bound| error > bound) {
        return Err(Fault::Unconfirmed {
            batch: 0,
            candidate: format!("C[{r}, {c}]"),
            what: format!(
                "it is {value:e} where the exact one is {:e}, further off than {bound:e}",
                exact.to_f64()
            ),
        });
    }
    let half = Dyadic::new(1, HALF_SUBNORMAL);
    let beyond = (error > half).then(|| ratio(&(&error - &half), &magnitude));
    Ok(Some(Distance {
        above_underflow: beyond.flatten().unwrap_or(0.0),
        ratio: ratio(&error, &magnitude),
        relative: ratio(&error, &exact.abs()),
        error: at_least(&error),
        magnitude: at_least(&magnitude),
    }))
}

/// A number that is not negative as a double: one that is not 0 never becomes 0.
fn at_least(number: &Dyadic) -> f64 {
    let rounded = number.to_f64();
    if rounded == 0.0 && *number > Dyadic::new(0, 0) {
        return f64::from_bits(1);
    }
    rounded
}

/// `a / b`, both at least 0, in a range where neither is rounded to 0; `None` for a `b` of 0.
fn ratio(a: &Dyadic, b: &Dyadic) -> Option<f64> {
    if *b == Dyadic::new(0, 0) {
        return None;
    }
    let up = -(b.exponent + b.mantissa.bits() as i64);
    Some(a.shifted(up).to_f64() / b.shifted(up).to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiply::{Dense, Line, NO_UNIT, Order};

    #[test]
    fn errors_are_told_for_the_worst_element_the_mean_and_relative_to_exact_ones() {
        let dense =
            |rows, cols, values: &[f64]| Dense::new(rows, cols, Order::Rows, values.to_vec()).unwrap();
        // Exact: 0 with magnitude 2, 3 with 3, 0 with 0.
        let product = Product::new(
            dense(3, 2, &[1.0, 1.0, 1.0, -2.0, 0.0, 0.0]),
            dense(2, 1, &[1.0, -1.0]),
        )
        .unwrap();
        let bounds = |constant| {
            let line = Line {
                lost: 0.0,
                sum: 0.0,
                unit: NO_UNIT,
            };
            Bounds {
                rows: vec![line; 3],
                cols: vec![line],
                constant,
            }
        };
        let places = places(&product);
        let sample = sampled(&product, &[0.5, 3.25, 0.0], &bounds(1.0), &places).unwrap();
        assert_eq!((sample.elements, sample.error), (3, 0.5));
        let worst = sample.worst.unwrap();
        assert_eq!(
            (worst.row, worst.col, worst.error, worst.magnitude),
            (0, 0, 0.5, 2.0)
        );
        assert_eq!(sample.error_to_magnitude(), 0.25);
        assert_eq!(sample.relative, 0.25 / 3.0);
        assert_eq!(sample.mean, (0.25 + 0.25 / 3.0) / 2.0);
        assert_eq!((sample.beyond, sample.above_underflow), (0, 0.25));
        // An infinite element has no error, and a bound that is passed is told.
        let sample = sampled(&product, &[f64::INFINITY, 3.0, 0.0], &bounds(1.0), &places).unwrap();
        assert_eq!((sample.elements, sample.error, sample.beyond), (3, 0.0, 1));
        let fault = sampled(&product, &[0.5, 3.25, 0.0], &bounds(0.375), &places).unwrap_err();
        assert!(fault.to_string().contains("C[0, 0]"), "{fault}");
    }

    #[test]
    fn what_underflows_is_told_as_it_is_and_needs_no_more_accuracy() {
        let dense = |v: f64| Dense::new(1, 1, Order::Rows, vec![v]).unwrap();
        let product = Product::new(dense(2f64.powi(-600)), dense(2f64.powi(-600))).unwrap();
        let line = Line {
            lost: 0.0,
            sum: 0.0,
            unit: NO_UNIT,
        };
        let bounds = Bounds {
            rows: vec![line],
            cols: vec![line],
            constant: 1.0,
        };
        let sample = sampled(&product, &[0.0], &bounds, &places(&product)).unwrap();
        assert_eq!(
            (sample.error, sample.error_to_magnitude()),
            (f64::from_bits(1), 1.0)
        );
        assert_eq!((sample.relative, sample.above_underflow), (1.0, 0.0));
    }
}
