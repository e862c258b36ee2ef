//! The winner as a variant's file, with what was measured as comments.

use std::fmt::Write;

use assay_analysis::rows::TuneRow;
use assay_analysis::{Objective, TunePlan};

use super::candidate::Workshop;
use super::ledger::Ledger;

/// The record's file that holds it.
pub const WINNER: &str = "winner.toml";

/// What a race came to.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Winner {
    /// Its label in the record.
    pub variant: String,
    /// What it changes in the starting variant; empty when that won.
    pub changes: String,
    /// The instruction set that it ran with, where that was turned. A variant's file cannot hold it.
    pub isa: Option<String>,
    /// Mean rate in the last rung that tells.
    pub rate_units_per_s: Option<f64>,
    /// Its objective over the starting variant's in the same rounds.
    pub ratio_to_start: Option<f64>,
    /// The 95 % interval of that.
    pub ratio_to_start_ci95: Option<[f64; 2]>,
    /// Mean units per joule.
    pub units_per_joule: Option<f64>,
    /// Whether it is better than the starting variant beyond that interval.
    pub improves: bool,
}

impl Winner {
    /// The winner of a race of which `rows` are written; `None` where nothing could be compared.
    pub fn of(
        rows: &[TuneRow],
        ledger: &Ledger,
        workshop: &Workshop,
        objective: Objective,
    ) -> Option<Winner> {
        ledger.telling_rung()?;
        let number = ledger.winner();
        let row = rows
            .iter()
            .find(|row| row.fate == assay_analysis::rows::Fate::Winner)?;
        let (mean, lo, hi) = match objective {
            Objective::Rate => (
                row.ratio_to_start_mean,
                row.ratio_to_start_ci95_lo,
                row.ratio_to_start_ci95_hi,
            ),
            Objective::Energy => (
                row.units_per_joule_ratio_mean,
                row.units_per_joule_ratio_ci95_lo,
                row.units_per_joule_ratio_ci95_hi,
            ),
        };
        let point = &ledger.entries.get(number)?.point;
        Some(Winner {
            variant: row.variant.clone(),
            changes: workshop.space.changes(point),
            isa: workshop.space.isa(point).map(|isa| isa.to_string()),
            rate_units_per_s: row.rate_units_per_s_mean,
            ratio_to_start: mean,
            ratio_to_start_ci95: lo.zip(hi).map(|(lo, hi)| [lo, hi]),
            units_per_joule: row.units_per_joule_mean,
            improves: number != 0 && lo.is_some_and(|lo| lo > 1.0),
        })
    }

    /// The file: comments, and a text that loads as a variant.
    pub fn file(
        &self,
        ledger: &Ledger,
        workshop: &Workshop,
        plan: &TunePlan,
        device: &str,
        command: &[String],
    ) -> String {
        let mut text = String::new();
        let mut comment = |line: &str| {
            let _ = writeln!(text, "# {}", one_line(line));
        };
        comment(&format!(
            "Found by `assay tune` from {} in {:.0} s; the record beside this file has every trial.",
            plan.start, plan.spent_s
        ));
        comment(&format!("device: {device}"));
        comment(&format!("command: {}", command.join(" ")));
        let changes = match self.changes.as_str() {
            "" => "none: no candidate was better",
            changes => changes,
        };
        comment(&format!("changes: {changes}"));
        if let Some(rate) = self.rate_units_per_s {
            comment(&format!("rate: {rate:.4e} units/s"));
        }
        if let Some(per_joule) = self.units_per_joule {
            comment(&format!("energy: {per_joule:.4e} units/J"));
        }
        if let (false, Some(ratio)) = (self.changes.is_empty(), self.ratio_to_start) {
            comment(&self.against_start(ratio, plan.objective));
        }
        if let Some(isa) = &self.isa {
            comment(&format!("instruction set: --isa {isa}"));
        }
        text.push('\n');
        let mut variant = ledger.entries.get(ledger.winner()).map_or_else(
            || workshop.space.text(&workshop.space.origin()),
            |entry| workshop.space.text(&entry.point),
        );
        if !self.changes.is_empty() {
            variant.set_summary(&format!("{} tuned on {device}: {}", plan.start, self.changes));
        }
        text + &variant.text()
    }

    fn against_start(&self, ratio: f64, objective: Objective) -> String {
        let what = match objective {
            Objective::Rate => "rate",
            Objective::Energy => "units per joule",
        };
        let interval = match self.ratio_to_start_ci95 {
            Some([lo, hi]) => format!(", 95 % interval {lo:.4} to {hi:.4}"),
            None => ", one round, so no interval".to_owned(),
        };
        let doubt = if self.improves {
            ""
        } else {
            ": not told from the starting variant"
        };
        format!("{what} / the starting variant's: {ratio:.4}{interval}{doubt}")
    }
}

/// A comment must not end before its line does.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
