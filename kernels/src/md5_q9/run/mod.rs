//! The run reading: native kernels over vectors of words.

mod bare;
mod kernel;
mod lanes;
mod walk;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

pub use bare::{BARE_STATES, bare_chain};
pub use kernel::{Md5Native, best_states};
