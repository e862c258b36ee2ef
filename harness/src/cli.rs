//! The command line.

use clap::{Parser, Subcommand};

use crate::command::{
    AccuracyArgs, BuildArgs, CheckArgs, CompareArgs, CompletionsArgs, DevicesArgs, GemmArgs, ManArgs,
    PipesArgs, PowerArgs, ReportArgs, RunArgs, SassArgs, SearchArgs, TrialArgs, TuneArgs, ValidateArgs,
    VariantsArgs, VariantsFlag,
};

/// Proves a GPU integer kernel right, then measures what it costs.
#[derive(Debug, Parser)]
#[command(
    name = "assay",
    version,
    max_term_width = 110,
    after_help = "Start with:
  assay run                        validate, time and report on the best device there is
  assay validate md5-q9            prove every variant of a family
  assay tune md5-q9/v5             find the options that are fastest on the device at hand
  assay search --zeros 8           find a message whose MD5 begins with eight zeros
  assay gemm A.npy B.npy -o C.npy  multiply matrices of doubles, with a bound on the error

Exit codes: 0 done and right; 1 a check failed; 2 usage or bad input; 3 no usable device or tool;
4 --zeros not reached within --for; 130 interrupted."
)]
pub struct Cli {
    /// Where the variant files lie
    #[command(flatten)]
    pub variants: VariantsFlag,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
#[allow(
    missing_docs,
    reason = "clap takes the text for --help from the arguments' own documentation"
)]
pub enum Command {
    Devices(DevicesArgs),
    Variants(VariantsArgs),
    Build(BuildArgs),
    Validate(ValidateArgs),
    Sass(SassArgs),
    Pipes(PipesArgs),
    Power(PowerArgs),
    Trial(TrialArgs),
    Run(RunArgs),
    Tune(TuneArgs),
    Search(SearchArgs),
    Gemm(GemmArgs),
    Accuracy(AccuracyArgs),
    Report(ReportArgs),
    Compare(CompareArgs),
    Check(CheckArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
