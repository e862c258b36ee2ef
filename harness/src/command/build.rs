//! `assay build`: a variant's text, assembly or machine code as a file.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use assay_kernels::workload::Source;

use crate::device::Card;
use crate::output::{self, Existing};
use crate::toolchain::{Arch, ToolFlags, Toolchain};

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// The CUDA text, with the definitions that it is compiled with
    Cuda,
    /// The compiler's assembly
    Ptx,
    /// The machine code, an ELF file
    Cubin,
    /// The machine code as text
    Sass,
}

/// Compile a variant and write its CUDA text, PTX, cubin or SASS; needs no GPU
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay build md5-q9/v5 --emit cuda
  assay build md5-q9/v5 --arch sm_90 --emit sass -o v5.sass
  assay build md5-q9/v5 --arch sm_90 --emit cubin -o v5.cubin")]
pub struct BuildArgs {
    /// The variant, such as md5-q9/v4
    #[arg(value_name = "VARIANT")]
    pub variant: String,
    /// Architecture to compile for, such as sm_90 [default: the card's]
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<Arch>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Emit::Cubin)]
    pub emit: Emit,
    /// File to write; without it, text goes to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Which CUDA tools to take
    #[command(flatten)]
    pub tools: ToolFlags,
}

/// A request that cannot be carried out as it was typed: exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum BuildUsage {
    /// No architecture named, and no card to take it from.
    #[error("--arch is needed, there is no card to take it from ({0}): name one, such as --arch sm_90")]
    Arch(String),
    /// A cubin is no text.
    #[error("--emit cubin needs --output FILE: a cubin is not written to stdout")]
    Output,
}

/// Build `source`, the production text of `args.variant`.
///
/// # Errors
/// [`BuildUsage`], a [`crate::toolchain::ToolError`], or the error of writing the file.
pub fn run(args: &BuildArgs, source: &Source, tools: &Toolchain, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.emit == Emit::Cubin && args.output.is_none() {
        bail!(BuildUsage::Output);
    }
    let bytes = match args.emit {
        Emit::Cuda => with_defines(source).into_bytes(),
        Emit::Ptx => tools.ptx(source, arch(args)?)?.into_bytes(),
        Emit::Cubin => tools.build(source, arch(args)?)?.bytes,
        Emit::Sass => {
            let arch = arch(args)?;
            let cubin = tools.build(source, arch)?;
            tools.nvdisasm()?.listing(&cubin.bytes, arch)?.into_bytes()
        }
    };
    match &args.output {
        None => out.write_all(&bytes)?,
        Some(path) => output::write_whole(path, Existing::Replaced, |file| file.write_all(&bytes))
            .with_context(|| format!("cannot write --output {}", path.display()))?,
    }
    Ok(())
}

fn arch(args: &BuildArgs) -> anyhow::Result<Arch> {
    if let Some(arch) = args.arch {
        return Ok(arch);
    }
    let card = Card::all().and_then(|(_, cards)| {
        cards
            .first()
            .map(Card::arch)
            .ok_or("the driver shows none".into())
    });
    Ok(card.map_err(BuildUsage::Arch)?)
}

/// The text as it can be compiled by itself.
fn with_defines(source: &Source) -> String {
    let line = |define: &String| match define.split_once('=') {
        Some((name, value)) => format!("#define {name} {value}\n"),
        None => format!("#define {define} 1\n"),
    };
    source.defines.iter().map(line).collect::<String>() + &source.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{CubinCache, real};

    fn args(emit: Emit, arch: Option<u32>, output: Option<PathBuf>) -> BuildArgs {
        let arch = arch.map(Arch::number);
        BuildArgs {
            variant: "a/b".into(),
            arch,
            emit,
            output,
            tools: ToolFlags::default(),
        }
    }

    fn source() -> Source {
        Source {
            file: "b.cu".into(),
            text: "extern \"C\" __global__ void k(unsigned* o) { *o = N; }\n".into(),
            defines: vec!["N=3".into(), "FLAG".into()],
            entry: "k",
            helpers: vec![],
            options: Vec::new(),
        }
    }

    #[test]
    fn every_form_is_written() {
        let Some(tools) = real::tools(CubinCache::none()) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        for (emit, sign) in [
            (Emit::Cuda, "#define N 3\n#define FLAG 1\n"),
            (Emit::Ptx, ".target"),
            (Emit::Sass, "EXIT"),
        ] {
            let mut out = Vec::new();
            run(&args(emit, Some(90), None), &source(), &tools, &mut out).unwrap();
            assert!(String::from_utf8(out).unwrap().contains(sign), "{emit:?}");
        }
        let path = folder.path().join("b.cubin");
        run(
            &args(Emit::Cubin, Some(90), Some(path.clone())),
            &source(),
            &tools,
            &mut Vec::new(),
        )
        .unwrap();
        assert!(std::fs::read(path).unwrap().starts_with(b"\x7fELF"));
    }

    #[test]
    fn a_cubin_is_not_written_to_stdout() {
        let Some(tools) = real::tools(CubinCache::none()) else {
            return;
        };
        let error = run(
            &args(Emit::Cubin, Some(90), None),
            &source(),
            &tools,
            &mut Vec::new(),
        )
        .unwrap_err();
        assert!(error.is::<BuildUsage>());
    }
}
