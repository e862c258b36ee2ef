//! The production workload.

use super::multiplier::Multiplier;
use super::places::repeats;
use super::seeded_product::SeededProduct;
use crate::family::Production;
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Step, Workload};

/// Elements of the first product that are computed anew on the host.
const SPOT_CHECKS: usize = 64;

/// Products of one pair of seeded matrices, over and over. The first batch brings the whole of C, of which seeded elements are
/// held against the host's answer; every later one brings the first row, which must be the same bit for bit.
pub struct TimedProducts<M> {
    product: SeededProduct<M>,
    /// Those of one product: what they hand to the kernels takes the host longer to make than a card a small product.
    steps: Vec<Step>,
    repeats: u64,
    first_row: Vec<u32>,
}

impl<M: Multiplier> TimedProducts<M> {
    /// Products of that edge, as many a batch as come near what was asked for.
    pub fn new(multiplier: M, edge: usize, request: &Production) -> TimedProducts<M> {
        let product = SeededProduct::new(multiplier, edge, request.seed, SPOT_CHECKS);
        TimedProducts {
            repeats: repeats(product.shape(), request),
            steps: product.steps(),
            product,
            first_row: Vec::new(),
        }
    }

    fn units(&self) -> u64 {
        self.repeats * self.product.shape().units()
    }

    fn row_words(&self) -> usize {
        2 * self.product.shape().cols
    }

    fn first(&mut self, outputs: Outputs) -> Result<(), Fault> {
        let (mut c, findings) = self
            .product
            .findings(outputs)
            .map_err(|what| Fault::Malformed { batch: 0, what })?;
        for finding in findings {
            let value = finding.value;
            finding.outcome.map_err(|what| Fault::Unconfirmed {
                batch: 0,
                candidate: format!("C[{}, {}]", finding.row, finding.col),
                what: format!("it is {value:e} where {what}"),
            })?;
        }
        c.truncate(self.row_words());
        self.first_row = c;
        Ok(())
    }
}

impl<M: Multiplier> Workload for TimedProducts<M> {
    fn setup(&self) -> Setup {
        self.product.setup()
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let mut steps = Vec::new();
        if index == 0 {
            steps.extend(self.product.uploads());
        }
        for _ in 0..self.repeats {
            steps.extend_from_slice(&self.steps);
        }
        if index == 0 {
            steps.extend(self.product.downloads());
        } else {
            steps.push(Step::Download {
                buffer: self.product.multiplier.result(),
                words: self.row_words(),
            });
        }
        Some(Batch {
            steps,
            units: self.units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        if index == 0 {
            self.first(outputs)?;
        } else {
            let [row]: [Vec<u32>; 1] = outputs.try_into().map_err(|outputs: Outputs| Fault::Malformed {
                batch: index,
                what: format!("{} downloads instead of one", outputs.len()),
            })?;
            if row != self.first_row {
                return Err(Fault::Unconfirmed {
                    batch: index,
                    candidate: "row 0 of C".to_owned(),
                    what: "the same product came out differently".to_owned(),
                });
            }
        }
        Ok(Collected {
            units: self.units(),
            ..Collected::default()
        })
    }
}
