//! The run reading: native kernels over vectors of words.

mod kernel;
mod lanes;
mod walk;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

pub use kernel::{Md5Native, best_states};
