//! All samples of a record, and what they say of each trial.

use super::{EDGES_MIN_S, Finding, GAP_FLAGGED, LEAD_S, SILENCE_MAX_S, samples::Stretch};
use crate::{
    Effect, ThrottleSet,
    rows::{Phase, PowerRow},
};

/// The samples of a record.
#[derive(Clone, Copy, Debug)]
pub struct PowerLog<'r> {
    rows: &'r [PowerRow],
}

/// What the samples say of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialPower {
    /// Energy by the counter between two of its edges, J.
    pub energy_j: Option<f64>,
    /// Energy by the integral over the same time (without a counter: over all samples after the lead), J.
    pub energy_integral_j: Option<f64>,
    /// That time, s.
    pub energy_s: Option<f64>,
    /// Mean power of the idle periods before and after, W.
    pub idle_w: Option<f64>,
    /// Mean SM clock, MHz.
    pub sm_clock_mhz_mean: Option<f64>,
    /// Mean temperature, °C.
    pub temperature_c_mean: Option<f64>,
    /// Every throttle reason seen.
    pub throttle_reasons: Option<ThrottleSet>,
    /// Samples.
    pub samples: u64,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

impl<'r> PowerLog<'r> {
    /// The log of `rows`, which are in the order of time.
    pub fn new(rows: &'r [PowerRow]) -> Self {
        Self { rows }
    }

    /// What the samples say of `trial`, which took `seconds`.
    pub fn trial(&self, trial: u32, seconds: f64) -> TrialPower {
        let rows: Vec<&PowerRow> = self
            .rows
            .iter()
            .filter(|row| row.trial == trial && row.phase == Phase::Trial)
            .collect();
        let mut power = TrialPower {
            samples: rows.len() as u64,
            idle_w: self.idle_around(trial),
            ..TrialPower::default()
        };
        if rows.is_empty() {
            power.findings.push(Finding::NoSamples);
            return power;
        }
        power.throttle_reasons = rows
            .iter()
            .filter_map(|row| row.throttle_reasons)
            .reduce(ThrottleSet::union);
        if let Some(reasons) = power.throttle_reasons {
            let (bad, held) = (reasons.with(Effect::Invalid), reasons.with(Effect::Label));
            power
                .findings
                .extend((!bad.is_empty()).then_some(Finding::Slowdown(bad)));
            power
                .findings
                .extend((!held.is_empty()).then_some(Finding::Held(held)));
        }
        let whole = Stretch::of(&rows);
        let (longest, covered) = whole.longest_silence();
        let silence = f64::max(longest, seconds - covered);
        if silence > SILENCE_MAX_S {
            power.findings.push(Finding::Silence { seconds: silence });
            return power;
        }
        let counted = whole.after(LEAD_S);
        power.sm_clock_mhz_mean = counted.mean(|row| row.sm_clock_mhz.map(f64::from));
        power.temperature_c_mean = counted.mean(|row| row.temperature_c.map(f64::from));
        power.measure(&counted);
        power
    }

    /// Mean power of the idle period before a trial and of the one after it, as far as there are any, W. A period ends where samples
    /// are missing: a record that was closed and gone on with has one idle period before that and another after it, and the counter
    /// went on in between.
    fn idle_around(&self, trial: u32) -> Option<f64> {
        let of_trial = |row: &PowerRow| row.trial == trial && row.phase == Phase::Trial;
        let first = self.rows.iter().position(of_trial)?;
        let last = self.rows.iter().rposition(of_trial)?;
        let idle = |row: &PowerRow| row.phase == Phase::Idle;
        let before = &self.rows[..first];
        let before = before.iter().rposition(idle).map(|end| {
            let start = before[..end]
                .iter()
                .rposition(|row| !idle(row))
                .map_or(0, |other| other + 1);
            &before[start + last_without_gap(&before[start..=end])..=end]
        });
        let after = &self.rows[last..];
        let after = after.iter().position(idle).map(|start| {
            let end = after[start..]
                .iter()
                .position(|row| !idle(row))
                .map_or(after.len(), |length| start + length);
            &after[start..start + first_without_gap(&after[start..end])]
        });
        let means: Vec<f64> = [before, after]
            .into_iter()
            .flatten()
            .filter_map(idle_power)
            .collect();
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    }
}

impl TrialPower {
    /// The energy, unless something forbids it.
    fn measure(&mut self, samples: &Stretch) {
        let mut between = samples.whole();
        if samples.has_counter() {
            if samples.went_back() {
                self.findings.push(Finding::Backwards);
                return;
            }
            if let Some(seconds) = samples.frozen() {
                self.findings.push(Finding::Frozen { seconds });
                return;
            }
            let Some(edges) = samples.edges() else { return };
            between = edges;
        }
        let seconds = samples.seconds(between);
        if seconds < EDGES_MIN_S {
            return;
        }
        self.energy_j = samples.counted(between);
        self.energy_integral_j = samples.integral(between);
        self.energy_s = (self.energy_j.is_some() || self.energy_integral_j.is_some()).then_some(seconds);
        if let (Some(counter), Some(integral)) = (self.energy_j, self.energy_integral_j)
            && counter > 0.0
        {
            let fraction = integral / counter - 1.0;
            if fraction.abs() > GAP_FLAGGED {
                self.findings.push(Finding::Gap { fraction });
            }
        }
    }
}

/// Whether samples are missing between two.
fn gap(pair: &[PowerRow]) -> bool {
    pair[1].t_host_s - pair[0].t_host_s > SILENCE_MAX_S
}

/// How many rows come before the first gap.
fn first_without_gap(rows: &[PowerRow]) -> usize {
    rows.windows(2)
        .position(gap)
        .map_or(rows.len(), |place| place + 1)
}

/// Index of the first row after the last gap.
fn last_without_gap(rows: &[PowerRow]) -> usize {
    rows.windows(2).rposition(gap).map_or(0, |place| place + 1)
}

/// Mean power of an idle period, its lead left out, W: by the counter's edges, else by the instant power.
fn idle_power(period: &[PowerRow]) -> Option<f64> {
    let samples = Stretch::of(&period.iter().collect::<Vec<_>>()).after(LEAD_S);
    let by_counter = samples
        .edges()
        .filter(|edges| samples.seconds(*edges) >= SILENCE_MAX_S && !samples.went_back())
        .and_then(|edges| Some(samples.counted(edges)? / samples.seconds(edges)));
    by_counter.or_else(|| samples.mean(|row| row.power_instant_w))
}
