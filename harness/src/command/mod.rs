//! The commands. Each reads like the recipe that it performs.

mod accuracy;
mod build;
mod check;
mod common;
mod compare;
mod completions;
mod devices;
mod gemm;
mod pipes;
mod power;
mod report;
mod resume;
mod run;
mod sass;
mod search;
mod trial;
mod tune;
mod validate;
mod variants;

pub use accuracy::AccuracyArgs;
pub use build::{BuildArgs, BuildUsage};
pub use check::CheckArgs;
pub use common::VariantsFlag;
pub use compare::CompareArgs;
pub use completions::{CompletionsArgs, ManArgs};
pub use devices::DevicesArgs;
pub use gemm::GemmArgs;
pub use pipes::PipesArgs;
pub use power::PowerArgs;
pub use report::ReportArgs;
pub use run::RunArgs;
pub use sass::SassArgs;
pub use search::SearchArgs;
pub use trial::TrialArgs;
pub use tune::TuneArgs;
pub use validate::ValidateArgs;
pub use variants::VariantsArgs;

pub use self::dispatch::dispatch;

mod dispatch;
