//! What several commands share: the flags that choose a device, and what is printed about the choice.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use assay_analysis::check;
use assay_kernels::native::Isa;

use crate::device::{Device, DeviceName, choose};
use crate::sass::Subject;
use crate::select::Selected;
use crate::toolchain::{ToolFlags, Toolchain};

/// Where the variant files lie.
#[derive(Debug, Clone, clap::Args)]
pub struct VariantsFlag {
    /// Folder of variant files [default: the nearest variants/ above the working folder or the program]
    #[arg(
        long = "variants",
        value_name = "DIR",
        global = true,
        help_heading = "Global options"
    )]
    pub folder: Option<PathBuf>,
}

/// Says on stderr if a record is not what its manifest lists, for commands that show what its files hold all the same.
pub fn say_if_unchecked(folder: &Path) {
    if let Err(why) = check(folder) {
        eprintln!(
            "assay: {} does not check: {why}. What follows is what its files say",
            folder.display()
        );
    }
}

/// Which variants.
#[derive(Debug, Clone, clap::Args)]
pub struct SelectorArgs {
    /// Families or variants, such as md5-q9, md5-q9/v4 or crt-gemm/moduli-mma@8192 [default: all]
    #[arg(value_name = "SELECTOR", conflicts_with = "all")]
    pub selectors: Vec<String>,
    /// Every variant of every family
    #[arg(long)]
    pub all: bool,
}

/// Where to run.
#[derive(Debug, Clone, clap::Args)]
pub struct DeviceArgs {
    /// cuda:N, cpu or emulated [default: cuda:0 if usable, else cpu]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// Instruction set of the cpu device: plain, avx2 or avx512 [default: the widest there is]
    #[arg(long, value_name = "ISA")]
    pub isa: Option<Isa>,
    /// Which CUDA tools to take
    #[command(flatten)]
    pub tools: ToolFlags,
}

impl DeviceArgs {
    /// Open the device and say on stderr which one it is, and why.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(&self) -> anyhow::Result<Box<dyn Device>> {
        if self.isa.is_some() && !matches!(self.device, None | Some(DeviceName::Cpu)) {
            return Err(crate::exit::Usage("--isa goes with --device cpu only".to_owned()).into());
        }
        let tools = Rc::new(Toolchain::of_process(&self.tools));
        let (device, reason) = choose(self.device, self.isa, &tools)?;
        eprintln!(
            "assay: on {} ({}), {reason}",
            device.info().id,
            device.info().name
        );
        Ok(device)
    }
}

/// What the account of machine code needs of each variant, and the labels of those that there is none of.
pub fn subjects(selected: &[Selected]) -> (Vec<Subject>, Vec<String>) {
    let mut without = Vec::new();
    let subjects = selected
        .iter()
        .filter_map(|one| {
            let loops = one.variant.loops();
            if loops.is_none() {
                without.push(one.label());
            }
            Some(Subject {
                variant: one.label(),
                source: one.variant.source(),
                loops: loops?,
            })
        })
        .collect();
    (subjects, without)
}

/// Those of [`subjects`] that there is an account of; the others are said on stderr.
///
/// # Errors
/// When that leaves none.
pub fn accountable(selected: &[Selected]) -> anyhow::Result<Vec<Subject>> {
    let (subjects, without) = subjects(selected);
    if without.is_empty() {
        return Ok(subjects);
    }
    let why = format!(
        "{}: no account per unit, its threads have no loop over units (assay build --emit sass shows the machine code)",
        without.join(", ")
    );
    if subjects.is_empty() {
        return Err(crate::exit::Usage(why).into());
    }
    eprintln!("assay: left out {why}");
    Ok(subjects)
}

/// Why `one` cannot run on `device`: by its kind, its instructions, or a library that is not there.
pub(super) fn why_not(one: &Selected, device: &dyn Device) -> Option<String> {
    let info = device.info();
    let by_card = || {
        let lack = one.variant.cards()?.lack(info.gpu.as_ref()?.compute_capability)?;
        Some(format!("{} {lack}", one.label()))
    };
    let by_library = || {
        let lack = device.lacks(one.variant.library()?)?;
        Some(format!("{}: {lack}", one.label()))
    };
    one.variant
        .cannot_run_on(info.kind)
        .or_else(by_card)
        .or_else(by_library)
}

/// Leave out the variants that cannot run on `device` and were not asked for by name, and say so on stderr.
///
/// # Errors
/// When one that was asked for by name cannot, or none is left.
pub fn runnable(
    selected: Vec<Selected>,
    selectors: &[String],
    device: &dyn Device,
) -> anyhow::Result<Vec<Selected>> {
    let named = |one: &Selected| {
        let (label, name) = (one.label(), one.variant.name());
        selectors
            .iter()
            .any(|selector| *selector == label || selector == name)
    };
    let (mut left, mut refusals) = (Vec::new(), Vec::new());
    for one in selected {
        match why_not(&one, device) {
            None => left.push(one),
            Some(why) if named(&one) => return Err(crate::exit::NoDevice(why).into()),
            Some(why) => refusals.push(why),
        }
    }
    if left.is_empty() {
        return Err(crate::exit::NoDevice(refusals.join("; ")).into());
    }
    for why in refusals {
        eprintln!("assay: left out: {why}");
    }
    Ok(left)
}

/// Print one JSON document.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(out: &mut dyn Write, document: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

/// A length of time on the command line: `90s`, `2m`, `1h`, `500ms`, or seconds without a unit.
///
/// # Errors
/// When it is not a positive time below 1000 hours.
pub fn duration(text: &str) -> Result<Duration, String> {
    let refusal = || format!("`{text}` is not a time: use 30s, 500ms, 2m or 1h, above zero and up to 1000h");
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| refusal())?;
    let unit = match &text[digits..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(refusal()),
    };
    let seconds = number * unit;
    if (1e-3..=3_600_000.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(refusal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pretended::{Pretended, card};
    use crate::select::Shelf;

    #[test]
    fn times_are_read_and_bounded() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1000h"), Ok(Duration::from_secs(3_600_000)));
        for bad in [
            "0s",
            "",
            "s",
            "-1s",
            "1d",
            "nan",
            "inf",
            "1e9",
            "1001h",
            "0.0001ms",
            "1.2.3s",
            "9999999999999999999h",
        ] {
            assert!(duration(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_a_card_has_not_is_left_out_or_refused_where_it_was_named() {
        let shelf = Shelf::find(Some(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants"))).unwrap();
        let left = |device: &Pretended, selectors: &[&str]| -> Result<Vec<String>, String> {
            let selectors: Vec<String> = selectors.iter().map(|name| (*name).to_owned()).collect();
            let selected = shelf.select(&selectors).unwrap();
            match runnable(selected, &selectors, device) {
                Ok(left) => Ok(left.iter().map(|one| one.variant.name().to_owned()).collect()),
                Err(error) => Err(error.to_string()),
            }
        };
        let has = |names: &[String], part: &str| names.iter().any(|name| name.contains(part));
        let hopper = left(&card((9, 0), None), &["crt-gemm"]).unwrap();
        assert!(has(&hopper, "wgmma") && has(&hopper, "cublas") && has(&hopper, "mma"));
        let ada = left(&card((8, 9), Some("no library")), &["crt-gemm"]).unwrap();
        assert!(
            has(&ada, "moduli-mma") && !has(&ada, "wgmma") && !has(&ada, "cublas") && !has(&ada, "native")
        );
        let turing = left(&card((7, 5), None), &["crt-gemm"]).unwrap();
        assert!(has(&turing, "naive") && !has(&turing, "mma") && !has(&turing, "128x"));
        assert_eq!(
            left(&card((10, 0), None), &["crt-gemm/moduli-wgmma"]).unwrap_err(),
            "crt-gemm/moduli-wgmma needs compute capability 9.0, no other, this card has 10.0"
        );
        assert_eq!(
            left(&card((9, 0), Some("no library")), &["native-dgemm@64"]).unwrap_err(),
            "crt-gemm/native-dgemm@64: no library"
        );
    }
}
