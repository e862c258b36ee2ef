//! The CUDA text of a variant: printed constants, the steps that all kernels share, and the kernel.

use std::fmt::Write as _;

use super::options::{KernelKind, Layout, VariantFile};
use super::split2::{MODULUS, PRIMES, crt_factor};
use super::tiling::{Tiling, tiling};

/// Name of the kernel that cuts a matrix to residues.
pub const RESIDUES: &str = "split2_residues";

/// Name of the kernel that multiplies.
pub fn entry(kernel: KernelKind) -> &'static str {
    match kernel {
        KernelKind::Naive => "split2_naive",
        KernelKind::Mma => "split2_mma",
        KernelKind::S8s8s32 => "s8s8s32",
        KernelKind::Wgmma => "moduli_product",
        // The library multiplies; this makes remainders of its sums.
        KernelKind::Cublas => "moduli_product",
    }
}

/// The whole text of a variant of the two-slice scheme.
pub fn text(file: &VariantFile) -> String {
    let mut text = constants();
    text += include_str!("cuda/split2.cu");
    if let Some(block) = file.launch.block {
        let _ = write!(text, "\n#define BLOCK {block}\n");
    }
    let (line, step) = match file.options.layout {
        Layout::Plain => ("1u", "m.b_lines"),
        // Blocks are of another scheme: its file is refused.
        Layout::Tiles | Layout::Blocks => ("m.padded_depth", "1u"),
    };
    let _ = write!(
        text,
        "\n// From one column of B's residues to the next, and from one k to the next, in bytes.\n\
         #define B_LINE(m) {line}\n#define B_STEP(m) {step}\n"
    );
    text.push('\n');
    match tiling(file) {
        None => text += include_str!("cuda/naive.cu"),
        Some(tiling) => {
            text += &tiling.defines();
            text += include_str!("cuda/tiles.cu");
            text.push('\n');
            text += include_str!("cuda/mma.cu");
        }
    }
    text
}

/// The whole text of the INT8 product alone.
pub fn int8_text(tiling: &Tiling) -> String {
    format!(
        "{}\n{}\n{}\n{}",
        include_str!("cuda/s8s8s32_types.cu"),
        tiling.defines(),
        include_str!("cuda/tiles.cu"),
        include_str!("cuda/s8s8s32.cu")
    )
}

/// The primes and their factors, as functions of an index that a compiler knows: they become immediate operands.
fn constants() -> String {
    let chosen = |values: &[String]| {
        let (last, front) = values
            .split_last()
            .map_or(("0", &[][..]), |(last, front)| (last.as_str(), front));
        let cases: String = front
            .iter()
            .enumerate()
            .map(|(i, value)| format!("(i) == {i} ? {value} : "))
            .collect();
        format!("({cases}{last})")
    };
    let primes: Vec<String> = PRIMES.iter().map(|p| format!("{p}u")).collect();
    let factors: Vec<String> = (0..PRIMES.len())
        .map(|i| format!("{}ull", crt_factor(i)))
        .collect();
    let reciprocals: Vec<String> = PRIMES
        .iter()
        .map(|&p| format!("{}u", (1 << 32) / u64::from(p)))
        .collect();
    format!(
        "#define MODULUS {MODULUS}ull\n#define PRIME(i) {}\n#define CRT_FACTOR(i) {}\n// 2^32 / p, rounded down.\n#define RECIPROCAL(i) {}\n\n",
        chosen(&primes),
        chosen(&factors),
        chosen(&reciprocals)
    )
}
