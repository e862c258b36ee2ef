//! Devices: where a variant runs.

mod error;
mod session;

pub use error::DeviceError;
pub use session::{BuildInfo, Device, DeviceInfo, Finished, GpuInfo, Session};
