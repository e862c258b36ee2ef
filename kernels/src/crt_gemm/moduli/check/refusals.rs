//! Products that must not even be launched.

use crate::crt_gemm::check::Findings;
use crate::crt_gemm::moduli::kernel::ModuliKernel;
use crate::crt_gemm::moduli::table::ACCUMULATOR_DEPTH;
use crate::family::{Check, Verdict};
use crate::workload::{Batch, Collected, Fault, Outputs, Setup, Workload};

/// The check: without batches, since what it proves is that there are none.
pub struct ModuliRefusals {
    kernel: ModuliKernel,
}

impl ModuliRefusals {
    /// The check of a variant.
    pub fn new(kernel: ModuliKernel) -> ModuliRefusals {
        ModuliRefusals { kernel }
    }
}

impl Workload for ModuliRefusals {
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

impl Check for ModuliRefusals {
    fn name(&self) -> String {
        "refusals on the host".to_owned()
    }

    fn finish(&mut self) -> Verdict {
        let mut findings = Findings::default();
        let bound = ACCUMULATOR_DEPTH;
        for (depth, refused) in [(bound, false), (bound + 1, true), (usize::MAX, true)] {
            let named = self
                .kernel
                .count(depth)
                .is_err_and(|why| why.to_string().contains(&bound.to_string()));
            let show = |refused: &bool| {
                let word = if *refused { "refused" } else { "not refused" };
                format!("{word} with K <= {bound}")
            };
            findings.compare(
                "accumulator",
                [named],
                [refused],
                |_| format!("K = {depth}"),
                show,
            );
        }
        findings.verdict()
    }
}
