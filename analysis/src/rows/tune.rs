//! `tune.csv`.

use serde::{Deserialize, Serialize};

use super::RunRow;
use crate::{columns::table, stats::StatsError, summarise};

/// What the checks said of a candidate before it was timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Everything checked is right.
    #[default]
    Right,
    /// Something differs from the host's answer, or its text does not compile: a fault of the generator.
    Wrong,
    /// The family or the device does not take this combination; nothing was checked.
    Refused,
}

/// How a candidate left a rung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It was not timed, or not to the end of its rung.
    #[default]
    Unfinished,
    /// It went on to the next rung.
    Kept,
    /// It did not: others were better.
    Cut,
    /// It is the best there is.
    Winner,
    /// It was in the deciding rung and was not the best.
    Beaten,
    /// It is what the others are held against.
    Reference,
    /// It was rejected as wrong.
    Rejected,
    /// It could not be had at all.
    Refused,
}

table! {
    /// One row per candidate of a tuner and rung of the race; a candidate that was never timed has one row.
    #[derive(Default)]
    pub struct TuneRow in "tune.csv" {
        /// Number of the candidate in the order in which they were made; 0 is the variant that tuning started from.
        pub candidate: u32,
        /// Its label, as in runs.csv; the A/A control of the last rung is candidate 0 as `FAMILY/NAME@aa`.
        pub variant: String,
        /// What it has changed in the starting variant's file, as `key = value` joined by `; ` (`isa` is a setting of the device); empty for candidate 0.
        pub changes: Option<String>,
        /// `right`, `wrong` or `refused`: what the checks said before it was timed.
        pub verdict: Standing,
        /// Values compared with the host's answer before it was timed.
        pub checked: u64,
        /// The first layer that differs, in the order in which data flows; empty if none does.
        pub first_bad_layer: Option<String>,
        /// Rung of the race, from 0; empty if it was never timed, as is everything up to `units_per_joule_ratio_ci95_hi`.
        pub rung: Option<u32>,
        /// Planned length of a trial, s.
        pub trial_s: Option<f64>,
        /// First round (as in runs.csv) of this rung in which it was to be timed.
        pub round_first: Option<u32>,
        /// Rounds planned from that one on.
        pub rounds: Option<u32>,
        /// = valid trials of it in those rounds. From runs.csv, as are all columns down to `units_per_joule_ratio_ci95_hi`.
        pub n: Option<u32>,
        /// = mean rate over those trials.
        pub rate_units_per_s_mean: Option<f64>,
        /// = mean over those rounds of rate / candidate 0's rate in the same round.
        pub ratio_to_start_mean: Option<f64>,
        /// = lower end of its 95 % Student-t interval; empty for candidate 0 itself and below two rounds.
        pub ratio_to_start_ci95_lo: Option<f64>,
        /// = upper end of it.
        pub ratio_to_start_ci95_hi: Option<f64>,
        /// = mean units per joule, gross; empty without energies.
        pub units_per_joule_mean: Option<f64>,
        /// = mean over those rounds of units per joule / candidate 0's in the same round.
        pub units_per_joule_ratio_mean: Option<f64>,
        /// = lower end of its 95 % Student-t interval; empty for candidate 0 itself and below two rounds.
        pub units_per_joule_ratio_ci95_lo: Option<f64>,
        /// = upper end of it.
        pub units_per_joule_ratio_ci95_hi: Option<f64>,
        /// How it left the rung: `kept`, `cut`, `winner`, `beaten`, `reference`, `unfinished`, `rejected` (as wrong) or `refused`.
        pub fate: Fate,
        /// That in words, or what differs in a wrong candidate, or why one was refused.
        pub reason: Option<String>,
    }
}

impl TuneRow {
    /// Whether `run` is a trial in this row's rounds.
    fn covers(&self, run: &RunRow) -> bool {
        let (Some(first), Some(rounds)) = (self.round_first, self.rounds) else {
            return false;
        };
        first <= run.round && run.round - first < rounds
    }

    /// The row with every column described by `= …`, from the trials of the record; `start` is candidate 0's label.
    ///
    /// Fails where a trial's value cannot enter a statistic.
    pub fn derived(mut self, runs: &[RunRow], start: &str) -> Result<Self, StatsError> {
        let trials: Vec<RunRow> = runs
            .iter()
            .filter(|run| (run.variant == start || run.variant == self.variant) && self.covers(run))
            .cloned()
            .collect();
        let summary = summarise(&trials, &[start.to_owned()])?;
        let found = summary.rows.into_iter().find(|row| row.variant == self.variant);
        self.n = self.rung.map(|_| found.as_ref().map_or(0, |row| row.n));
        let found = found.unwrap_or_default();
        self.rate_units_per_s_mean = found.rate_units_per_s_mean;
        self.ratio_to_start_mean = found.ratio_to_baseline_mean;
        self.ratio_to_start_ci95_lo = found.ratio_to_baseline_ci95_lo;
        self.ratio_to_start_ci95_hi = found.ratio_to_baseline_ci95_hi;
        self.units_per_joule_mean = found.units_per_joule_mean;
        self.units_per_joule_ratio_mean = found.units_per_joule_ratio_mean;
        self.units_per_joule_ratio_ci95_lo = found.units_per_joule_ratio_ci95_lo;
        self.units_per_joule_ratio_ci95_hi = found.units_per_joule_ratio_ci95_hi;
        Ok(self)
    }
}
