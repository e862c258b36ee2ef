//! Rounds of trials, and the record rows that they leave.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_analysis::rows::RunRow;
use assay_analysis::{Summary, TrialPlan, summarise};
use assay_kernels::family::Production;

use super::contestant::{Contestant, batch_units};
use super::instruments::Instruments;
use super::plan::{Earlier, TrialRequest, Turn, baselines, turns};
use crate::book::Book;
use crate::device::{Device, DeviceInfo};
use crate::flow::FlowError;
use crate::interrupt;
use crate::power::Meter;
use crate::progress::{Bar, Progress};
use crate::select::Selected;

/// Length of each contestant's turn in the warm-up.
const WARMUP_TURN: Duration = Duration::from_millis(500);

/// What the trials came to.
pub struct Trials {
    /// A row per variant.
    pub summary: Summary,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// Time `selected` on `device` in rotated rounds, after the trials of `earlier`. The record is written anew after every trial.
///
/// # Errors
/// When a variant does not build, the device fails, the host does not confirm a hit, or the record cannot be written.
pub fn trials(
    selected: &[Selected],
    device: &dyn Device,
    request: &TrialRequest,
    mut earlier: Earlier,
    book: &mut Book,
    progress: &Progress,
) -> anyhow::Result<Trials> {
    let info = device.info();
    let baselines = baselines(selected);
    let baseline_labels: Vec<String> = baselines.iter().map(Selected::label).collect();
    let production = Production {
        seed: request.seed,
        first_base: earlier.next_base(),
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
    book.note_device(
        info,
        Some(TrialPlan {
            seconds: request.time.as_secs_f64(),
            rounds: earlier.whole_rounds(contestants.len()) + request.rounds,
            warmup_seconds: request.warmup.as_secs_f64(),
            baselines: baseline_labels.clone(),
        }),
    );
    for contestant in &contestants {
        book.note_production(&contestant.selected, contestant.build(), info);
    }
    let labels: Vec<&str> = contestants
        .iter()
        .map(|contestant| contestant.label.as_str())
        .collect();
    let turns = turns(&labels, request, &earlier);
    let mut instruments = Instruments::start(device, request, &mut earlier, book)?;

    let bar = progress.bar("trials", turns.len() as u64);
    bar.say("idle");
    instruments.rest();
    warm_up(&mut contestants, request, &mut instruments, book, &bar)?;
    let mut rows = earlier.rows;
    for turn in turns {
        let contestant = &mut contestants[turn.contestant];
        bar.say(&format!("round {}, {}", turn.round, contestant.label));
        let trial = rows.iter().map(|row| row.trial).max().unwrap_or(0) + 1;
        let before = instruments.begin(trial)?;
        let timed = contestant.run(request.time)?;
        let (in_kernel_clock_mhz, counts) = instruments.end(before.as_ref(), book)?;
        if interrupt::asked() {
            instruments.forget(trial); // A trial that was cut short is none.
            break;
        }
        let row = RunRow {
            trial,
            batches: timed.batches,
            base_first: timed.base_first,
            base_last: timed.base_last,
            units: timed.units,
            seconds: timed.seconds,
            hits: hit_bits(contestant).map(|_| timed.hits.len() as u64),
            in_kernel_clock_mhz,
            power_overruns: counts.map(|counts| counts.overruns),
            power_repeats: counts.map(|counts| counts.repeats),
            ..row_of(turn, contestant, info)
        };
        rows.push(row.derived(instruments.log().as_ref())?);
        book.keep_hits(&contestant.label, Some(trial), &timed.hits)?;
        write(&rows, &instruments, book)?;
        bar.advance(1);
    }
    if !interrupt::asked() {
        bar.say("idle");
        instruments.rest();
    }
    instruments.hand_over();
    instruments.note_failures(book);
    // Once more: what was idle after the rounds is known only now.
    let rows = rows
        .into_iter()
        .map(|row| row.derived(instruments.log().as_ref()))
        .collect::<Result<Vec<_>, _>>()?;
    write(&rows, &instruments, book)?;
    let summary = summarise(&rows, &baseline_labels)?;
    // Interrupted before the first trial was finished, there is nothing to sum up.
    if !rows.is_empty() {
        book.writer().write_table(&summary.rows)?;
    }
    Ok(Trials {
        summary,
        interrupted: interrupt::asked(),
    })
}

/// Every contestant once, and then in turn until the temperature stays or the time is over.
fn warm_up(
    contestants: &mut [Contestant],
    request: &TrialRequest,
    instruments: &mut Instruments,
    book: &mut Book,
    bar: &Bar,
) -> Result<(), FlowError> {
    instruments.warm_up();
    let start = Instant::now();
    let mut rise = None;
    'warm: loop {
        for contestant in &mut *contestants {
            bar.say(&format!(
                "warming up {}, {:.0} s",
                contestant.label,
                start.elapsed().as_secs_f64()
            ));
            contestant.run(WARMUP_TURN.min(request.time))?;
            if interrupt::asked() {
                break 'warm;
            }
        }
        let Some(meter) = instruments.meter() else { break };
        rise = meter.rise();
        if rise.is_some_and(Meter::is_plateau) || start.elapsed() >= request.warmup {
            break;
        }
    }
    let after = start.elapsed().as_secs_f64();
    match rise {
        Some(rise) if Meter::is_plateau(rise) => book.note(format!("warm-up reached its plateau after {after:.0} s")),
        Some(rise) => book.note(format!(
            "warm-up ended at its limit after {after:.0} s, the temperature was still rising by {rise:.1} °C in 5 s"
        )),
        None if instruments.meter().is_some() => book.note(format!(
            "warm-up took {after:.0} s: too short, or without the temperature that would show a plateau"
        )),
        None => {}
    }
    Ok(())
}

fn hit_bits(contestant: &Contestant) -> Option<u32> {
    let search = contestant.selected.family.search()?;
    Some(4 * search.zeros_tested())
}

/// The columns that are known before a trial.
fn row_of(turn: Turn, contestant: &Contestant, info: &DeviceInfo) -> RunRow {
    RunRow {
        round: turn.round,
        position: turn.position,
        variant: contestant.label.clone(),
        device: info.id.clone(),
        hit_bits: hit_bits(contestant),
        sms: info.gpu.as_ref().map(|gpu| gpu.multiprocessors),
        ..RunRow::default()
    }
}

fn write(rows: &[RunRow], instruments: &Instruments, book: &Book) -> anyhow::Result<()> {
    if let Some(samples) = instruments.samples() {
        book.writer().write_table(samples)?;
    }
    book.writer().write_table(rows)?;
    book.save()
}
