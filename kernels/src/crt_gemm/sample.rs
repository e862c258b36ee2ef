//! Seeded elements of a product against the exact ones: no bound may be passed.

use std::collections::BTreeSet;

use super::exact::{Dyadic, dot};
use super::problem::Shape;
use super::production::spot_checks;
use crate::multiply::{Bounds, Product, Sample};
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
    spot_checks(shape_of(product), &mut Seeded::new(product.seed))
}

/// Hold the elements of `values` at `places` against the exact ones.
///
/// # Errors
/// [`Fault::Unconfirmed`] for one that is further off than its bound.
pub fn sampled(
    product: &Product,
    values: &[f64],
    bounds: &Bounds,
    places: &BTreeSet<(usize, usize)>,
) -> Result<Sample, Fault> {
    let mut sample = Sample::default();
    let width = product.b().cols();
    for &(r, c) in places {
        sample.elements += 1;
        let value = values[r * width + c];
        let (row, column) = (product.row(r), product.column(c));
        let magnitudes = |line: &[f64]| line.iter().map(|v| v.abs()).collect::<Vec<_>>();
        let exact = dot(&row, &column);
        // The values of a product are finite; an element beyond the largest double has no distance from anything.
        let (Some(got), Some(exact)) = (Dyadic::of(value), exact) else {
            continue;
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
        let error = error.to_f64();
        sample.error = sample.error.max(error);
        let magnitude = dot(&magnitudes(&row), &magnitudes(&column)).map_or(0.0, |sum| sum.to_f64());
        if magnitude > 0.0 {
            sample.error_to_magnitude = sample.error_to_magnitude.max(error / magnitude);
        }
    }
    Ok(sample)
}
