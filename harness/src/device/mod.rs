//! Devices: where a variant runs.

mod choose;
mod cpu;
mod cuda;
mod emulated;
mod error;

mod host;
mod host_gemm;
#[cfg(test)]
pub mod pretended;
mod session;

pub(crate) use crate::toolchain::source_sha256;
pub use choose::{DeviceName, choose};
pub use cpu::Cpu;
pub use cuda::{Card, CudaDevice, cuda_version};
pub use emulated::Emulated;
pub use error::DeviceError;
pub use session::{BuildInfo, Device, DeviceInfo, Finished, GpuInfo, Session};
