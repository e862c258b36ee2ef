//! Devices: where a variant runs.

mod cuda;
mod error;
mod session;

pub use cuda::{Card, ComputeMode, CudaDevice, Driver, cuda_version};
pub use error::DeviceError;
pub use session::{BuildInfo, Device, DeviceInfo, Finished, GpuInfo, Session};
