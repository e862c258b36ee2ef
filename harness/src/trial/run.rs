//! Rounds of trials, and the record rows that they leave.

use std::sync::Arc;
use std::time::Duration;

use assay_analysis::rows::{RunRow, Verdict};
use assay_analysis::{Summary, TrialPlan, summarise};
use assay_kernels::family::{Family, Production};

use super::contestant::{Contestant, batch_units};
use super::order::order;
use crate::book::Book;
use crate::device::Device;
use crate::interrupt;
use crate::progress::Progress;
use crate::select::Selected;

/// What to time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRequest {
    /// Length of a trial.
    pub time: Duration,
    /// Rounds: each times every contestant once.
    pub rounds: u32,
    /// Length of the warm-up of each contestant before the first round.
    pub warmup: Duration,
    /// Seed of bases and order.
    pub seed: u64,
}

/// What the trials came to.
pub struct Trials {
    /// A row per trial.
    pub rows: Vec<RunRow>,
    /// A row per variant.
    pub summary: Summary,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// The baseline of each selected family: the family's own if it was selected, else the first that was.
fn baselines(selected: &[Selected]) -> Vec<Selected> {
    let mut families: Vec<&'static dyn Family> = Vec::new();
    for one in selected {
        if families.iter().all(|family| family.name() != one.family.name()) {
            families.push(one.family);
        }
    }
    families
        .into_iter()
        .filter_map(|family| {
            let mut of_family = selected.iter().filter(|one| one.family.name() == family.name());
            let first = of_family.clone().next();
            of_family
                .find(|one| one.variant.name() == family.baseline())
                .or(first)
                .cloned()
        })
        .collect()
}

/// Time `selected` on `device` in rotated rounds. The record is written anew after every trial.
///
/// # Errors
/// When a variant does not build, the device fails, the host does not confirm a hit, or the record cannot be written.
pub fn trials(
    selected: &[Selected],
    device: &dyn Device,
    request: &TrialRequest,
    book: &mut Book,
    progress: &Progress,
) -> anyhow::Result<Trials> {
    let info = device.info();
    let baselines = baselines(selected);
    let baseline_labels: Vec<String> = baselines.iter().map(Selected::label).collect();
    book.note_device(
        info,
        Some(TrialPlan {
            seconds: request.time.as_secs_f64(),
            rounds: request.rounds,
            warmup_seconds: request.warmup.as_secs_f64(),
            baselines: baseline_labels.clone(),
        }),
    );
    let production = Production {
        seed: request.seed,
        first_base: 0,
        prefix: Arc::from([]),
        batch_units: batch_units(info.kind),
    };
    let labelled = selected
        .iter()
        .map(|one| (one, one.label()))
        .chain(baselines.iter().map(|one| (one, format!("{}@aa", one.label()))));
    let mut contestants = labelled
        .map(|(one, label)| Contestant::new(one, label, device, &production))
        .collect::<anyhow::Result<Vec<_>>>()?;
    for contestant in &contestants {
        book.note_variant(&contestant.selected, contestant.build(), info);
    }
    let total = (contestants.len() as u32 * request.rounds).into();
    let bar = progress.bar("trials", total);
    for contestant in &mut contestants {
        bar.say(&format!("warming up {}", contestant.label));
        contestant.run(request.warmup)?;
    }
    let mut rows: Vec<RunRow> = Vec::new();
    'rounds: for round in 0..request.rounds {
        for (position, place) in order(contestants.len(), round as usize, request.seed)
            .into_iter()
            .enumerate()
        {
            let contestant = &mut contestants[place];
            bar.say(&format!("round {}, {}", round + 1, contestant.label));
            let timed = contestant.run(request.time)?;
            if interrupt::asked() {
                break 'rounds; // A trial that was cut short is none.
            }
            let hit_bits = contestant
                .selected
                .family
                .search()
                .map(|search| 4 * search.zeros_tested());
            let trial = rows.len() as u32 + 1;
            let row = RunRow {
                trial,
                round: round + 1,
                position: position as u32 + 1,
                variant: contestant.label.clone(),
                device: info.id.clone(),
                base_first: timed.base_first,
                base_last: timed.base_last,
                batches: timed.batches,
                units: timed.units,
                seconds: timed.seconds,
                hits: hit_bits.map(|_| timed.hits.len() as u64),
                hit_bits,
                sms: info.gpu.as_ref().map(|gpu| gpu.multiprocessors),
                verdict: Verdict::Valid,
                ..RunRow::default()
            };
            rows.push(row.with_derived()?);
            book.keep_hits(&contestant.label, Some(trial), &timed.hits)?;
            book.writer().write_table(&rows)?;
            book.save()?;
            bar.advance(1);
        }
    }
    let summary = summarise(&rows, &baseline_labels)?;
    book.writer().write_table(&summary.rows)?;
    Ok(Trials {
        rows,
        summary,
        interrupted: interrupt::asked(),
    })
}
