//! The CUDA text of a variant of the scheme of N moduli.

use super::numbers::{MOST_MODULI, SUM_WORDS};
use super::scaling::Bound;
use crate::crt_gemm::options::{KernelKind, Layout, VariantFile};
use crate::crt_gemm::tiling::tiling;

/// Threads a block of the kernels that convert.
pub const CONVERSION_BLOCK: u32 = 256;

/// Names of the kernels.
pub mod entry {
    /// Each line's top.
    pub const TOPS: &str = "moduli_tops";
    /// Magnitudes rounded up.
    pub const MAGNITUDES: &str = "moduli_magnitudes";
    /// Sums of squares.
    pub const SQUARES: &str = "moduli_squares";
    /// The largest sums of a product of magnitudes.
    pub const BOUND: &str = "moduli_bound";
    /// Each line's exponent.
    pub const EXPONENTS: &str = "moduli_exponents";
    /// Residues.
    pub const RESIDUES: &str = "moduli_residues";
    /// The products modulo each modulus.
    pub const PRODUCT: &str = "moduli_product";
    /// The remainder theorem and the last rounding.
    pub const CRT: &str = "moduli_crt";
}

/// The kernels beside the one that multiplies.
pub fn helpers(bound: Bound) -> Vec<&'static str> {
    let mut helpers = vec![entry::TOPS, entry::EXPONENTS, entry::RESIDUES, entry::CRT];
    helpers.extend(match bound {
        Bound::Fast => &[entry::SQUARES][..],
        Bound::Accurate => &[entry::MAGNITUDES, entry::BOUND],
    });
    helpers
}

/// The whole text.
pub fn text(file: &VariantFile) -> String {
    let bound = file.bound();
    let mut text = format!(
        "#define MOST_MODULI {MOST_MODULI}\n#define SUM_WORDS {SUM_WORDS}\n#define ROUNDED_BITS {}\n\
         #define BOUND_BY_PRODUCT {}\n#define IN_BLOCKS {}\n#define CONVERSION_BLOCK {CONVERSION_BLOCK}\n\n",
        bound.bits(),
        u8::from(bound == Bound::Accurate),
        u8::from(file.options.layout == Layout::Blocks),
    );
    text += include_str!("../cuda/moduli.cu");
    text.push('\n');
    text += include_str!("../cuda/moduli_residues.cu");
    text.push('\n');
    text += include_str!("../cuda/moduli_crt.cu");
    text.push('\n');
    match (file.options.kernel, tiling(file)) {
        (KernelKind::Mma, Some(tiling)) => {
            text += &tiling.defines();
            text += include_str!("../cuda/tiles.cu");
            text.push('\n');
            text += include_str!("../cuda/moduli_mma.cu");
        }
        (KernelKind::Wgmma, Some(tiling)) => {
            text += &tiling.defines();
            text += include_str!("../cuda/moduli_wgmma.cu");
        }
        (KernelKind::Cublas, _) => text += include_str!("../cuda/moduli_library.cu"),
        _ => {
            text += &format!(
                "#define BLOCK {}\n\n",
                file.launch.block.unwrap_or(CONVERSION_BLOCK)
            );
            text += include_str!("../cuda/moduli_naive.cu");
        }
    }
    text
}
