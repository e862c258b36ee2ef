//! From a record back to the ledger of its race.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_analysis::rows::{RunRow, TuneRow, Verdict};
use assay_analysis::{Objective, is_control};

use super::ledger::{Entry, Finding, Heat, Lap, Ledger, Runner};
use super::schedule::Schedule;
use super::space::Space;

/// What is to be as large as possible, of one trial; `None` if the trial does not count.
pub fn value(run: &RunRow, objective: Objective) -> Option<f64> {
    let counts = run.verdict == Verdict::Valid;
    match objective {
        Objective::Rate => counts.then_some(run.rate_units_per_s),
        Objective::Energy => run.units_per_joule.filter(|_| counts),
    }
}

/// The ledger that left `rows` and `runs`.
///
/// # Errors
/// When a candidate is not in the space, or the rows contradict each other.
pub fn restore(
    rows: &[TuneRow],
    runs: &[RunRow],
    space: &Space,
    schedule: &Schedule,
    objective: Objective,
) -> Result<Ledger, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut runners: BTreeMap<&str, Runner> = BTreeMap::new();
    let mut heats: BTreeMap<u32, Heat> = BTreeMap::new();
    for row in rows {
        let number = row.candidate as usize;
        let runner = match number {
            0 if is_control(&row.variant) => Runner::Control,
            0 => Runner::Start,
            _ => Runner::Candidate(number),
        };
        runners.insert(&row.variant, runner);
        if number == entries.len() {
            entries.push(entry(row, space)?);
        } else if number > entries.len() {
            return Err(format!("candidate {} is missing", entries.len()));
        }
        let (Runner::Candidate(_), Some(rung), Some(first_round), Some(rounds), Some(length)) =
            (runner, row.rung, row.round_first, row.rounds, row.trial_s)
        else {
            continue;
        };
        let length = Duration::try_from_secs_f64(length).map_err(|error| format!("trial_s: {error}"))?;
        let heat = heats.entry(first_round).or_insert_with(|| Heat {
            rung,
            length,
            first_round,
            rounds,
            members: Vec::new(),
            last: false,
        });
        heat.members.push(number);
    }
    let mut heats: Vec<Heat> = heats.into_values().collect();
    for heat in &mut heats {
        heat.members.sort_unstable();
        heat.last = heat.rung > 0 && schedule.is_last(heat.members.len());
    }
    let laps = runs
        .iter()
        .filter_map(|run| {
            Some(Lap {
                round: run.round,
                runner: *runners.get(run.variant.as_str())?,
                value: value(run, objective),
            })
        })
        .collect();
    Ok(Ledger {
        entries,
        heats,
        laps,
        exhausted: false,
    })
}

/// A candidate, of which `row` is the first.
fn entry(row: &TuneRow, space: &Space) -> Result<Entry, String> {
    let changes = row.changes.as_deref().unwrap_or_default();
    let unknown = || {
        format!(
            "candidate {} has `{changes}`, which cannot be turned here",
            row.candidate
        )
    };
    Ok(Entry {
        point: space.point(changes).ok_or_else(unknown)?,
        finding: Finding {
            standing: row.verdict,
            checked: row.checked,
            first_bad_layer: row.first_bad_layer.clone(),
            // The reason of a right one is about its place, which follows from the trials.
            reason: row.reason.clone().filter(|_| row.verdict != Default::default()),
        },
    })
}
