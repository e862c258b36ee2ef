//! `assay`: proves a GPU integer kernel right, then measures what it costs.

mod book;
mod cli;
mod command;
mod device;
mod exit;
mod flow;
mod gemm;
mod host_facts;
mod interrupt;
mod memory;
mod output;
mod pipes;
mod power;
mod progress;
mod sass;
mod search;
mod select;
mod toolchain;
mod trial;
mod tune;
mod validate;
mod zeros;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    interrupt::listen();
    match command::dispatch(&cli) {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => exit::report(&error),
    }
}
