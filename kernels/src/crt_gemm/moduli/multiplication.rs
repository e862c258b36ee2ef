//! Somebody's own product: one batch, confirmed in part and bounded in whole.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::bounds::bounds;
use super::buffers::Place;
use super::confirm::{Claim, EXPONENTS};
use super::kernel::{ModuliKernel, SIDES};
use super::numbers::MAX_BITS;
use crate::crt_gemm::problem::{Geometry, Shape, Side};
use crate::crt_gemm::sample::{places, sampled, shape_of};
use crate::crt_gemm::{Refusal, words};
use crate::multiply::{Moduli, Multiplication, Multiplied, Product};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// A product by N moduli. Seeded elements are held against the host's whole numbers under the device's exponents, and against
/// the exact ones within their bounds. That every other element's exponents are right is what a validation proves.
pub struct ModuliMultiplication {
    kernel: ModuliKernel,
    product: Product,
    count: usize,
    places: BTreeSet<(usize, usize)>,
    result: Option<Multiplied>,
}

impl ModuliMultiplication {
    /// `product` by the build `kernel`.
    ///
    /// # Errors
    /// When K is beyond what 32-bit sums hold, or a size beyond what a launch takes.
    pub fn new(kernel: ModuliKernel, product: Product) -> Result<ModuliMultiplication, Refusal> {
        let count = kernel.count(product.depth())?;
        kernel.check_size(shape_of(&product), count)?;
        Ok(ModuliMultiplication {
            places: places(&product),
            kernel,
            count,
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

    /// The exponents of the lines of A and of B.
    fn exponents(&self, lines: [&[u32]; 2]) -> Result<[Vec<i32>; 2], Fault> {
        for (line, words) in ["row", "column"].into_iter().zip(lines) {
            let odd = |&word: &u32| (word as i32).unsigned_abs() > EXPONENTS as u32;
            if let Some(number) = words.iter().position(odd) {
                return Err(Fault::Unconfirmed {
                    batch: 0,
                    candidate: format!("the scaling of {line} {number}"),
                    what: format!("2^{} is none of any line of doubles", words[number] as i32),
                });
            }
        }
        Ok(lines.map(|words| words.iter().map(|&word| word as i32).collect()))
    }
}

impl Workload for ModuliMultiplication {
    fn setup(&self) -> Setup {
        self.kernel.setup(std::iter::once((self.geometry(), self.count)))
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        if index > 0 {
            return None;
        }
        let geometry = self.geometry();
        let Shape { rows, cols, .. } = geometry.shape;
        let mut steps: Vec<Step> = SIDES
            .into_iter()
            .zip([self.product.a(), self.product.b()])
            .map(|(side, matrix)| Step::Upload {
                buffer: Place::Values(side).id(),
                words: words::of_doubles(matrix.values()),
            })
            .collect();
        steps.extend(self.kernel.steps(&geometry, self.count));
        let downloads = [
            (Place::Exponents(Side::A), rows),
            (Place::Exponents(Side::B), cols),
            (Place::C, 2 * geometry.c_doubles()),
            (Place::Status, 1),
        ];
        steps.extend(downloads.map(|(place, words)| Step::Download {
            buffer: place.id(),
            words,
        }));
        Some(Batch {
            steps,
            units: geometry.shape.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let Shape { rows, cols, .. } = shape_of(&self.product);
        let malformed = |what: String| Fault::Malformed { batch: index, what };
        let [of_rows, of_cols, c, status]: [Vec<u32>; 4] = outputs
            .try_into()
            .map_err(|outputs: Outputs| malformed(format!("{} downloads instead of 4", outputs.len())))?;
        let lengths = [of_rows.len(), of_cols.len(), c.len(), status.len()];
        if lengths != [rows, cols, 2 * rows * cols, 1] {
            return Err(malformed(format!("downloads of {lengths:?} words")));
        }
        if status != [0] {
            return Err(Fault::Unconfirmed {
                batch: index,
                candidate: "the product".to_owned(),
                what: format!(
                    "the device refused it with status {} where the host finds nothing wrong",
                    status[0]
                ),
            });
        }
        let [s, t] = self.exponents([&of_rows, &of_cols])?;
        let values: Vec<f64> = words::doubles(&c).collect();
        let places: Vec<(usize, usize)> = self.places.iter().copied().collect();
        // All are looked at before the first that is wrong is told: which that is does not depend on the cores.
        let confirmed: Vec<Result<(), Fault>> = places
            .par_iter()
            .map(|&(row, col)| {
                let claim = Claim {
                    row,
                    col,
                    value: values[row * cols + col],
                    exponents: (s[row], t[col]),
                };
                claim.confirm(index, self.product.row(row), self.product.column(col), self.count)
            })
            .collect();
        confirmed.into_iter().collect::<Result<(), Fault>>()?;
        let bounds = bounds(&self.product, &s, &t);
        let sample = sampled(&self.product, &values, &bounds, &self.places)?;
        self.result = Some(Multiplied {
            rows,
            cols,
            values,
            bounds,
            moduli: Some(Moduli {
                count: self.count,
                bits: self.kernel.file.bits(),
                most_bits: MAX_BITS,
            }),
            sample,
        });
        Ok(Collected {
            units: shape_of(&self.product).units(),
            ..Collected::default()
        })
    }
}

impl Multiplication for ModuliMultiplication {
    fn finish(&mut self) -> Option<Multiplied> {
        self.result.take()
    }
}
