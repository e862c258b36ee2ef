//! A product on a device, once or with as many moduli as its values need.

use assay_kernels::family::families;
use assay_kernels::multiply::{Moduli, Multiplied, MultiplyError, Product};

use crate::device::{BuildInfo, Device};
use crate::exit::{Usage, Wrong};
use crate::flow::{Flow, Yield};
use crate::interrupt;
use crate::progress::Bar;
use crate::select::Selected;

/// How far a sampled element may be off, as a part of its element of |A| |B|: the one rounding of the result, and a sixteenth for what
/// cutting values lost. A product of doubles is off by more.
const TOLERANCE: f64 = 1.0625 * f64::EPSILON / 2.0;
/// Bits beyond those that would bring the error down to a rounding: they bring it to a sixteenth.
const SPARE_BITS: u32 = 4;

/// A product as a device computed it.
pub struct Run {
    /// C, confirmed in part and bounded in whole.
    pub multiplied: Multiplied,
    /// Time of its launches, in seconds.
    pub device_s: f64,
    /// How the variant was built.
    pub build: BuildInfo,
}

/// How many moduli a product takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As many as the variant's file or the product asks for.
    Fixed,
    /// More, where sampled elements are further off than a rounding.
    AsNeeded,
}

/// Multiply with `selected` on `device`; `None` when that was interrupted.
///
/// # Errors
/// When the variant or the device cannot, the host does not confirm the product, or the most moduli do not suffice.
pub fn multiply(
    selected: &Selected,
    device: &dyn Device,
    mut product: Product,
    precision: Precision,
    bar: &Bar,
) -> anyhow::Result<Option<Run>> {
    loop {
        let Some(run) = once(selected, device, product.clone(), bar)? else {
            return Ok(None);
        };
        let error = run.multiplied.sample.above_underflow;
        let Some(moduli) = run.multiplied.moduli else {
            return Ok(Some(run));
        };
        if precision == Precision::Fixed || error <= TOLERANCE {
            return Ok(Some(run));
        }
        product.bits = Some(more_bits(moduli, error).ok_or_else(|| not_enough(selected, moduli, error))?);
        bar.say(&format!(
            "again with more moduli: {} did not suffice",
            moduli.count
        ));
    }
}

/// The bits that bring an error down to what is allowed: it halves with each. `None` where all are taken already.
fn more_bits(moduli: Moduli, error: f64) -> Option<u32> {
    let missing = (error / (f64::EPSILON / 2.0)).log2().ceil().clamp(1.0, 1e4) as u32;
    let bits = (moduli.bits + missing + SPARE_BITS).min(moduli.most_bits);
    (bits > moduli.bits).then_some(bits)
}

fn not_enough(selected: &Selected, moduli: Moduli, error: f64) -> Usage {
    Usage(format!(
        "{}: with the most bits, {} ({} moduli), a sampled element is still {:.3e} of |A| |B| off, where a product of doubles is \
         about {:.1e}: these values spread too far; native-dgemm takes them, and so does a fixed count of moduli (`gemm --bits {}`, \
         `accuracy` without --as-needed)",
        selected.label(),
        moduli.bits,
        moduli.count,
        error,
        f64::EPSILON,
        moduli.bits
    ))
}

fn once(
    selected: &Selected,
    device: &dyn Device,
    product: Product,
    bar: &Bar,
) -> anyhow::Result<Option<Run>> {
    let mut workload = selected
        .variant
        .multiply(product)
        .map_err(|error| refused(selected, &error))?;
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
    let build = session.build().clone();
    bar.say("multiplying, then confirming on the host");
    let mut next = 0;
    let mut flow = Flow::new(session.as_mut(), workload.as_mut(), &mut next);
    let mut device_s = 0.0;
    while let Some(Yield { stages, .. }) = flow.next(!interrupt::asked())? {
        device_s += stages.iter().map(|(_, seconds)| seconds).sum::<f64>();
    }
    if interrupt::asked() {
        return Ok(None);
    }
    let multiplied = workload
        .finish()
        .ok_or_else(|| Wrong(format!("{} ended without a product", selected.label())))?;
    Ok(Some(Run {
        multiplied,
        device_s,
        build,
    }))
}

/// Why the variant does not compute this product, and what would.
fn refused(selected: &Selected, error: &MultiplyError) -> Usage {
    let label = selected.label();
    let mut sentence = format!("{label}: {error}");
    if *error == MultiplyError::Unsupported {
        // The last of a family's needs the least.
        let others: Vec<String> = families()
            .iter()
            .filter_map(|family| {
                Some(format!(
                    "{}/{}",
                    family.name(),
                    family.multiply_variants().last()?
                ))
            })
            .collect();
        sentence += &format!(", use {}", others.join(" or "));
    }
    Usage(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bits_are_taken_until_there_are_no_more() {
        let moduli = |bits| Moduli {
            count: 16,
            bits,
            most_bits: 72,
        };
        let rounding = f64::EPSILON / 2.0;
        assert_eq!(more_bits(moduli(53), 1.07 * rounding), Some(58));
        assert_eq!(more_bits(moduli(53), 4.0 * rounding), Some(59));
        assert_eq!(more_bits(moduli(53), 1.0), Some(72));
        assert_eq!(more_bits(moduli(53), f64::INFINITY), Some(72));
        assert_eq!(more_bits(moduli(71), 1.07 * rounding), Some(72));
        assert_eq!(more_bits(moduli(72), 1.07 * rounding), None);
    }
}
