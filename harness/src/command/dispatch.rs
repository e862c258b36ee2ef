//! From the command line to the command.

use std::io;

use crate::cli::{Cli, Command};
use crate::command::common::accountable;
use crate::command::{
    accuracy, build, check, compare, completions, devices, gemm, pipes, power, report, run, sass, search,
    trial, tune, validate, variants,
};
use crate::device::{Cpu, CudaDevice, Device, DeviceInfo, DeviceName, Emulated};
use crate::exit::{Outcome, Usage};
use crate::pipes::recorded;
use crate::select::Shelf;
use crate::toolchain::Toolchain;

/// Carry out what was asked for.
///
/// # Errors
/// The command's own; see [`crate::exit`] for what they end in.
pub fn dispatch(cli: &Cli) -> anyhow::Result<Outcome> {
    let shelf = || Shelf::find(cli.variants.folder.as_deref());
    let out = &mut io::stdout().lock();
    match &cli.command {
        Command::Devices(args) => {
            devices::run(args, &host_devices(), &Toolchain::of_process(&args.tools), out)?;
        }
        Command::Variants(args) => variants::run(args, &shelf()?, out)?,
        Command::Build(args) => {
            let selected = shelf()?.select(std::slice::from_ref(&args.variant))?;
            let [one] = selected.as_slice() else {
                return Err(Usage(format!("`{}` is a family: name one variant", args.variant)).into());
            };
            build::run(
                args,
                &one.variant.source(),
                &Toolchain::of_process(&args.tools),
                out,
            )?;
        }
        Command::Validate(args) => return validate::run(args, &shelf()?, out),
        Command::Sass(args) => {
            let shelf = shelf()?;
            let subjects = accountable(&shelf.select(&args.selectors)?)?;
            let measured = recorded(&shelf.results());
            return sass::run(
                args,
                &subjects,
                &measured,
                &Toolchain::of_process(&args.tools),
                out,
            );
        }
        Command::Pipes(args) => {
            let subjects = accountable(&shelf()?.select(&args.selectors)?)?;
            let DeviceName::Cuda(ordinal) = args.device.parse().map_err(Usage)? else {
                return Err(Usage("--device: pipes are measured on a card, use cuda:N".to_owned()).into());
            };
            let device = CudaDevice::new(ordinal, Toolchain::of_process(&args.tools).into())?;
            let mut say = |what: &str| eprintln!("assay: measuring {what}");
            pipes::run(args, &device, &subjects, &mut say, out)?;
        }
        Command::Power(args) => power::run(args, out)?,
        Command::Trial(args) => return trial::run(args, &shelf()?, out),
        Command::Tune(args) => return tune::run(args, &shelf()?, out),
        Command::Run(args) => return run::run(args, &shelf()?, out),
        Command::Search(args) => return search::run(args, &shelf()?, out),
        Command::Gemm(args) => return gemm::run(args, &shelf()?, out),
        Command::Accuracy(args) => return accuracy::run(args, &shelf()?, out),
        Command::Report(args) => report::run(args, out)?,
        Command::Compare(args) => compare::run(args, out)?,
        Command::Check(args) => check::run(args, out)?,
        Command::Completions(args) => completions::completions(args, out)?,
        Command::Man(args) => completions::man(args, out)?,
    }
    Ok(Outcome::Right)
}

/// The devices that are no cards.
fn host_devices() -> Vec<DeviceInfo> {
    let cpu = Cpu::new(None).map(|cpu| cpu.info().clone());
    let emulated = Emulated::new().map(|emulated| emulated.info().clone());
    cpu.into_iter().chain(emulated).collect()
}
