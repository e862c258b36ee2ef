//! The production workload: bases one after the other, as trials time them and searches use them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::base::{Base, Prefix};
use super::workload::{Kernel, Span, confirm, hit_buffer, hit_words, reports};
use crate::seeded::Seeded;
use crate::workload::{Batch, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Records that a batch has room for: a base holds one hit on average.
const CAPACITY: u32 = 255;
/// Hit buffers, used in turn, so that two batches can be in flight.
const BUFFERS: usize = 2;

/// Bases from a seed, each walked from its first slot to its last in batches.
pub struct ProductionWorkload {
    kernel: Kernel,
    seed: u64,
    prefix: Prefix,
    lengths: Lengths,
    next_base: u64,
    next_slot: u64,
    base: Arc<Base>,
    in_flight: VecDeque<InFlight>,
}

/// Lengths of batches: drawn between half of the longest and all of it, so that launches do not beat with a power sensor
/// that looks at the card for a part of each tenth of a second.
struct Lengths {
    longest: u64,
    seeded: Seeded,
}

impl Lengths {
    fn new(longest: u64, seed: u64) -> Lengths {
        Lengths {
            longest,
            seeded: Seeded::new(seed),
        }
    }

    /// The next length, where `left` slots are left in the base. A rest below a quarter of the longest is taken along:
    /// no launch is a crumb.
    fn next(&mut self, left: u64) -> u64 {
        // In sixteenths, so that the cuts are as even as the longest.
        let drawn = (self.longest * (8 + self.seeded.below(9)) / 16).max(1);
        if left < drawn + self.longest.div_ceil(4) {
            left
        } else {
            drawn
        }
    }
}

/// A batch that was handed out and not yet collected.
struct InFlight {
    index: u64,
    base: Arc<Base>,
    base_index: u64,
    units: u64,
}

impl ProductionWorkload {
    /// Bases `first_base`, `first_base + 1`, ... of `seed`, in batches of about `batch_units` candidates.
    pub fn new(
        kernel: Kernel,
        seed: u64,
        first_base: u64,
        prefix: Prefix,
        batch_units: u64,
    ) -> ProductionWorkload {
        let walk = kernel.walk();
        // A base is divided evenly: no launch is a small remainder.
        let units = walk.candidates(0..walk.slots());
        let batches = (units as f64 / batch_units.max(1) as f64)
            .round()
            .clamp(1.0, walk.slots() as f64);
        let batch_slots = walk.slots().div_ceil(batches as u64);
        let base = Arc::new(Base::new(
            kernel.file.options.shape(),
            seed,
            first_base,
            prefix.clone(),
        ));
        ProductionWorkload {
            kernel,
            seed,
            prefix,
            lengths: Lengths::new(batch_slots, seed),
            next_base: first_base,
            next_slot: 0,
            base,
            in_flight: VecDeque::new(),
        }
    }
}

impl Workload for ProductionWorkload {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![
            hit_buffer("hits 0", CAPACITY),
            hit_buffer("hits 1", CAPACITY),
        ])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let walk = self.kernel.walk();
        let first = self.next_slot;
        let slots = self.lengths.next(walk.slots() - first);
        let base = Arc::clone(&self.base);
        let hits = BufferId((index % BUFFERS as u64) as usize);
        let span = Span {
            first,
            slots,
            inner: self.kernel.file.launch.inner,
            target: base.zero_target(),
            hits,
            capacity: CAPACITY,
            trace: hits,
        };
        let units = walk.candidates(first..first + slots);
        let steps = vec![
            Step::Clear {
                buffer: hits,
                words: 1,
                value: 0,
            },
            self.kernel.launch(&base, &span),
            Step::Download {
                buffer: hits,
                words: hit_words(CAPACITY),
            },
        ];
        self.in_flight.push_back(InFlight {
            index,
            base,
            base_index: self.next_base,
            units,
        });
        self.next_slot += slots;
        if self.next_slot == walk.slots() {
            (self.next_base, self.next_slot) = (self.next_base.wrapping_add(1), 0);
            self.base = Arc::new(Base::new(
                self.kernel.file.options.shape(),
                self.seed,
                self.next_base,
                self.prefix.clone(),
            ));
        }
        Some(Batch { steps, units })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let Some(InFlight {
            base,
            base_index,
            units,
            ..
        }) = self.in_flight.pop_front().filter(|batch| batch.index == index)
        else {
            return Err(Fault::Malformed {
                batch: index,
                what: "it came back out of order".to_owned(),
            });
        };
        let hits = reports(index, &outputs, CAPACITY)?
            .into_iter()
            .map(|report| confirm(index, &base, report, base.zero_target(), u32::MAX))
            .collect::<Result<_, _>>()?;
        Ok(Collected {
            units,
            base: Some(base_index),
            hits,
            hits_expected: units as f64 / 2f64.powi(32),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_vary_cover_the_base_and_leave_no_crumb() {
        for longest in [1u64, 2, 100, 1 << 25, 1 << 32] {
            let total = longest << 5;
            let mut lengths = Lengths::new(longest, 3);
            let mut taken = Vec::new();
            let mut left = total;
            while left > 0 {
                let slots = lengths.next(left);
                assert!(slots >= left.min(longest.div_ceil(4)) && slots <= longest + longest.div_ceil(4));
                left -= slots;
                taken.push(slots);
            }
            assert_eq!(taken.iter().sum::<u64>(), total);
            taken.sort_unstable();
            taken.dedup();
            assert!(longest < 16 || taken.len() > 1, "{longest}: {taken:?}");
        }
    }
}
