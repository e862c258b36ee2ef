//! The rows of the record's tables, one type a table.
//!
//! Every column's unit is in its name; an empty field means that the value was not measured, never zero.

mod accuracy;
mod bases;
mod bounds;
mod checks;
mod hits;
mod power;
mod runs;
mod sass;
mod stages;
mod summary;
mod tune;
mod validation;

pub use accuracy::AccuracyRow;
pub use bases::BaseRow;
pub use bounds::BoundRow;
pub use checks::CheckRow;
pub use hits::HitRow;
pub use power::{Phase, PowerRow};
pub use runs::{RunRow, Verdict};
pub use sass::{Pipe, PipeTotals, SassRow, pipe_totals};
pub use stages::StageRow;
pub use summary::SummaryRow;
pub use tune::{Fate, Standing, TuneRow};
pub use validation::ValidationRow;
