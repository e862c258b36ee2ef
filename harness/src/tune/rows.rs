//! The rows of `tune.csv`, as they follow from the ledger.

use assay_analysis::rows::{Fate, RunRow, Standing, TuneRow};
use assay_analysis::stats::StatsError;

use super::candidate::Workshop;
use super::ledger::{Entry, Heat, Ledger};

/// The rows, a winner among them once the race is `over`.
///
/// # Errors
/// When a trial's value cannot enter a statistic.
pub fn rows(
    ledger: &Ledger,
    workshop: &Workshop,
    runs: &[RunRow],
    decided: bool,
    over: bool,
) -> Result<Vec<TuneRow>, StatsError> {
    let scribe = Scribe {
        ledger,
        workshop,
        decided,
        winner: over.then(|| ledger.winner()),
    };
    let start = workshop.label(0);
    let rows = (0..)
        .zip(&ledger.entries)
        .flat_map(|(number, entry)| match number {
            0 => scribe.of_start(entry),
            _ => scribe.of_candidate(number, entry),
        });
    rows.map(|row| row.derived(runs, &start)).collect()
}

struct Scribe<'t> {
    ledger: &'t Ledger,
    workshop: &'t Workshop<'t>,
    decided: bool,
    /// The winner, once the race is over.
    winner: Option<usize>,
}

impl Scribe<'_> {
    /// What is known of a candidate without its trials.
    fn bare(&self, number: usize, entry: &Entry) -> TuneRow {
        let changes = self.workshop.space.changes(&entry.point);
        TuneRow {
            candidate: u32::try_from(number).unwrap_or(u32::MAX),
            variant: self.workshop.label(number),
            changes: (!changes.is_empty()).then_some(changes),
            verdict: entry.finding.standing,
            checked: entry.finding.checked,
            first_bad_layer: entry.finding.first_bad_layer.clone(),
            fate: match entry.finding.standing {
                Standing::Right => Fate::Unfinished,
                Standing::Wrong => Fate::Rejected,
                Standing::Refused => Fate::Refused,
            },
            reason: entry.finding.reason.clone(),
            ..TuneRow::default()
        }
    }

    /// The same in the rounds of some heats of one rung.
    fn timed(&self, number: usize, entry: &Entry, heats: &[&Heat]) -> TuneRow {
        let first = heats.first();
        TuneRow {
            rung: first.map(|heat| heat.rung),
            trial_s: first.map(|heat| heat.length.as_secs_f64()),
            round_first: first.map(|heat| heat.first_round),
            rounds: first.map(|_| heats.iter().map(|heat| heat.rounds).sum()),
            ..self.bare(number, entry)
        }
    }

    fn of_start(&self, entry: &Entry) -> Vec<TuneRow> {
        let Some(reached) = self.ledger.rung() else {
            return vec![self.bare(0, entry)];
        };
        let mut rows = Vec::new();
        for rung in 0..=reached {
            let heats: Vec<&Heat> = self.ledger.heats_of(rung).collect();
            let mut row = self.timed(0, entry, &heats);
            if row.verdict == Standing::Right {
                let telling = self.ledger.telling_rung().unwrap_or(reached);
                let won = self.winner == Some(0) && rung == telling;
                row.fate = if won { Fate::Winner } else { Fate::Reference };
                row.reason = won.then(|| "no candidate was better".to_owned());
            }
            rows.push(row);
        }
        if let Some(heat) = self.ledger.heats.last().filter(|heat| heat.last) {
            let row = self.timed(0, entry, &[heat]);
            rows.push(TuneRow {
                variant: format!("{}@aa", row.variant),
                fate: Fate::Reference,
                reason: Some("A/A control".to_owned()),
                ..row
            });
        }
        rows
    }

    fn of_candidate(&self, number: usize, entry: &Entry) -> Vec<TuneRow> {
        let reached = self
            .ledger
            .heats
            .iter()
            .filter(|heat| heat.members.contains(&number));
        let heats: Vec<&Heat> = reached.collect();
        if heats.is_empty() {
            let mut row = self.bare(number, entry);
            if entry.finding.standing == Standing::Right {
                row.reason = Some("the race ended before it was timed".to_owned());
            }
            return vec![row];
        }
        let right = entry.finding.standing == Standing::Right;
        let last = heats.len() - 1;
        (0..)
            .zip(&heats)
            .map(|(nth, heat)| {
                let mut row = self.timed(number, entry, &[heat]);
                if right || nth < last {
                    let place = self.place(number, heat.rung);
                    row.fate = self.fate(number, heat.rung, nth < last);
                    row.reason = Some(place);
                }
                row
            })
            .collect()
    }

    fn fate(&self, number: usize, rung: u32, goes_on: bool) -> Fate {
        let reached = self.ledger.rung().unwrap_or(0);
        if self.winner == Some(number) && self.ledger.telling_rung() == Some(rung) {
            Fate::Winner
        } else if goes_on {
            Fate::Kept
        } else if rung < reached {
            Fate::Cut
        } else if self.decided {
            Fate::Beaten
        } else {
            Fate::Unfinished
        }
    }

    fn place(&self, number: usize, rung: u32) -> String {
        let ranking = self.ledger.ranking(rung);
        match ranking.iter().position(|(ranked, _)| *ranked == number) {
            Some(place) => format!("place {} of {}", place + 1, ranking.len()),
            None => "no trial of it counts".to_owned(),
        }
    }
}
