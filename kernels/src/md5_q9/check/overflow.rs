//! The overflow check: more hits than room must be rejected, never be silently short.

use crate::family::{Check, Verdict};
use crate::md5_q9::base::Base;
use crate::md5_q9::workload::{Kernel, Span, hit_buffer, hit_words, reports};
use crate::workload::{Batch, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Candidates, of which one in 2^10 hits.
const CANDIDATES: u64 = 1 << 20;
/// Room for far fewer.
const CAPACITY: u32 = 16;

/// One launch with about a thousand hits and room for sixteen.
pub struct OverflowCheck {
    kernel: Kernel,
    base: Base,
}

impl OverflowCheck {
    /// The kernel tests ten bits.
    pub fn new(kernel: Kernel, base: Base) -> OverflowCheck {
        OverflowCheck { kernel, base }
    }
}

impl Workload for OverflowCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![hit_buffer("hits", CAPACITY)])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let slots = CANDIDATES / u64::from(self.kernel.walk().slot_candidates());
        let hits = BufferId(0);
        let span = Span {
            first: 0,
            slots,
            inner: self.kernel.file.launch.inner,
            target: self.base.zero_target(),
            hits,
            capacity: CAPACITY,
            trace: hits,
        };
        (index == 0).then(|| Batch {
            steps: vec![
                Step::Clear {
                    buffer: hits,
                    words: 1,
                    value: 0,
                },
                self.kernel.launch(&self.base, &span),
                Step::Download {
                    buffer: hits,
                    words: hit_words(CAPACITY),
                },
            ],
            units: self.kernel.walk().candidates(0..slots),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        reports(index, &outputs, CAPACITY).map(|_| Collected::default())
    }
}

impl Check for OverflowCheck {
    fn name(&self) -> String {
        format!("overflow of {CAPACITY} hits on {}", self.base.id)
    }

    fn finish(&mut self) -> Verdict {
        Verdict::default()
    }
}
