//! `bounds.csv`.

use crate::columns::table;

table! {
    /// The most units that the pipes of a multiprocessor allow, by the account of the machine code: one row per variant.
    pub struct BoundRow in "bounds.csv" {
        /// Label of the variant.
        pub variant: String,
        /// Architecture, such as `sm_90`.
        pub arch: String,
        /// Units per clock and SM that the ALU allows; empty if no instruction of it is executed.
        pub alu_units_per_clock_per_sm: Option<f64>,
        /// Units per clock and SM that the FMA pipe allows; likewise.
        pub fma_units_per_clock_per_sm: Option<f64>,
        /// Units per clock and SM that the four schedulers allow.
        pub issue_units_per_clock_per_sm: Option<f64>,
    }
}

impl BoundRow {
    /// The least of the three, which the variant cannot pass, and what sets it, in words.
    pub fn lowest(&self) -> Option<(f64, &'static str)> {
        let bounds = [
            (self.alu_units_per_clock_per_sm, "ALU"),
            (self.fma_units_per_clock_per_sm, "FMA"),
            (self.issue_units_per_clock_per_sm, "issue"),
        ];
        bounds
            .into_iter()
            .filter_map(|(bound, name)| Some((bound?, name)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }
}
