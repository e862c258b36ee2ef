//! A check of one large product: the size that a variant is asked for by name.

use super::multiplier::Multiplier;
use super::seeded_product::SeededProduct;
use crate::crt_gemm::check::Findings;
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Workload};

/// Elements that are computed anew on the host.
const SAMPLES: usize = 4096;
/// The layer that is seen.
const LAYER: &str = "scale";

/// The check: one product of seeded matrices, of which seeded elements are held against the host's answer.
pub struct SpotCheck<M> {
    product: SeededProduct<M>,
    edge: usize,
    findings: Findings,
}

impl<M: Multiplier> SpotCheck<M> {
    /// The check of a product of that edge.
    pub fn new(multiplier: M, edge: usize, seed: u64) -> SpotCheck<M> {
        SpotCheck {
            product: SeededProduct::new(multiplier, edge, seed, SAMPLES),
            edge,
            findings: Findings::default(),
        }
    }
}

impl<M: Multiplier> Workload for SpotCheck<M> {
    fn setup(&self) -> Setup {
        self.product.setup()
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        (index == 0).then(|| Batch {
            steps: [
                self.product.uploads(),
                self.product.steps(),
                self.product.downloads(),
            ]
            .concat(),
            units: self.product.shape().units(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let (_, findings) = self
            .product
            .findings(outputs)
            .map_err(|what| Fault::Malformed { batch: index, what })?;
        for finding in findings {
            self.findings.holds(LAYER, finding.outcome.is_ok(), || {
                (
                    format!("C[{}, {}]", finding.row, finding.col),
                    format!("{:e}", finding.value),
                    finding.outcome.err().unwrap_or_default(),
                )
            });
        }
        Ok(Collected {
            units: self.product.shape().units(),
            ..Collected::default()
        })
    }
}

impl<M: Multiplier> Check for SpotCheck<M> {
    fn name(&self) -> String {
        format!("edge {}, {} elements", self.edge, self.product.samples())
    }

    fn finish(&mut self) -> Verdict {
        self.findings.verdict()
    }
}
