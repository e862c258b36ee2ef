//! The CUDA tools that Assay uses but does not contain: NVRTC, which compiles, and nvdisasm, which disassembles.

mod arch;
mod cache;
#[cfg(test)]
mod crt_gemm_tests;
mod error;
mod flags;
mod loader;
mod locate;
mod nvdisasm;
mod nvrtc;
mod ptxas;
#[cfg(test)]
mod real_tests;
mod tools;

pub use arch::Arch;
pub use cache::source_sha256;
pub use cache::{CacheRead, CubinCache};
pub use error::ToolError;
pub use flags::ToolFlags;
pub use loader::{Library, Loader, SystemLoader};
pub use locate::{Found, Origin, Places};
pub use nvdisasm::Nvdisasm;
pub use nvrtc::{Nvrtc, NvrtcVersion};
pub use ptxas::Resources;
pub use tools::{Cubin, Toolchain};

#[cfg(test)]
pub(crate) use loader::fake;
#[cfg(test)]
pub(crate) use tools::real;
