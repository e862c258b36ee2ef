//! Hit-set agreement: with the test narrowed to a few bits, every variant finds the same set.

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::prelude::*;

use crate::family::{Agreement, Check, Difference, Verdict};
use crate::md5_q9::base::Base;
use crate::md5_q9::options::Walk;
use crate::md5_q9::order::{LEFT_OUT, MEMBERS, ORBIT_STEP, orbit_slot};
use crate::md5_q9::workload::{Kernel, Span, Test, confirm, hit_buffer, hit_words, reports};
use crate::seeded::Seeded;
use crate::workload::{Batch, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Candidates of a slice.
const SLICE: u64 = 1 << 20;
/// Bits tested on a slice: about a thousand hits.
const SLICE_BITS: u32 = 10;
/// Bits tested on a whole base: about four thousand hits.
const WHOLE_BITS: u32 = 20;
/// Candidates a batch of a whole base.
const WHOLE_BATCH: u64 = 1 << 28;
/// Room for a batch's hits: four times the expectation, or more.
const CAPACITY: u32 = 4095;
const HITS: BufferId = BufferId(0);

/// The candidates over which sets are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Consecutive values of Q9 whose orbits lie side by side: y0 from `y0` and member `k`.
    Slice { y0: u32, k: u32 },
    /// All 2^32.
    Whole,
}

/// One variant's set over a scope, hit by hit confirmed on the host.
pub struct AgreementCheck {
    kernel: Kernel,
    base: Base,
    scope: Scope,
    batches: Vec<Vec<Range<u64>>>,
    found: BTreeSet<u64>,
    verdict: Verdict,
}

impl AgreementCheck {
    /// A seeded slice of 2^20 candidates; the oracle knows its set, too.
    pub fn slice(build: impl Fn(Test) -> Kernel, base: Base, seed: u64) -> AgreementCheck {
        let mut seeded = Seeded::new(seed);
        let blocks = u64::from(ORBIT_STEP) / 4096 - SLICE / 4096;
        let y0 = (seeded.below(blocks) * 4096) as u32;
        let scope = Scope::Slice {
            y0,
            k: seeded.below(MEMBERS.into()) as u32,
        };
        AgreementCheck::new(build(Test::Bits(SLICE_BITS)), base, scope)
    }

    /// A whole base.
    pub fn whole(build: impl Fn(Test) -> Kernel, base: Base) -> AgreementCheck {
        AgreementCheck::new(build(Test::Bits(WHOLE_BITS)), base, Scope::Whole)
    }

    fn new(kernel: Kernel, base: Base, scope: Scope) -> AgreementCheck {
        let walk = kernel.walk();
        let batches = match scope {
            Scope::Slice { .. } if walk == Walk::Tunnel => {
                let first = u64::from(scope.first_q9());
                vec![vec![first..first + SLICE]]
            }
            Scope::Slice { y0, .. } => {
                // Orbits with neighbouring y0 lie in 4096 rows, 256 side by side.
                let rows: Vec<Range<u64>> = (0..4096)
                    .map(|low| u64::from(orbit_slot(y0 + low)))
                    .map(|slot| slot..slot + SLICE / 4096)
                    .collect();
                rows.chunks(64).map(<[_]>::to_vec).collect()
            }
            Scope::Whole => {
                let step = WHOLE_BATCH / u64::from(walk.slot_candidates());
                (0..walk.slots().div_ceil(step))
                    .map(|i| std::iter::once(i * step..((i + 1) * step).min(walk.slots())).collect())
                    .collect()
            }
        };
        AgreementCheck {
            kernel,
            base,
            scope,
            batches,
            found: BTreeSet::new(),
            verdict: Verdict::default(),
        }
    }
}

impl Scope {
    /// Lowest Q9 of a slice: y runs upwards while Q9 = -y runs downwards.
    fn first_q9(self) -> u32 {
        match self {
            Scope::Slice { y0, k } => (y0.wrapping_add(k * ORBIT_STEP))
                .wrapping_add(SLICE as u32 - 1)
                .wrapping_neg(),
            Scope::Whole => 0,
        }
    }

    fn contains(self, q9: u32) -> bool {
        match self {
            Scope::Slice { .. } => u64::from(q9.wrapping_sub(self.first_q9())) < SLICE,
            Scope::Whole => true,
        }
    }
}

impl Workload for AgreementCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![hit_buffer("hits", CAPACITY)])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let spans = self.batches.get(index as usize)?;
        let walk = self.kernel.walk();
        let mut steps = vec![Step::Clear {
            buffer: HITS,
            words: 1,
            value: 0,
        }];
        steps.extend(spans.iter().map(|slots| {
            let span = Span {
                first: slots.start,
                slots: slots.end - slots.start,
                inner: self.kernel.file.launch.inner,
                target: self.base.zero_target(),
                hits: HITS,
                capacity: CAPACITY,
                trace: HITS,
            };
            self.kernel.launch(&self.base, &span)
        }));
        steps.push(Step::Download {
            buffer: HITS,
            words: hit_words(CAPACITY),
        });
        Some(Batch {
            steps,
            units: spans.iter().map(|slots| walk.candidates(slots.clone())).sum(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let walk = self.kernel.walk();
        let mut units = 0;
        for slots in &self.batches[index as usize] {
            units += walk.candidates(slots.clone());
        }
        for report in reports(index, &outputs, CAPACITY)? {
            confirm(
                index,
                &self.base,
                report,
                self.base.zero_target(),
                self.kernel.test.mask(),
            )?;
            if self.scope.contains(report.q9) && !self.found.insert(report.q9.into()) {
                self.verdict.duplicates += 1;
            }
        }
        Ok(Collected {
            units,
            ..Collected::default()
        })
    }
}

impl Check for AgreementCheck {
    fn name(&self) -> String {
        match self.scope {
            Scope::Slice { .. } => format!("hit set of 2^20 candidates of {}", self.base.id),
            Scope::Whole => format!("hit set of all of {}", self.base.id),
        }
    }

    fn finish(&mut self) -> Verdict {
        let mut verdict = std::mem::take(&mut self.verdict);
        let items = std::mem::take(&mut self.found);
        let first = self.scope.first_q9();
        let (key, omits) = match self.scope {
            Scope::Slice { .. } => {
                // The oracle's set, hashed candidate by candidate.
                let (target, mask) = (self.base.zero_target(), self.kernel.test.mask());
                let oracle: BTreeSet<u64> = (0..SLICE as u32)
                    .into_par_iter()
                    .map(|i| first.wrapping_add(i))
                    .filter(|&q9| (self.base.hashed_q61(q9) ^ target) & mask == 0)
                    .map(u64::from)
                    .collect();
                verdict.checked = SLICE;
                verdict.missing += oracle.difference(&items).count() as u64;
                verdict.mismatches += items.difference(&oracle).count() as u64;
                if let Some(q9) = oracle.symmetric_difference(&items).next() {
                    let there = |set: &BTreeSet<u64>| if set.contains(q9) { "a hit" } else { "no hit" };
                    verdict.first = Some(Difference {
                        layer: "hit".to_owned(),
                        candidate: format!("{} Q9 {q9:08x}", self.base.id),
                        got: there(&items).to_owned(),
                        expected: there(&oracle).to_owned(),
                    });
                }
                (
                    format!("{} slice from {first:08x}", self.base.id),
                    BTreeSet::new(),
                )
            }
            Scope::Whole => {
                verdict.checked = self.kernel.walk().candidates(0..self.kernel.walk().slots());
                let expected = verdict.checked as f64 / f64::from(1u32 << WHOLE_BITS);
                // Six standard deviations of a Poisson count: chance alone fails one run in 10^8.
                if (items.len() as f64 - expected).abs() > 6.0 * expected.sqrt() {
                    verdict.mismatches += 1;
                    verdict.first = Some(Difference {
                        layer: "hit".to_owned(),
                        candidate: self.base.id.clone(),
                        got: format!("{} hits", items.len()),
                        expected: format!("about {expected:.0}"),
                    });
                }
                let omits = match self.kernel.walk() {
                    Walk::Tunnel => BTreeSet::new(),
                    Walk::Orbit => BTreeSet::from([LEFT_OUT.into()]),
                };
                (format!("{} whole", self.base.id), omits)
            }
        };
        verdict.agreements = vec![Agreement { key, items, omits }];
        verdict
    }
}
