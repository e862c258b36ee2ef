//! Products that must not even be launched.

use super::findings::Findings;
use crate::crt_gemm::kernel::Kernel;
use crate::crt_gemm::split2::ACCUMULATOR_DEPTH;
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Workload};

/// The check: without batches, since what it proves is that there are none.
pub struct RefusalCheck {
    kernel: Kernel,
}

impl RefusalCheck {
    /// The check of a variant.
    pub fn new(kernel: Kernel) -> RefusalCheck {
        RefusalCheck { kernel }
    }
}

impl Workload for RefusalCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(std::iter::empty())
    }

    fn batch(&mut self, _index: u64) -> Option<Batch> {
        None
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        Err(Fault::Malformed {
            batch: index,
            what: format!("{} outputs of a batch that was never submitted", outputs.len()),
        })
    }
}

impl Check for RefusalCheck {
    fn name(&self) -> String {
        "refusals on the host".to_owned()
    }

    fn finish(&mut self) -> Verdict {
        let mut findings = Findings::default();
        let bound = ACCUMULATOR_DEPTH;
        let named =
            |depth: usize| Kernel::status(depth).map_err(|why| why.to_string().contains(&bound.to_string()));
        for (depth, refused) in [(bound, false), (bound + 1, true), (usize::MAX, true)] {
            let got = named(depth);
            let words = |refused: bool| {
                format!(
                    "{} with K <= {bound}",
                    if refused { "refused" } else { "not refused" }
                )
            };
            findings.compare(
                "accumulator",
                [got == Err(true)],
                [refused],
                |_| format!("K = {depth}"),
                |refused| words(*refused),
            );
        }
        findings.verdict()
    }
}
