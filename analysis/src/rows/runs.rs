//! `runs.csv`.

use serde::{Deserialize, Serialize};

use crate::{
    columns::table,
    stats::{StatsError, finite, positive},
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
        /// Energy by the device's counter between two of its edges, J.
        pub energy_j: Option<f64>,
        /// Energy over the same time by integrating power samples, J.
        pub energy_integral_j: Option<f64>,
        /// Time between those two edges, s (not the same as `seconds`).
        pub energy_s: Option<f64>,
        /// = energy_integral_j / energy_j - 1.
        pub energy_gap_fraction: Option<f64>,
        /// = energy_j / energy_s.
        pub power_w: Option<f64>,
        /// Mean power of the idle periods before and after, W.
        pub idle_w: Option<f64>,
        /// = rate_units_per_s / power_w.
        pub units_per_joule: Option<f64>,
        /// = rate_units_per_s / (power_w - idle_w), if that is positive.
        pub units_per_joule_above_idle: Option<f64>,
        /// Mean SM clock of the power samples, MHz.
        pub sm_clock_mhz_mean: Option<f64>,
        /// Mean SM clock as the kernel itself measured it (cycles over global time), MHz.
        pub in_kernel_clock_mhz: Option<f64>,
        /// Streaming multiprocessors of the device.
        pub sms: Option<u32>,
        /// = rate_units_per_s / (clock in Hz * sms), by the in-kernel clock, else by the sampled one.
        pub units_per_clock_per_sm: Option<f64>,
        /// Mean temperature of the power samples, °C.
        pub temperature_c_mean: Option<f64>,
        /// Every throttle reason seen in the trial: names joined by `|`, or `none`.
        pub throttle_reasons: Option<String>,
        /// Power samples kept.
        pub power_samples: Option<u64>,
        /// Samples that came too late for their deadline.
        pub power_overruns: Option<u64>,
        /// Samples dropped because the driver's stamp had not changed.
        pub power_repeats: Option<u64>,
        /// `valid` or `invalid`.
        pub verdict: Verdict,
        /// Why it is invalid, or what a reader should know of a valid one (a software power cap).
        pub reason: Option<String>,
    }
}

impl RunRow {
    /// The row with every derived column (those described by `= …`) computed from its other columns.
    ///
    /// Only `+ - * /` are used, so the values are the same bits on every machine. Fails if `seconds` is not positive
    /// or a measured column is not finite.
    pub fn with_derived(mut self) -> Result<Self, StatsError> {
        positive("seconds", self.seconds)?;
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
