//! What a race says: the ten best as a table, and the JSON document.

use assay_analysis::rows::{Fate, Standing, TuneRow};
use assay_analysis::{Objective, Table, TunePlan, tune_table};
use serde::Serialize;

use super::ledger::Ledger;
use super::race::End;
use super::winner::Winner;

/// Rows of the table.
const TOP: usize = 10;

/// The rows of the best candidates, the best first, each in the last rung in which it has a ratio; the starting variant at its place.
fn best<'r>(rows: &'r [TuneRow], ledger: &Ledger) -> Vec<&'r TuneRow> {
    let Some(telling) = ledger.telling_rung() else {
        return Vec::new();
    };
    let mut order: Vec<(usize, u32)> = Vec::new();
    for rung in (0..=telling).rev() {
        let mut ranked = ledger.ranking(rung);
        // The starting variant runs in every rung; its place is in the last one.
        if rung == telling {
            let place = ranked.iter().position(|(_, ratio)| *ratio <= 1.0);
            ranked.insert(place.unwrap_or(ranked.len()), (0, 1.0));
        }
        for (number, _) in ranked {
            if order.iter().all(|(known, _)| *known != number) {
                order.push((number, rung));
            }
        }
    }
    let row_of = |(number, rung): (usize, u32)| {
        let is_it = |row: &&TuneRow| {
            row.candidate as usize == number
                && row.rung == Some(rung)
                && !assay_analysis::is_control(&row.variant)
        };
        rows.iter().find(is_it)
    };
    order.into_iter().filter_map(row_of).take(TOP).collect()
}

/// The table for the screen, with what was refused and rejected below.
pub fn table(rows: &[TuneRow], ledger: &Ledger, objective: Objective) -> Table {
    let best: Vec<TuneRow> = best(rows, ledger).into_iter().cloned().collect();
    let control = rows
        .iter()
        .find(|row| assay_analysis::is_control(&row.variant) && row.n.is_some_and(|n| n > 0));
    let mut table = tune_table(&best, control, objective);
    let counts = Counts::of(ledger);
    table.notes.push(format!(
        "{} candidates were made: {} right, {} wrong, {} refused; {} were timed.",
        counts.made, counts.right, counts.wrong, counts.refused, counts.timed
    ));
    table.notes.extend(
        refusals(ledger)
            .into_iter()
            .map(|refusal| format!("{} refused: {}.", refusal.count, refusal.reason)),
    );
    let wrong = rows.iter().filter(|row| row.fate == Fate::Rejected);
    table.notes.extend(wrong.map(|row| {
        format!(
            "WRONG: {} ({}): {}",
            row.variant,
            row.changes.as_deref().unwrap_or("the starting variant"),
            row.reason.as_deref().unwrap_or_default()
        )
    }));
    table
}

/// How many candidates came how far.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    made: usize,
    right: usize,
    wrong: usize,
    refused: usize,
    timed: usize,
}

impl Counts {
    fn of(ledger: &Ledger) -> Counts {
        let of = |standing| {
            let entries = ledger.entries.iter().skip(1);
            entries.filter(|entry| entry.finding.standing == standing).count()
        };
        Counts {
            made: ledger.entries.len().saturating_sub(1),
            right: of(Standing::Right),
            wrong: of(Standing::Wrong),
            refused: of(Standing::Refused),
            timed: (1..ledger.entries.len())
                .filter(|number| ledger.last_ratio(*number).is_some())
                .count(),
        }
    }
}

/// A reason with the number of combinations that it refused.
#[derive(Debug, Clone, Serialize)]
struct Refusal {
    count: usize,
    reason: String,
}

fn refusals(ledger: &Ledger) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = Vec::new();
    let refused = ledger
        .entries
        .iter()
        .filter(|entry| entry.finding.standing == Standing::Refused);
    for entry in refused {
        let reason = entry.finding.reason.clone().unwrap_or_default();
        match refusals.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.count += 1,
            None => refusals.push(Refusal { count: 1, reason }),
        }
    }
    refusals
}

/// The JSON document of `tune`.
#[derive(Serialize)]
pub struct Document {
    schema: u32,
    ok: bool,
    record: String,
    device: String,
    seed: u64,
    #[serde(flatten)]
    plan: TunePlan,
    ended: End,
    space: u64,
    candidates: Counts,
    refusals: Vec<Refusal>,
    winner: Option<Winner>,
    results: Vec<TuneRow>,
}

impl Document {
    /// The document of a race that ended in `end`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a document gathers what there is to say"
    )]
    pub fn new(
        record: String,
        device: String,
        seed: u64,
        plan: TunePlan,
        end: End,
        space: u64,
        ledger: &Ledger,
        rows: &[TuneRow],
        winner: Option<Winner>,
    ) -> Document {
        let candidates = Counts::of(ledger);
        Document {
            schema: 1,
            ok: candidates.wrong == 0 && !matches!(end, End::Interrupted | End::BadStart),
            record,
            device,
            seed,
            plan,
            ended: end,
            space,
            candidates,
            refusals: refusals(ledger),
            winner,
            results: best(rows, ledger).into_iter().cloned().collect(),
        }
    }
}
