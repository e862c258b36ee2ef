//! Planted hits: the production build must report a candidate when the target is its Q61, and nothing else.

use std::collections::HashMap;

use crate::family::{Check, Difference, Verdict};
use crate::md5_q9::base::Base;
use crate::md5_q9::options::{LaunchOptions, Walk};
use crate::md5_q9::order::{orbit_slot, row_borders};
use crate::md5_q9::workload::{Kernel, Report, Span, confirm, hit_buffer, hit_words, reports};
use crate::seeded::Seeded;
use crate::workload::{Batch, BufferId, Collected, Fault, Outputs, Setup, Step, Workload};

/// Candidates at seeded places.
const SEEDED: usize = 1024;
/// Launches a batch.
const LAUNCHES: usize = 32;
/// Room for a batch's hits.
const CAPACITY: u32 = 1023;
const HITS: BufferId = BufferId(0);

/// A candidate and the launch that must report it.
struct Plant {
    q9: u32,
    target: u32,
    first: u64,
    slots: u64,
    inner: u32,
}

/// The planted hits of one base.
pub struct PlantedCheck {
    kernel: Kernel,
    base: Base,
    plants: Vec<Plant>,
    verdict: Verdict,
}

impl PlantedCheck {
    /// Seeded plants, and one at every edge of the launch: its first and last slot, lanes 0 and 31, both sides of
    /// the border between blocks, every place of a thread's inner loop, every member of an orbit.
    pub fn new(kernel: Kernel, base: Base, seed: u64) -> PlantedCheck {
        let plants = plants(&kernel, &base, &mut Seeded::new(seed));
        PlantedCheck {
            kernel,
            base,
            plants,
            verdict: Verdict::default(),
        }
    }

    fn plants_of(&self, batch: u64) -> &[Plant] {
        let start = (batch as usize).saturating_mul(LAUNCHES).min(self.plants.len());
        &self.plants[start..(start + LAUNCHES).min(self.plants.len())]
    }
}

fn plants(kernel: &Kernel, base: &Base, seeded: &mut Seeded) -> Vec<Plant> {
    let walk = kernel.walk();
    let LaunchOptions {
        block,
        inner: production_inner,
    } = kernel.file.launch;
    // Two interleaved rounds and a tail of one.
    let inner = 2 * kernel.file.options.interleave + 1;
    // A second block that is not full, and a last thread with one slot less than the others.
    let threads = u64::from(2 * block - 3);
    let slots = threads * u64::from(inner) - 1;
    let plant = |first: u64, slots: u64, inner: u32, q9: u32| Plant {
        q9,
        target: base.candidate(q9).q[60],
        first,
        slots,
        inner,
    };
    let mut plants = Vec::new();
    while plants.len() < SEEDED {
        let q9 = seeded.bits() as u32;
        if let Some((slot, _)) = walk.find(q9) {
            let first = slot.saturating_sub(seeded.below(slots)).min(walk.slots() - slots);
            plants.push(plant(first, slots, inner, q9));
        }
    }
    let last_thread = u64::from(block) - 1;
    let mut offsets: Vec<u64> = [0, 31, 32, last_thread, last_thread + 1, threads - 1]
        .into_iter()
        .flat_map(|thread| [thread * u64::from(inner), (thread + 1) * u64::from(inner) - 1])
        .chain((0..u64::from(inner)).map(|place| 33 * u64::from(inner) + place))
        .chain([slots - 1])
        .filter(|&offset| offset < slots)
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    let firsts = [0, seeded.below(walk.slots() - slots), walk.slots() - slots];
    for first in firsts {
        for &offset in &offsets {
            plants.extend(ends_of_slot(walk, first, first + offset).map(|q9| plant(first, slots, inner, q9)));
        }
    }
    // Every member of orbits with the shortest and the longest groups.
    if walk == Walk::Orbit {
        for y0 in [0, 0xfff, 0x1000, 0x0f0f_0f0e] {
            let slot = u64::from(orbit_slot(y0));
            let first = slot.min(walk.slots() - slots);
            plants.extend(walk.slot(slot).map(|q9| plant(first, slots, inner, q9)));
        }
    }
    // Threads that go from one row of the order to the next.
    if walk == Walk::Orbit {
        for border in row_borders() {
            for slot in border - 3..border + 3 {
                plants.extend(ends_of_slot(walk, border - 3, slot).map(|q9| plant(border - 3, 6, 6, q9)));
            }
        }
    }
    // The launch as production makes it: a full block, first and last slot.
    let production_slots = u64::from(block) * u64::from(production_inner);
    let first = seeded.below(walk.slots() - production_slots);
    for slot in [first, first + production_slots - 1] {
        plants.extend(
            ends_of_slot(walk, first, slot).map(|q9| plant(first, production_slots, production_inner, q9)),
        );
    }
    plants
}

/// The first and the last candidate of a slot, or of the last slot before it that is not empty.
fn ends_of_slot(walk: Walk, first: u64, slot: u64) -> impl Iterator<Item = u32> {
    let slot = (first..=slot)
        .rev()
        .find(|&slot| walk.slot(slot).next().is_some())
        .unwrap_or(slot);
    let ends = [walk.slot(slot).next(), walk.slot(slot).last()];
    let both = if walk.slot_candidates() == 1 { 1 } else { 2 };
    ends.into_iter().take(both).flatten()
}

impl Workload for PlantedCheck {
    fn setup(&self) -> Setup {
        self.kernel.setup(vec![hit_buffer("hits", CAPACITY)])
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        let plants = self.plants_of(index);
        if plants.is_empty() {
            return None;
        }
        let walk = self.kernel.walk();
        let launches = plants.iter().map(|plant| {
            let &Plant {
                first,
                slots,
                inner,
                target,
                ..
            } = plant;
            let span = Span {
                first,
                slots,
                inner,
                target,
                hits: HITS,
                capacity: CAPACITY,
                trace: HITS,
            };
            self.kernel.launch(&self.base, &span)
        });
        let clear = Step::Clear {
            buffer: HITS,
            words: 1,
            value: 0,
        };
        let download = Step::Download {
            buffer: HITS,
            words: hit_words(CAPACITY),
        };
        Some(Batch {
            steps: std::iter::once(clear).chain(launches).chain([download]).collect(),
            units: plants
                .iter()
                .map(|plant| walk.candidates(plant.first..plant.first + plant.slots))
                .sum(),
        })
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        let reports = reports(index, &outputs, CAPACITY)?;
        let mut found: HashMap<u32, u64> = HashMap::new();
        for Report { q9, .. } in &reports {
            *found.entry(*q9).or_default() += 1;
        }
        let walk = self.kernel.walk();
        let mut verdict = std::mem::take(&mut self.verdict);
        // What is reported must be a candidate of a launch whose target is its Q61, and as often as there are such.
        for report in &reports {
            let q61 = self.base.candidate(report.q9).q[60];
            let confirmed = confirm(index, &self.base, *report, q61, u32::MAX);
            let wanted = walk.find(report.q9).map_or(0, |(slot, _)| {
                let launches = self.plants_of(index).iter();
                launches
                    .filter(|plant| {
                        plant.target == q61 && (plant.first..plant.first + plant.slots).contains(&slot)
                    })
                    .count() as u64
            });
            if confirmed.is_err() || wanted == 0 {
                verdict.mismatches += 1;
                let got = confirmed
                    .err()
                    .map_or_else(|| "a report".to_owned(), |fault| fault.to_string());
                note(&mut verdict, &self.base, report.q9, got, "no report");
            } else if let Some(times) = found.remove(&report.q9) {
                verdict.duplicates += times.saturating_sub(wanted);
                verdict.missing += wanted.saturating_sub(times);
                found.insert(report.q9, wanted);
            }
        }
        let plants = self.plants_of(index);
        verdict.checked += plants.len() as u64;
        for plant in plants.iter().filter(|plant| !found.contains_key(&plant.q9)) {
            verdict.missing += 1;
            note(
                &mut verdict,
                &self.base,
                plant.q9,
                "no report".to_owned(),
                "a report: the target is its Q61",
            );
        }
        self.verdict = verdict;
        Ok(Collected {
            units: self.verdict.checked,
            ..Collected::default()
        })
    }
}

/// Keeps the first difference.
fn note(verdict: &mut Verdict, base: &Base, q9: u32, got: String, expected: &str) {
    verdict.first.get_or_insert_with(|| Difference {
        layer: "hit".to_owned(),
        candidate: format!("{} Q9 {q9:08x}", base.id),
        got,
        expected: expected.to_owned(),
    });
}

impl Check for PlantedCheck {
    fn name(&self) -> String {
        format!("{} planted hits on {}", self.plants.len(), self.base.id)
    }

    fn finish(&mut self) -> Verdict {
        std::mem::take(&mut self.verdict)
    }
}
