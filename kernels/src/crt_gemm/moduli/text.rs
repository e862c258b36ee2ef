//! The CUDA text of a variant of the scheme of N moduli.

use super::norms;
use super::numbers::{MOST_MODULI, SUM_WORDS};
use super::scaling::Bound;
use super::table::{FOLD_DEPTH, Residues};
use crate::crt_gemm::options::{KernelKind, Layout, VariantFile};
use crate::crt_gemm::tiling::tiling;

/// Threads a block of the kernels that convert.
pub const CONVERSION_BLOCK: u32 = 256;

/// What a warp takes of C where tensor cores form the theorem's sums.
pub mod strip {
    /// Elements of a row.
    pub const COLS: usize = 128;
    /// Rows: what the block has prepared serves them all.
    pub const ROWS: usize = 16;
    /// Warps of a block.
    pub const WARPS: usize = 4;
}

/// Names of the kernels.
pub mod entry {
    /// Each line's top.
    pub const TOPS: &str = "moduli_tops";
    /// Magnitudes rounded up.
    pub const MAGNITUDES: &str = "moduli_magnitudes";
    /// Each line's top and each block's norm.
    pub const NORMS: &str = "moduli_norms";
    /// Bytes of the norms.
    pub const NORM_BYTES: &str = "moduli_norm_bytes";
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
    let mut helpers = vec![entry::EXPONENTS, entry::RESIDUES, entry::CRT];
    helpers.extend(match bound {
        Bound::Fast => &[entry::TOPS, entry::SQUARES][..],
        Bound::Accurate => &[entry::TOPS, entry::MAGNITUDES, entry::BOUND],
        Bound::Blocks => &[entry::NORMS, entry::NORM_BYTES, entry::BOUND],
    });
    helpers
}

/// Whether tensor cores form the theorem's sums.
pub fn crt_by_tensor_cores(file: &VariantFile) -> bool {
    file.options.kernel == KernelKind::Wgmma
}

/// The whole text.
pub fn text(file: &VariantFile) -> String {
    let bound = file.bound();
    let mut text = format!(
        "#define MOST_MODULI {MOST_MODULI}\n#define SUM_WORDS {SUM_WORDS}\n#define ROUNDED_BITS {}\n\
         #define BOUND_BY_PRODUCT {}\n#define IN_BLOCKS {}\n#define LEAST_RESIDUES {}\n#define FOLD_DEPTH {FOLD_DEPTH}\n\
         #define CONVERSION_BLOCK {CONVERSION_BLOCK}\n\n",
        bound.bits(),
        u8::from(bound.by_product()),
        u8::from(file.options.layout == Layout::Blocks),
        u8::from(file.residues() == Residues::Least),
    );
    text += include_str!("../cuda/moduli.cu");
    text.push('\n');
    match bound {
        Bound::Fast | Bound::Accurate => text += include_str!("../cuda/moduli_magnitudes.cu"),
        Bound::Blocks => {
            text += &format!(
                "#define NORM_BLOCK {}\n#define NORM_BITS {}\n\n",
                norms::BLOCK,
                norms::BITS
            );
            text += include_str!("../cuda/moduli_norms.cu");
        }
    }
    text.push('\n');
    text += include_str!("../cuda/moduli_residues.cu");
    text.push('\n');
    text += include_str!("../cuda/moduli_crt.cu");
    text.push('\n');
    if crt_by_tensor_cores(file) {
        text += &format!(
            "#define STRIP_COLS {}\n#define STRIP_ROWS {}\n#define STRIP_WARPS {}\n\n",
            strip::COLS,
            strip::ROWS,
            strip::WARPS
        );
        text += include_str!("../cuda/moduli_crt_tensor.cu");
    } else {
        text += include_str!("../cuda/moduli_crt_dots.cu");
    }
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
