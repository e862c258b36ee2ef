//! The run: from two matrices to one, confirmed and bounded.

use std::io::{self, BufWriter};
use std::path::Path;

use assay_kernels::multiply::{Addend, Combined, Dense, Moduli, Product, Sample};

use super::multiply::{Precision, multiply};
use super::npy;
use crate::device::Device;
use crate::exit::Usage;
use crate::output::{self, Existing};
use crate::progress::Bar;
use crate::select::Selected;

/// What is added to the product.
pub struct Addition {
    /// Its factor.
    pub beta: f64,
    /// C0.
    pub matrix: Dense,
}

/// What to compute.
pub struct Request {
    /// A and B.
    pub product: Product,
    /// How many moduli to take.
    pub precision: Precision,
    /// Their product's factor.
    pub alpha: f64,
    /// What is added.
    pub addition: Option<Addition>,
}

/// Where the result goes.
pub struct Target<'t> {
    /// The file.
    pub path: &'t Path,
    /// What becomes of one that is there.
    pub existing: Existing,
}

impl Target<'_> {
    /// What is said when it cannot be written.
    pub fn unwritable(&self, error: &io::Error) -> Usage {
        Usage(format!(
            "--output {} cannot be written: {error}",
            self.path.display()
        ))
    }
}

/// What came of it.
pub struct Done {
    /// alpha A B + beta C0.
    pub result: Combined,
    /// The moduli that were taken, where the scheme has them.
    pub moduli: Option<Moduli>,
    /// What the host computed anew.
    pub sample: Sample,
    /// Time of the launches on the device, in seconds.
    pub device_s: f64,
    /// The vendor's library with its version, where it multiplies.
    pub library: Option<String>,
}

/// Multiply with `selected` on `device` and write the result; `None`, and no file, when that was interrupted.
///
/// # Errors
/// When the variant or the device cannot, the host does not confirm the product, or the file cannot be written. There is no
/// file then.
pub fn run(
    selected: &Selected,
    device: &dyn Device,
    request: Request,
    target: &Target,
    bar: &Bar,
) -> anyhow::Result<Option<Done>> {
    let Request {
        product,
        precision,
        alpha,
        addition,
    } = request;
    let Some(run) = multiply(selected, device, product, precision, bar)? else {
        return Ok(None);
    };
    let (moduli, sample) = (run.multiplied.moduli, run.multiplied.sample);
    bar.say("bounding the error");
    let addend = addition.as_ref().map(|addition| Addend {
        beta: addition.beta,
        matrix: &addition.matrix,
    });
    let done = Done {
        result: run.multiplied.combined(alpha, addend),
        moduli,
        sample,
        device_s: run.device_s,
        library: run.build.library,
    };
    bar.say("writing");
    let Combined {
        rows, cols, values, ..
    } = &done.result;
    output::write_whole(target.path, target.existing, |file| {
        npy::write(&mut BufWriter::new(file), [*rows, *cols], values)
    })
    .map_err(|error| target.unwritable(&error))?;
    Ok(Some(done))
}
