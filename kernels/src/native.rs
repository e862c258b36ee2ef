//! Native host kernels: the `cpu` device's side of a workload.

use std::fmt;
use std::str::FromStr;

use crate::workload::Launch;

/// The vector instruction set of a native kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// 32-bit words one by one: the reference among the native kernels.
    Plain,
    /// Eight words by AVX2.
    Avx2,
    /// Sixteen words by AVX-512F.
    Avx512,
}

impl Isa {
    /// All of them, slowest first.
    pub const ALL: [Isa; 3] = [Isa::Plain, Isa::Avx2, Isa::Avx512];

    /// Whether this processor has it.
    pub fn available(self) -> bool {
        match self {
            Isa::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// The widest one that this processor has.
    pub fn best() -> Isa {
        Isa::ALL
            .into_iter()
            .rev()
            .find(|isa| isa.available())
            .unwrap_or(Isa::Plain)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Plain => "plain",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Isa::ALL
            .into_iter()
            .find(|isa| isa.name() == text)
            .ok_or_else(|| format!("`{text}` is not an instruction set: use plain, avx2 or avx512"))
    }
}

/// A launch that a native kernel does not understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("native kernel: {0}")]
pub struct NativeError(pub String);

/// A kernel compiled into this program, which does to the buffers what the CUDA text would do.
pub trait NativeKernel: Send + Sync {
    /// Whether there is code for `isa`.
    ///
    /// # Errors
    /// The key of the variant's file that asks for something that there is no code for, and what there is code for.
    fn check(&self, isa: Isa) -> Result<(), NativeError>;

    /// Run one launch on all cores of the current rayon pool.
    ///
    /// # Errors
    /// When the arguments are not those of this kernel, or this processor lacks `isa`.
    fn launch(&self, launch: &Launch, isa: Isa, buffers: &mut [Vec<u32>]) -> Result<(), NativeError>;
}
