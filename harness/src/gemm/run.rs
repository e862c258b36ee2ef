//! The run: from two matrices to one, confirmed and bounded.

use std::io::{self, BufWriter};
use std::path::Path;

use assay_kernels::family::{DeviceKind, families};
use assay_kernels::multiply::{Addend, Combined, Dense, MultiplyError, Product, Sample};

use super::npy;
use crate::device::Device;
use crate::exit::{Usage, Wrong};
use crate::flow::Flow;
use crate::interrupt;
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
    /// How many moduli were taken, where the scheme has them.
    pub moduli: Option<usize>,
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
    let Some(done) = multiply(selected, device, request, bar)? else {
        return Ok(None);
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

fn multiply(
    selected: &Selected,
    device: &dyn Device,
    request: Request,
    bar: &Bar,
) -> anyhow::Result<Option<Done>> {
    let Request {
        product,
        alpha,
        addition,
    } = request;
    let mut workload = selected
        .variant
        .multiply(product)
        .map_err(|error| refused(selected, device.info().kind, &error))?;
    bar.say("building");
    let setup = workload.setup();
    let mut session = device.open(&setup).map_err(|error| {
        let needed = format!(
            "{} needs {} bytes on {}",
            selected.label(),
            setup.bytes(),
            device.info().id
        );
        anyhow::Error::new(error).context(needed)
    })?;
    let library = session.build().library.clone();
    bar.say("multiplying, then confirming on the host");
    let mut next = 0;
    let mut flow = Flow::new(session.as_mut(), workload.as_mut(), &mut next);
    let mut device_s = 0.0;
    while let Some(done) = flow.next(!interrupt::asked())? {
        device_s += done.stages.iter().map(|(_, seconds)| seconds).sum::<f64>();
    }
    if interrupt::asked() {
        return Ok(None);
    }
    let multiplied = workload
        .finish()
        .ok_or_else(|| Wrong(format!("{} ended without a product", selected.label())))?;
    let (moduli, sample) = (multiplied.moduli, multiplied.sample);
    bar.say("bounding the error");
    let addend = addition.as_ref().map(|addition| Addend {
        beta: addition.beta,
        matrix: &addition.matrix,
    });
    Ok(Some(Done {
        result: multiplied.combined(alpha, addend),
        moduli,
        sample,
        device_s,
        library,
    }))
}

/// Why the variant does not compute this product, and what would.
fn refused(selected: &Selected, device: DeviceKind, error: &MultiplyError) -> Usage {
    let label = selected.label();
    let mut sentence = format!("{label}: {error}");
    if *error == MultiplyError::Unsupported {
        let others: Vec<String> = families()
            .iter()
            .filter_map(|family| Some(format!("{}/{}", family.name(), family.multiply_variant(device)?)))
            .collect();
        sentence += &format!(", use {}", others.join(" or "));
    }
    Usage(sentence)
}
