//! `assay gemm`: multiply somebody's own matrices.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_kernels::family::{families, name_and_size};
use assay_kernels::multiply::{Dense, Product};

use super::common::{DeviceArgs, print_json, runnable, why_not};
use crate::device::Device;
use crate::exit::{Outcome, Usage};
use crate::gemm::{self, Addition, Document, ErrorBound, Precision, Request, SampleRow, Target};
use crate::output::{self, Existing};
use crate::progress::Progress;
use crate::select::{Selected, Shelf};

/// Multiply matrices of doubles by exact integer products, with a bound on the error of every element
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay gemm A.npy B.npy -o C.npy
  assay gemm A.npy B.npy -o C.npy --transpose-a --device emulated
  assay gemm A.npy B.npy -o C.npy --alpha -1 --beta 0.5 --add C0.npy
  assay gemm A.npy B.npy -o C.npy --variant crt-gemm/native-dgemm

Files are .npy as numpy.save writes them, with two dimensions: float64 or float32 of either byte order, in C or
Fortran order. C is float64 in C order. NaN and infinities are refused. Up to 256 seeded elements are computed
anew on the host without rounding: exit code 1, and no file, when the device has another answer. Where one of them
is further off than a rounding of its element of |A| |B|, more moduli are taken, unless --bits says how many.")]
pub struct GemmArgs {
    /// The left matrix, a .npy file
    #[arg(value_name = "A.npy")]
    pub a: PathBuf,
    /// The right matrix, a .npy file
    #[arg(value_name = "B.npy")]
    pub b: PathBuf,
    /// File to write, which does not exist yet
    #[arg(short, long, value_name = "C.npy")]
    pub output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub force: bool,
    /// Take A's rows as columns
    #[arg(long)]
    pub transpose_a: bool,
    /// Take B's rows as columns
    #[arg(long)]
    pub transpose_b: bool,
    /// Factor of the product; rounds each element once more
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = finite, allow_hyphen_values = true)]
    pub alpha: f64,
    /// Factor of C0; rounds each element once, and once more where it is added. With 0, C0 is not read
    #[arg(long, value_name = "Y", requires = "add", value_parser = finite, allow_hyphen_values = true)]
    pub beta: Option<f64>,
    /// File with C0, which is added Y times
    #[arg(long, value_name = "C0.npy", requires = "beta")]
    pub add: Option<PathBuf>,
    /// Bits of a row's or column's largest value that must count, 8 to 72; they choose the count of moduli [default: the
    /// variant's, and more where the values spread so far that those do not suffice]
    #[arg(long, value_name = "N")]
    pub bits: Option<u32>,
    /// The variant to multiply with [default: the fastest of crt-gemm/moduli-wgmma, moduli-mma
    /// and moduli-naive that the device has the instructions for]
    #[arg(long, value_name = "VARIANT")]
    pub variant: Option<String>,
    /// Where to run
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Seed of the elements that are computed anew
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// A finite number on the command line.
fn finite(text: &str) -> Result<f64, String> {
    let refusal = || format!("`{text}` is not a finite number");
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(refusal)
}

/// Run the command.
///
/// # Errors
/// When a file, the variant or the device cannot be used, or the host does not confirm the product.
pub fn run(args: &GemmArgs, shelf: &Shelf, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let named = args.variant.as_deref().map(|name| one(shelf, name)).transpose()?;
    let target = target(args)?;
    let progress = Progress::new();
    let bar = progress.line("reading");
    let request = request(args)?;
    drop(bar);
    let device = args.device.open()?;
    let selected = match named {
        Some(selected) => selected,
        None => default_variant(shelf, device.as_ref())?,
    };
    runnable(vec![selected.clone()], &[selected.label()], device.as_ref())?;
    let depth = request.product.depth();
    let beta = request.addition.as_ref().map_or(0.0, |addition| addition.beta);
    let bar = progress.line("gemm");
    let Some(done) = gemm::run(&selected, device.as_ref(), request, &target, &bar)? else {
        return Ok(Outcome::Interrupted);
    };
    let (rows, cols) = (done.result.rows, done.result.cols);
    drop(bar);
    if args.json {
        let document = Document {
            schema: 1,
            ok: true,
            variant: selected.label(),
            device: &device.info().id,
            library: done.library.as_deref(),
            output: args.output.display().to_string(),
            rows,
            cols,
            depth,
            moduli: done.moduli.map(|moduli| moduli.count),
            bits: done.moduli.map(|moduli| moduli.bits),
            alpha: args.alpha,
            beta,
            seed: args.seed,
            error_bound: ErrorBound::of(&done),
            sample: SampleRow::of(&done),
            device_s: done.device_s,
        };
        print_json(out, &document)?;
    } else {
        let by = match (done.moduli, &done.library) {
            (Some(moduli), _) => {
                let word = if moduli.count == 1 { "modulus" } else { "moduli" };
                format!(", {} {word} for {} bits", moduli.count, moduli.bits)
            }
            (None, Some(library)) => format!(", {library}"),
            (None, None) => String::new(),
        };
        writeln!(
            out,
            "{} on {}: {rows} x {depth} by {depth} x {cols}{by}, {:.3} s on the device\n\n{}\n{}: {rows} x {cols} doubles",
            selected.label(),
            device.info().id,
            done.device_s,
            gemm::table(&done),
            args.output.display()
        )?;
    }
    Ok(Outcome::Right)
}

/// The variant that `name` names; its files say how large a product is.
fn one(shelf: &Shelf, name: &str) -> anyhow::Result<Selected> {
    if let (of_file, Some(size)) = name_and_size(name) {
        return Err(Usage(format!(
            "--variant {name}: a product has the size of its files, not {size}: use {of_file}"
        ))
        .into());
    }
    let selected = shelf.select(&[name.to_owned()])?;
    match <[Selected; 1]>::try_from(selected) {
        Ok([selected]) => Ok(selected),
        Err(_) => Err(Usage(format!("--variant {name}: name one variant")).into()),
    }
}

/// The variant that is taken where none is named: of a family's that there are files of the first that runs on `device`, or the
/// last if none does.
fn default_variant(shelf: &Shelf, device: &dyn Device) -> anyhow::Result<Selected> {
    let mut last = None;
    for family in families() {
        let names = family.multiply_variants().iter();
        for name in names.filter(|name| shelf.holds(*family, name)) {
            let selected = one(shelf, &format!("{}/{name}", family.name()))?;
            if why_not(&selected, device).is_none() {
                return Ok(selected);
            }
            last = Some(selected);
        }
    }
    last.ok_or_else(|| {
        Usage("the folder of variants has none that multiplies matrices by itself: use --variant".to_owned())
            .into()
    })
}

/// Where the result goes. An output that could not be written in the end is refused now, and so is one of the inputs.
fn target(args: &GemmArgs) -> Result<Target<'_>, Usage> {
    let output = &args.output;
    let target = Target {
        path: output,
        existing: if args.force {
            Existing::Replaced
        } else {
            Existing::Kept
        },
    };
    let inputs = [Some(&args.a), Some(&args.b), args.add.as_ref()];
    // Under whatever name: a link may lead to the same file.
    let file = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    if let (Some(input), true) = (
        inputs
            .into_iter()
            .flatten()
            .find(|input| file(input) == file(output)),
        output.exists(),
    ) {
        let what = format!(
            "--output {}: it is the input {}",
            output.display(),
            input.display()
        );
        return Err(Usage(format!("{what}, name another file")));
    }
    if output.is_file() && !args.force {
        let what = format!("--output {} already exists", output.display());
        return Err(Usage(format!(
            "{what}: name a file that does not exist yet, or use --force"
        )));
    }
    output::probe(output).map_err(|error| target.unwritable(&error))?;
    Ok(target)
}

/// Read the files, and check that they fit.
fn request(args: &GemmArgs) -> anyhow::Result<Request> {
    let turned = |path: &Path, transpose: bool| -> anyhow::Result<Dense> {
        let matrix = gemm::read(path)?;
        Ok(if transpose { matrix.transposed() } else { matrix })
    };
    let a = turned(&args.a, args.transpose_a)?;
    let b = turned(&args.b, args.transpose_b)?;
    let shape = |path: &Path, matrix: &Dense, transposed: bool| {
        let word = if transposed { " transposed" } else { "" };
        format!(
            "{}{word} is {} x {}",
            path.display(),
            matrix.rows(),
            matrix.cols()
        )
    };
    if a.cols() != b.rows() {
        return Err(Usage(format!(
            "{} and {}: the first must have as many columns as the second has rows",
            shape(&args.a, &a, args.transpose_a),
            shape(&args.b, &b, args.transpose_b)
        ))
        .into());
    }
    let (rows, cols) = (a.rows(), b.cols());
    // With a factor of 0 the file does not matter, whatever it holds.
    let addition = match (&args.add, args.beta) {
        (Some(path), Some(beta)) if beta != 0.0 => {
            let matrix = gemm::read(path)?;
            if (matrix.rows(), matrix.cols()) != (rows, cols) {
                return Err(Usage(format!(
                    "--add {}, and the product is {rows} x {cols}: they must be equal",
                    shape(path, &matrix, false)
                ))
                .into());
            }
            Some(Addition { beta, matrix })
        }
        _ => None,
    };
    let mut product = Product::new(a, b).map_err(|error| Usage(error.to_string()))?;
    (product.bits, product.seed) = (args.bits, args.seed);
    Ok(Request {
        product,
        // With a factor of 0 the product counts for nothing.
        precision: if args.bits.is_some() || args.alpha == 0.0 {
            Precision::Fixed
        } else {
            Precision::AsNeeded
        },
        alpha: args.alpha,
        addition,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pretended::card;

    #[test]
    fn a_product_takes_the_fastest_variant_that_a_card_has_the_instructions_for() {
        let shelf = Shelf::find(Some(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants"))).unwrap();
        for (capability, name) in [
            ((7, 5), "crt-gemm/moduli-naive"),
            ((8, 0), "crt-gemm/moduli-mma"),
            ((8, 9), "crt-gemm/moduli-mma"),
            ((9, 0), "crt-gemm/moduli-wgmma"),
            ((10, 0), "crt-gemm/moduli-mma"),
        ] {
            let selected = default_variant(&shelf, &card(capability, None)).unwrap();
            assert_eq!(selected.label(), name, "{capability:?}");
        }
        // Only those that there are files of.
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("crt-gemm")).unwrap();
        let few = Shelf::find(Some(folder.path())).unwrap();
        let refusal = default_variant(&few, &card((9, 0), None)).err().unwrap();
        assert!(refusal.to_string().contains("use --variant"), "{refusal}");
        let naive = "crt-gemm/moduli-naive.toml";
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../variants")
            .join(naive);
        std::fs::copy(from, folder.path().join(naive)).unwrap();
        let selected = default_variant(&few, &card((9, 0), None)).unwrap();
        assert_eq!(selected.label(), "crt-gemm/moduli-naive");
    }
}
