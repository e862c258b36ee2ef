//! The overflow check: more hits than room must be rejected, never be silently short.

use crate::family::{Check, Difference, Verdict};
use crate::md5_q9::base::Base;
use crate::md5_q9::workload::{HIT_WORDS, Kernel, Span, hit_buffer, hit_words, reports};
use crate::workload::{Batch, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Candidates, of which one in 2^10 hits.
const CANDIDATES: u64 = 1 << 16;
/// Records behind the buffer's end that the kernel must leave alone.
const GUARD: u32 = 4;
const HITS: BufferId = BufferId(0);

/// Two launches over the same candidates: with room for exactly their hits, and with room for one fewer.
pub struct OverflowCheck {
    kernel: Kernel,
    base: Base,
    /// How many hits there are, by hashing.
    hits: u32,
    verdict: Verdict,
}

impl OverflowCheck {
    /// The kernel tests ten bits.
    pub fn new(kernel: Kernel, base: Base) -> OverflowCheck {
        let (walk, mask) = (kernel.walk(), kernel.test.mask());
        let slots = CANDIDATES / u64::from(walk.slot_candidates());
        let hits = (0..slots)
            .flat_map(|slot| walk.slot(slot))
            .filter(|&q9| (base.hashed_q61(q9) ^ base.zero_target()) & mask == 0)
            .count() as u32;
        OverflowCheck {
            kernel,
            base,
            hits,
            verdict: Verdict::default(),
        }
    }

    /// Room in batch `index`: first just enough, then one too few.
    fn capacity(&self, index: u64) -> u32 {
        self.hits.saturating_sub(index as u32)
    }
}

impl Workload for OverflowCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![hit_buffer("hits", self.hits + GUARD)])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let slots = CANDIDATES / u64::from(self.kernel.walk().slot_candidates());
        let span = Span {
            first: 0,
            slots,
            inner: self.kernel.file.launch.inner,
            target: self.base.zero_target(),
            hits: HITS,
            capacity: self.capacity(index),
            trace: HITS,
        };
        let words = hit_words(self.hits + GUARD);
        (index < 2).then(|| Batch {
            steps: vec![
                Step::Clear {
                    buffer: HITS,
                    words,
                    value: 0,
                },
                self.kernel.launch(&self.base, &span),
                Step::Download { buffer: HITS, words },
            ],
            units: self.kernel.walk().candidates(0..slots),
        })
    }

    fn collect(&mut self, index: u64, mut outputs: Outputs) -> Result<Collected, Fault> {
        let capacity = self.capacity(index);
        let behind = match outputs.as_mut_slice() {
            [words] if words.len() > hit_words(capacity) => words.split_off(hit_words(capacity)),
            _ => Vec::new(),
        };
        if let Some(place) = behind.iter().position(|&word| word != 0) {
            return Err(Fault::Malformed {
                batch: index,
                what: format!(
                    "the kernel wrote hit {} into a buffer for {capacity}",
                    capacity as usize + place / HIT_WORDS + 1
                ),
            });
        }
        let reports = reports(index, &outputs, capacity)?;
        let written = reports.iter().filter(|report| report.digest != [0; 4]).count() as u64;
        self.verdict.checked += u64::from(self.hits);
        if written != u64::from(self.hits) {
            self.verdict.mismatches += 1;
            self.verdict.first.get_or_insert_with(|| Difference {
                layer: "hit".to_owned(),
                candidate: self.base.id.clone(),
                got: format!("{written} hits"),
                expected: format!("{} hits, in a buffer for as many", self.hits),
            });
        }
        Ok(Collected::default())
    }
}

impl Check for OverflowCheck {
    fn name(&self) -> String {
        format!("overflow of {} hits on {}", self.hits, self.base.id)
    }

    fn finish(&mut self) -> Verdict {
        std::mem::take(&mut self.verdict)
    }
}
