//! `summary.csv`.

use crate::columns::table;

table! {
    /// One row per variant and device, from the valid trials of runs.csv; wholly derived.
    #[derive(Default)]
    pub struct SummaryRow in "summary.csv" {
        /// Label of the variant; the A/A control is `FAMILY/NAME@aa`.
        pub variant: String,
        /// Label of the device.
        pub device: String,
        /// Valid trials.
        pub n: u32,
        /// Trials left out as invalid.
        pub n_invalid: u32,
        /// Mean rate over trials; empty if none is valid.
        pub rate_units_per_s_mean: Option<f64>,
        /// Standard deviation of it (n - 1); needs two trials.
        pub rate_units_per_s_sd: Option<f64>,
        /// Lower end of the 95 % Student-t interval of the mean; needs two trials.
        pub rate_units_per_s_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub rate_units_per_s_ci95_hi: Option<f64>,
        /// Label of the baseline that the ratio refers to; empty if the family has none.
        pub baseline: Option<String>,
        /// Rounds in which both this and the baseline are valid.
        pub ratio_rounds: u32,
        /// Mean over rounds of rate / the baseline's rate in the same round.
        pub ratio_to_baseline_mean: Option<f64>,
        /// Lower end of its 95 % Student-t interval; empty for the baseline itself and below two rounds.
        pub ratio_to_baseline_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub ratio_to_baseline_ci95_hi: Option<f64>,
        /// Mean energy of a trial (between counter edges), J.
        pub energy_j_mean: Option<f64>,
        /// Mean power under load, W.
        pub power_w_mean: Option<f64>,
        /// Mean idle power, W.
        pub idle_w: Option<f64>,
        /// Mean units per joule, gross.
        pub units_per_joule_mean: Option<f64>,
        /// Standard deviation of it (n - 1).
        pub units_per_joule_sd: Option<f64>,
        /// Lower end of its 95 % Student-t interval.
        pub units_per_joule_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub units_per_joule_ci95_hi: Option<f64>,
        /// Mean units per joule above idle.
        pub units_per_joule_above_idle_mean: Option<f64>,
        /// Mean over rounds of units per joule / the baseline's in the same round.
        pub units_per_joule_ratio_mean: Option<f64>,
        /// Lower end of its 95 % Student-t interval; empty for the baseline itself and below two rounds.
        pub units_per_joule_ratio_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub units_per_joule_ratio_ci95_hi: Option<f64>,
        /// Mean sampled SM clock, MHz.
        pub sm_clock_mhz_mean: Option<f64>,
        /// Mean SM clock as the kernel measured it, MHz.
        pub in_kernel_clock_mhz_mean: Option<f64>,
        /// Mean units per clock and SM.
        pub units_per_clock_per_sm_mean: Option<f64>,
        /// Standard deviation of it (n - 1).
        pub units_per_clock_per_sm_sd: Option<f64>,
        /// Lower end of its 95 % Student-t interval.
        pub units_per_clock_per_sm_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub units_per_clock_per_sm_ci95_hi: Option<f64>,
        /// Mean over rounds of units per clock and SM / the baseline's in the same round.
        pub units_per_clock_per_sm_ratio_mean: Option<f64>,
        /// Lower end of its 95 % Student-t interval; empty for the baseline itself and below two rounds.
        pub units_per_clock_per_sm_ratio_ci95_lo: Option<f64>,
        /// Upper end of it.
        pub units_per_clock_per_sm_ratio_ci95_hi: Option<f64>,
        /// Hits over the valid trials, for families with hits.
        pub hits: Option<u64>,
        /// Hits expected over the same trials.
        pub hits_expected: Option<f64>,
        /// Two-sided Poisson p-value of hits against hits_expected, to 4 digits.
        pub hits_p_value: Option<f64>,
    }
}
