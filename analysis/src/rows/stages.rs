//! `stages.csv`.

use crate::columns::table;

table! {
    /// One row per trial and stage: how long the launches of a kernel, or a kind of call of a library, took on the device. Only for variants whose batches have several stages.
    #[derive(Default)]
    pub struct StageRow in "stages.csv" {
        /// The trial (as in runs.csv).
        pub trial: u32,
        /// The kernel's name, or what the library was called for; in the order in which data flows.
        pub stage: String,
        /// Launches or calls in that trial.
        pub launches: u64,
        /// Time that they took together on the device, s.
        pub seconds: f64,
    }
}
