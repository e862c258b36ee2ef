//! Counts that others have published, to stand beside ours.

use crate::toolchain::Arch;

/// Instructions per candidate as published for one card and compiler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The variant, with its family.
    pub variant: &'static str,
    /// The architecture.
    pub arch: Arch,
    /// Where the numbers come from.
    pub source: &'static str,
    /// All instructions.
    pub total: f64,
    /// Those of the ALU.
    pub alu: f64,
    /// IMAD and its relatives.
    pub imad: f64,
}

const fn rtx_2080_ti(variant: &'static str, total: f64, alu: f64, imad: f64) -> Published {
    Published {
        variant,
        arch: Arch::number(75),
        source: "RTX 2080 Ti, CUDA 12.9",
        total,
        alu,
        imad,
    }
}

const ALL: [Published; 4] = [
    rtx_2080_ti("md5-q9/v0", 184.0, 172.0, 2.0),
    rtx_2080_ti("md5-q9/v2", 188.0, 115.0, 63.0),
    rtx_2080_ti("md5-q9/v3", 200.0, 103.0, 87.0),
    rtx_2080_ti("md5-q9/v4", 192.0, 101.0, 85.0),
];

/// The published counts of `variant` on `arch`, where there are any.
pub fn published(variant: &str, arch: Arch) -> Option<&'static Published> {
    ALL.iter()
        .find(|published| published.variant == variant && published.arch == arch)
}
