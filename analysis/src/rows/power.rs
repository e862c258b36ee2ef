//! `power.csv`.

use serde::{Deserialize, Serialize};

use crate::{ThrottleSet, columns::table};

/// What was going on when a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Nothing: an idle period before or after the rounds.
    Idle,
    /// The warm-up before the first round, and what lies between trials.
    Warmup,
    /// A trial.
    #[default]
    Trial,
}

table! {
    /// Every power sample in the order of time: of the idle periods, the warm-up and every trial.
    #[derive(Default)]
    pub struct PowerRow in "power.csv" {
        /// The trial (as in runs.csv) it belongs to; 0 outside trials.
        pub trial: u32,
        /// Host's monotonic time since the run started, s.
        pub t_host_s: f64,
        /// The driver's own stamp of the sample, µs since 1970.
        pub t_nvml_us: Option<u64>,
        /// Instant power, W.
        pub power_instant_w: Option<f64>,
        /// Average power as the driver gives it (a 1 s average on most cards), W.
        pub power_average_w: Option<f64>,
        /// The energy counter, mJ since an arbitrary start (the driver's load, the package's power-on).
        pub energy_total_mj: Option<u64>,
        /// SM clock, MHz.
        pub sm_clock_mhz: Option<u32>,
        /// Memory clock, MHz.
        pub mem_clock_mhz: Option<u32>,
        /// Temperature of the GPU, °C.
        pub temperature_c: Option<u32>,
        /// The driver's throttle reasons: names joined by `|`, or `none`.
        pub throttle_reasons: Option<ThrottleSet>,
        /// What was going on: `idle`, `warmup` (and what lies between trials) or `trial`.
        pub phase: Phase,
    }
}
