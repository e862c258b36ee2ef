//! `runs.csv`.

use serde::{Deserialize, Serialize};

use crate::{
    Finding, PowerLog, ThrottleSet,
    columns::table,
    stats::{HIT_P_VALUE_MIN, StatsError, finite, poisson_two_sided, positive},
};

/// Whether a trial counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It counts.
    #[default]
    Valid,
    /// It does not; `reason` says why. It is never dropped from the file.
    Invalid,
}

table! {
    /// One row per trial: what was counted and measured, what follows from it, and whether it counts.
    #[derive(Default)]
    pub struct RunRow in "runs.csv" {
        /// Number of the trial, from 1 in the order of time.
        pub trial: u32,
        /// Round, from 1.
        pub round: u32,
        /// Place inside the round, from 1.
        pub position: u32,
        /// Label of the variant; the A/A control is `FAMILY/NAME@aa`.
        pub variant: String,
        /// Label of the device.
        pub device: String,
        /// First base worked on, for families with bases.
        pub base_first: Option<u64>,
        /// Last base worked on, for families with bases.
        pub base_last: Option<u64>,
        /// Batches run.
        pub batches: u64,
        /// Units done (candidates, multiply-adds, squarings).
        pub units: u64,
        /// Time that the rate counts, s.
        pub seconds: f64,
        /// = units / seconds.
        pub rate_units_per_s: f64,
        /// Hits that the host confirmed, for families with hits.
        pub hits: Option<u64>,
        /// Leading zero bits that make a hit, so that its odds are 2^-this.
        pub hit_bits: Option<u32>,
        /// = units / 2^hit_bits.
        pub hits_expected: Option<f64>,
        /// Energy by the device's counter between its first edge after 2 s and its last, J. From power.csv, as are all columns that say so.
        pub energy_j: Option<f64>,
        /// Energy over the same time by trapezoids under the instant power, J. From power.csv.
        pub energy_integral_j: Option<f64>,
        /// Time between those two edges, s (not the same as `seconds`); below 5 s there is no energy. From power.csv.
        pub energy_s: Option<f64>,
        /// = energy_integral_j / energy_j - 1.
        pub energy_gap_fraction: Option<f64>,
        /// = energy_j / energy_s.
        pub power_w: Option<f64>,
        /// Mean power of the idle periods before and after, W. From power.csv.
        pub idle_w: Option<f64>,
        /// = rate_units_per_s / power_w.
        pub units_per_joule: Option<f64>,
        /// = rate_units_per_s / (power_w - idle_w), if that is positive.
        pub units_per_joule_above_idle: Option<f64>,
        /// Mean SM clock of the power samples after 2 s, MHz. From power.csv.
        pub sm_clock_mhz_mean: Option<f64>,
        /// Mean SM clock as the kernel itself measured it (cycles over global time), MHz.
        pub in_kernel_clock_mhz: Option<f64>,
        /// Streaming multiprocessors of the device.
        pub sms: Option<u32>,
        /// = rate_units_per_s / (clock in Hz * sms), by the in-kernel clock, else by the sampled one.
        pub units_per_clock_per_sm: Option<f64>,
        /// Mean temperature of the power samples after 2 s, °C. From power.csv.
        pub temperature_c_mean: Option<f64>,
        /// Every throttle reason seen in the trial: names joined by `|`, or `none`. From power.csv.
        pub throttle_reasons: Option<ThrottleSet>,
        /// Power samples kept. From power.csv.
        pub power_samples: Option<u64>,
        /// Deadlines of the sampler that were missed or kept more than half a period late.
        pub power_overruns: Option<u64>,
        /// Samples dropped because the driver's stamp had not changed.
        pub power_repeats: Option<u64>,
        /// `valid` or `invalid`; follows from power.csv and the hits.
        pub verdict: Verdict,
        /// Why it is invalid, or what a reader should know of a valid one (a software power cap, a gap between counter and integral).
        pub reason: Option<String>,
    }
}

impl RunRow {
    /// The row with every column that follows from others: those of power.csv from `power` (`None` where power was not sampled),
    /// those described by `= …`, and the verdict with its reason.
    ///
    /// Only `+ - * /` are used, so the values are the same bits on every machine. Fails if `seconds` is not positive
    /// or a measured column is not finite.
    pub fn derived(mut self, power: Option<&PowerLog>) -> Result<Self, StatsError> {
        positive("seconds", self.seconds)?;
        let measured = power.map(|log| log.trial(self.trial, self.seconds));
        self.power_samples = measured.as_ref().map(|power| power.samples);
        let power = measured.unwrap_or_default();
        self.energy_j = power.energy_j;
        self.energy_integral_j = power.energy_integral_j;
        self.energy_s = power.energy_s;
        self.idle_w = power.idle_w;
        self.sm_clock_mhz_mean = power.sm_clock_mhz_mean;
        self.temperature_c_mean = power.temperature_c_mean;
        self.throttle_reasons = power.throttle_reasons;
        let mut row = self.with_quotients()?;
        row.judge(power.findings)?;
        Ok(row)
    }

    /// Verdict and reason, from what there is to say about the trial.
    fn judge(&mut self, mut findings: Vec<Finding>) -> Result<(), StatsError> {
        if let (Some(found), Some(expected)) = (self.hits, self.hits_expected)
            && poisson_two_sided(found, expected)? < HIT_P_VALUE_MIN
        {
            findings.push(Finding::Hits { found, expected });
        }
        self.verdict = if findings.iter().any(Finding::invalidates) {
            Verdict::Invalid
        } else {
            Verdict::Valid
        };
        let reasons: Vec<String> = findings.iter().map(Finding::to_string).collect();
        self.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        Ok(())
    }

    /// The columns described by `= …`.
    fn with_quotients(mut self) -> Result<Self, StatsError> {
        for (name, value) in [
            ("energy_j", self.energy_j),
            ("energy_integral_j", self.energy_integral_j),
            ("energy_s", self.energy_s),
            ("idle_w", self.idle_w),
            ("sm_clock_mhz_mean", self.sm_clock_mhz_mean),
            ("in_kernel_clock_mhz", self.in_kernel_clock_mhz),
            ("temperature_c_mean", self.temperature_c_mean),
        ] {
            finite(name, value.unwrap_or(0.0))?;
        }
        let rate = self.units as f64 / self.seconds;
        self.rate_units_per_s = rate;
        // 2^1023 is the largest power of two that a double holds; a digest has 128 bits.
        self.hits_expected = self
            .hit_bits
            .map(|bits| self.units as f64 / 2f64.powi(bits.min(1023) as i32));
        self.energy_gap_fraction = over(self.energy_integral_j, self.energy_j).map(|ratio| ratio - 1.0);
        self.power_w = over(self.energy_j, self.energy_s);
        self.units_per_joule = over(Some(rate), self.power_w);
        let above_idle = self.power_w.zip(self.idle_w).map(|(power, idle)| power - idle);
        self.units_per_joule_above_idle = over(Some(rate), above_idle);
        let clocks = self.in_kernel_clock_mhz.or(self.sm_clock_mhz_mean).zip(self.sms);
        self.units_per_clock_per_sm = over(Some(rate), clocks.map(|(mhz, sms)| mhz * 1e6 * f64::from(sms)));
        Ok(self)
    }
}

/// A quotient where both parts were measured and the divisor is positive.
fn over(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some(part? / whole.filter(|whole| *whole > 0.0)?)
}
