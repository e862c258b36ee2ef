//! alpha (A B) + beta C0 from a product, with the bound carried on.

use super::bounds::{half_gap, product_up, sum_up};
use super::{Dense, Multiplied};

/// What is added to a product.
#[derive(Debug, Clone, Copy)]
pub struct Addend<'m> {
    /// Its factor.
    pub beta: f64,
    /// C0, of the product's shape.
    pub matrix: &'m Dense,
}

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Row after row.
    pub values: Vec<f64>,
    /// How far they may be from the exact ones.
    pub errors: Errors,
}

/// An element's number with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// The number.
    pub value: f64,
    /// Row, from 0.
    pub row: usize,
    /// Column, from 0.
    pub col: usize,
}

/// Bounds on the errors of all elements, in few numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Errors {
    /// The largest bound; `None` without an element that has one.
    pub largest: Option<Extreme>,
    /// The largest bound divided by its element's magnitude, among elements that are not 0.
    pub relative: Option<Extreme>,
    /// Elements that are exact.
    pub exact: u64,
    /// Elements that are 0 where the exact one may be another: a bound relative to them does not exist.
    pub vanished: u64,
    /// Elements without a bound: not finite, or from lines whose sum of magnitudes is beyond the largest double.
    pub unbounded: u64,
}

impl Errors {
    /// Add the element `value` at (row, col), which may be off by `bound`.
    fn add(&mut self, row: usize, col: usize, value: f64, bound: f64) {
        // Written so that a NaN has no bound either.
        if !(value.is_finite() && bound.is_finite()) {
            self.unbounded += 1;
            return;
        }
        let raise = |extreme: &mut Option<Extreme>, value: f64| {
            if extreme.is_none_or(|extreme| value > extreme.value) {
                *extreme = Some(Extreme { value, row, col });
            }
        };
        raise(&mut self.largest, bound);
        self.exact += u64::from(bound == 0.0);
        if value != 0.0 {
            raise(
                &mut self.relative,
                (bound / value.abs()).next_up() * f64::from(bound > 0.0),
            );
        } else if bound > 0.0 {
            self.vanished += 1;
        }
    }
}

impl Multiplied {
    /// `alpha` times the product plus `addend`: each product of two numbers rounded, then their sum; nothing is rounded where
    /// alpha is 1 or there is no addend. With an alpha of 0 the product does not matter, whatever it is.
    ///
    /// # Panics
    /// When the addend has another shape.
    #[must_use]
    pub fn combined(self, alpha: f64, addend: Option<Addend>) -> Combined {
        let Multiplied {
            rows,
            cols,
            mut values,
            bounds,
            ..
        } = self;
        if let Some(addend) = &addend {
            assert!(
                (addend.matrix.rows(), addend.matrix.cols()) == (rows, cols),
                "C0 has the product's shape"
            );
        }
        let mut errors = Errors::default();
        for (place, element) in values.iter_mut().enumerate() {
            let (r, c) = (place / cols, place % cols);
            let (mut value, mut bound) = (*element, bounds.at(r, c, *element));
            if alpha == 0.0 {
                (value, bound) = (0.0, 0.0);
            } else if alpha != 1.0 {
                let scaled = alpha * value;
                bound = sum_up(
                    product_up(bound, alpha.abs()),
                    product_rounding(alpha, value, scaled),
                );
                value = scaled;
            }
            if let Some(Addend { beta, matrix }) = addend {
                let added = beta * matrix.at(r, c);
                bound = sum_up(bound, product_rounding(beta, matrix.at(r, c), added));
                let sum = value + added;
                bound = sum_up(bound, sum_rounding(value, added, sum));
                value = sum;
            }
            errors.add(r, c, value, bound);
            *element = value;
        }
        Combined {
            rows,
            cols,
            values,
            errors,
        }
    }
}

/// From here on what a product of two doubles is rounded by is a double itself: 106 bits below it end above the smallest
/// subnormal.
const EXACT_FROM: f64 = f64::from_bits((1023 - 960) << 52);

/// By how much a b was changed when it was rounded to `product`.
fn product_rounding(a: f64, b: f64, product: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        0.0
    } else if !product.is_finite() {
        f64::INFINITY
    } else if product.abs() >= EXACT_FROM {
        a.mul_add(b, -product).abs()
    } else {
        half_gap(product)
    }
}

/// By how much a + b was changed when it was rounded to `sum`: D. Knuth, "The Art of Computer Programming", volume 2, 4.2.2,
/// theorem B.
fn sum_rounding(a: f64, b: f64, sum: f64) -> f64 {
    if !sum.is_finite() {
        return f64::INFINITY;
    }
    let b_part = sum - a;
    let a_part = sum - b_part;
    let error = (a - a_part) + (b - b_part);
    // What overflows on the way says nothing.
    if error.is_finite() {
        error.abs()
    } else {
        half_gap(sum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::crt_gemm::exact::Dyadic;
    use crate::multiply::{Bounds, Line, NO_UNIT, Order, Sample};

    /// One element, off by `lost` at most.
    fn one(value: f64, lost: f64, unit: i32) -> Multiplied {
        let line = |lost| Line { lost, sum: 1.0, unit };
        Multiplied {
            rows: 1,
            cols: 1,
            values: vec![value],
            bounds: Bounds {
                rows: vec![line(lost)],
                cols: vec![line(0.0)],
                constant: 0.0,
            },
            moduli: None,
            sample: Sample::default(),
        }
    }

    fn dense(value: f64) -> Dense {
        Dense::new(1, 1, Order::Rows, vec![value]).unwrap()
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |v| v.is_finite())
    }

    proptest! {
        #[test]
        fn the_bound_covers_every_rounding(alpha in finite(), c in finite(), beta in finite(), c0 in finite()) {
            let matrix = dense(c0);
            // An exact element: all that is left are the roundings here.
            let combined = one(c, 0.0, i32::MAX / 4).combined(alpha, Some(Addend { beta, matrix: &matrix }));
            let of = |v: f64| Dyadic::of(v).unwrap();
            let exact = &(&of(alpha) * &of(c)) + &(&of(beta) * &of(c0));
            match combined.errors.largest {
                Some(largest) => {
                    let error = (&of(combined.values[0]) - &exact).abs();
                    prop_assert!(error <= of(largest.value), "{:e} in {:e}", error.to_f64(), largest.value);
                }
                None => prop_assert_eq!(combined.errors.unbounded, 1),
            }
        }
    }

    #[test]
    fn whole_numbers_stay_exact_and_an_alpha_of_one_changes_nothing() {
        let matrix = dense(7.0);
        let addend = Addend {
            beta: -2.0,
            matrix: &matrix,
        };
        let combined = one(5.0, 0.0, 0).combined(3.0, Some(addend));
        assert_eq!((combined.values[0], combined.errors.exact), (1.0, 1));
        let combined = one(0.1, 0.0, NO_UNIT).combined(1.0, None);
        assert_eq!(combined.values[0], 0.1);
        assert_eq!(combined.errors.largest.unwrap().value, half_gap(0.1));
    }

    #[test]
    fn an_alpha_of_zero_leaves_nothing_of_the_product() {
        let combined = one(f64::INFINITY, 1.0, NO_UNIT).combined(0.0, None);
        assert_eq!((combined.values[0], combined.errors.exact), (0.0, 1));
    }

    #[test]
    fn what_is_not_finite_or_zero_is_counted_apart() {
        let errors = one(f64::NEG_INFINITY, 0.0, NO_UNIT).combined(1.0, None).errors;
        assert_eq!((errors.unbounded, errors.largest), (1, None));
        let errors = one(0.0, 1e-9, 0).combined(1.0, None).errors;
        assert_eq!((errors.vanished, errors.relative), (1, None));
        let errors = one(2.0, 1.0, 0).combined(1.0, None).errors;
        assert_eq!(errors.relative.unwrap().value, 0.5f64.next_up().next_up());
    }
}
