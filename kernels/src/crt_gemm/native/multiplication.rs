//! Somebody's own product by the library's doubles: one batch, held against exact elements within their bounds.

use std::collections::BTreeSet;

use super::kernel::{A, B, C, check_size, element, gemm, holds, setup};
use crate::crt_gemm::problem::Geometry;
use crate::crt_gemm::sample::{places, sampled, shape_of};
use crate::crt_gemm::{Matrix, Refusal, words};
use crate::library::GemmKind;
use crate::multiply::{Bounds, Line, Multiplication, Multiplied, NO_UNIT, Product, product_up, sum_up};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// A product by the library.
pub struct NativeMultiplication {
    variant: String,
    kind: GemmKind,
    product: Product,
    places: BTreeSet<(usize, usize)>,
    result: Option<Multiplied>,
}

impl NativeMultiplication {
    /// `product` by the library, for the variant called `variant`.
    ///
    /// # Errors
    /// When a size is beyond the library's 32-bit integers.
    pub fn new(variant: &str, kind: GemmKind, product: Product) -> Result<NativeMultiplication, Refusal> {
        check_size(shape_of(&product))?;
        Ok(NativeMultiplication {
            variant: variant.to_owned(),
            kind,
            places: places(&product),
            product,
            result: None,
        })
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            shape: shape_of(&self.product),
            orders: [self.product.a().order(), self.product.b().order()],
            gap: 0,
        }
    }
}

impl NativeMultiplication {
    /// Hold element (r, c) against what a validation and a trial allow of it: where no bound is given, all that there is.
    fn confirm(&self, batch: u64, r: usize, c: usize, value: f64) -> Result<(), Fault> {
        let line = |rows, cols, values| Matrix { rows, cols, values };
        let depth = self.product.depth();
        let (row, column) = (
            line(1, depth, self.product.row(r)),
            line(depth, 1, self.product.column(c)),
        );
        holds(value, element(self.kind, &row, &column, 0, 0)).map_err(|host| Fault::Unconfirmed {
            batch,
            candidate: format!("C[{r}, {c}]"),
            what: format!("it is {value:e} where {host}"),
        })
    }
}

/// K roundings of sums of magnitudes: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.5. A sum of
/// |a| |b| is at most the largest |a| times the sum of |b|, so all of it is written as if each a had been off by so much.
/// Of the emulation's error nobody states a bound, so none is given.
fn bounds(kind: GemmKind, product: &Product) -> Bounds {
    let depth = product.depth() as f64;
    let roundings = depth * f64::EPSILON / 2.0;
    let factor = (roundings / (1.0 - roundings)).next_up();
    let line = |values: Vec<f64>, factor: f64| {
        let largest = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        Line {
            lost: product_up(factor, largest),
            sum: values.iter().fold(0.0, |sum, v| sum_up(sum, v.abs())),
            // Without a K there is nothing to round.
            unit: if product.depth() == 0 { 0 } else { NO_UNIT },
        }
    };
    Bounds {
        rows: (0..product.a().rows())
            .map(|i| line(product.row(i), factor))
            .collect(),
        cols: (0..product.b().cols())
            .map(|j| line(product.column(j), 0.0))
            .collect(),
        constant: match kind {
            GemmKind::F64FixedPoint { .. } => f64::INFINITY,
            // What each product loses below the smallest normal number.
            GemmKind::F64 | GemmKind::S8 => depth * f64::from_bits(1),
        },
    }
}

impl Workload for NativeMultiplication {
    fn setup(&self) -> Setup {
        setup(&self.variant, std::iter::once(self.geometry()))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        if index > 0 {
            return None;
        }
        let geometry = self.geometry();
        let words = 2 * geometry.c_doubles();
        let mut steps: Vec<Step> = [(A, self.product.a()), (B, self.product.b())]
            .map(|(buffer, matrix)| Step::Upload {
                buffer,
                words: words::of_doubles(matrix.values()),
            })
            .into();
        // The library takes no empty sizes.
        steps.push(if geometry.shape.units() > 0 {
            Step::Gemm(gemm(&geometry, self.kind))
        } else {
            Step::Clear {
                buffer: C,
                words,
                value: 0,
            }
        });
        steps.push(Step::Download { buffer: C, words });
        Some(Batch {
            steps,
            units: geometry.shape.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let shape = shape_of(&self.product);
        let words = match outputs.as_slice() {
            [words] if words.len() == 2 * shape.elements() => words,
            _ => {
                return Err(Fault::Malformed {
                    batch: index,
                    what: format!("{} downloads instead of C", outputs.len()),
                });
            }
        };
        let values: Vec<f64> = words::doubles(words).collect();
        for &(r, c) in &self.places {
            self.confirm(index, r, c, values[r * shape.cols + c])?;
        }
        let bounds = bounds(self.kind, &self.product);
        let sample = sampled(&self.product, &values, &bounds, &self.places)?;
        self.result = Some(Multiplied {
            rows: shape.rows,
            cols: shape.cols,
            values,
            bounds,
            moduli: None,
            sample,
        });
        Ok(Collected {
            units: shape.units(),
            ..Collected::default()
        })
    }
}

impl Multiplication for NativeMultiplication {
    fn finish(&mut self) -> Option<Multiplied> {
        self.result.take()
    }
}
