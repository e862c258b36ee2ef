//! Rounds of trials, and the record rows that they leave.

use std::time::{Duration, Instant};

use assay_analysis::{Floor, Summary, Table, TrialPlan, floor_table, stage_table, summarise};

use super::bench::{Bench, Place};
use super::contestant::Contestant;
use super::instruments::Instruments;
use super::plan::{Earlier, TrialRequest, baselines, turns};
use crate::book::{Book, floor};
use crate::device::Device;
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
    /// How near those come to a simpler product of their size that do many of them, and where their time went.
    pub details: Vec<Table>,
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
    earlier: Earlier,
    book: &mut Book,
    progress: &Progress,
) -> anyhow::Result<Trials> {
    let info = device.info();
    let baselines = baselines(selected);
    let baseline_labels: Vec<String> = baselines.iter().map(Selected::label).collect();
    let labelled = selected
        .iter()
        .map(|one| (one, one.label()))
        .chain(baselines.iter().map(|one| (one, format!("{}@aa", one.label()))));
    let mut contestants = labelled
        .map(|(one, label)| Contestant::new(one, label, device, request.seed, earlier.next_base()))
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
    let mut bench = Bench::start(device, request, earlier, book)?;

    let bar = progress.bar("trials", turns.len() as u64);
    // Plan and builds are in the manifest from here on: a record whose process is killed can be gone on with.
    book.writer().write_manifest()?;
    bar.say("idle");
    bench.instruments.rest();
    warm_up(&mut contestants, request, &mut bench.instruments, book, &bar)?;
    for turn in turns {
        let contestant = &mut contestants[turn.contestant];
        bar.say(&format!("round {}, {}", turn.round, contestant.label));
        let place = Place {
            round: turn.round,
            position: turn.position,
        };
        if bench.time(place, contestant, info, request.time, book)?.is_none() {
            break;
        }
        bench.write(book)?;
        bar.advance(1);
    }
    if !interrupt::asked() {
        bar.say("idle");
        bench.instruments.rest();
    }
    bench.finish(book)?;
    let mut summary = summarise(bench.rows(), &baseline_labels)?;
    let simple = selected
        .iter()
        .filter(|one| one.variant.floor() == Some(assay_kernels::family::Floor::Itself));
    summary.simple = simple.map(Selected::label).collect();
    // Interrupted before the first trial was finished, there is nothing to sum up.
    if !bench.rows().is_empty() {
        book.writer().write_table(&summary.rows)?;
    }
    let floors: Vec<(String, Floor)> = selected
        .iter()
        .filter_map(|one| Some((one.label(), floor(one.variant.floor()?))))
        .collect();
    let details = [
        floor_table(&summary, &floors),
        stage_table(bench.stages(), bench.rows()),
    ];
    Ok(Trials {
        summary,
        details: details.into_iter().flatten().collect(),
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
