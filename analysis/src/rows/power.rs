//! `power.csv`.

use crate::columns::table;

table! {
    /// Every power sample of every trial, idle periods included.
    pub struct PowerRow in "power.csv" {
        /// The trial (as in runs.csv) it belongs to.
        pub trial: u32,
        /// Host's monotonic time since the run started, s.
        pub t_host_s: f64,
        /// The driver's own stamp of the sample, µs since 1970.
        pub t_nvml_us: Option<u64>,
        /// Instant power, W.
        pub power_instant_w: Option<f64>,
        /// Average power as the driver gives it (a 1 s average on most cards), W.
        pub power_average_w: Option<f64>,
        /// The energy counter, mJ since the driver was loaded.
        pub energy_total_mj: Option<u64>,
        /// SM clock, MHz.
        pub sm_clock_mhz: Option<u32>,
        /// Memory clock, MHz.
        pub mem_clock_mhz: Option<u32>,
        /// Temperature of the GPU, °C.
        pub temperature_c: Option<u32>,
        /// The driver's throttle reasons: names joined by `|`, or `none`.
        pub throttle_reasons: Option<String>,
    }
}
