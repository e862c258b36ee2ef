//! `checks.csv`.

use crate::columns::table;

table! {
    /// One row per variant and check of a validation, in the order in which they were run; a record that was continued holds those of each part.
    #[derive(Default)]
    pub struct CheckRow in "checks.csv" {
        /// Label of the variant.
        pub variant: String,
        /// Device label.
        pub device: String,
        /// What was checked.
        pub check: String,
        /// Candidates, or values of a matrix, that were compared with the host's answer; of `two sessions at once` batches.
        pub checked: u64,
        /// Those that differ.
        pub mismatches: u64,
        /// Candidates reported more than once.
        pub duplicates: u64,
        /// Candidates that should have been reported and were not.
        pub missing: u64,
        /// Rows of a vector file that the variant does not cover.
        pub not_covered: u64,
        /// The first layer that differs, in the order in which data flows; empty where none does.
        pub first_bad_layer: Option<String>,
        /// What differs there; empty where nothing does.
        pub message: Option<String>,
        /// = mismatches + duplicates + missing is 0.
        pub right: bool,
    }
}

impl CheckRow {
    /// The row with what follows from other columns.
    pub fn derived(self) -> CheckRow {
        let right = self.mismatches == 0 && self.duplicates == 0 && self.missing == 0;
        CheckRow { right, ..self }
    }
}
