//! The `cuda:N` device: NVIDIA's driver API.
//!
//! The driver's library is looked at by [`Driver::probe`] before anything else touches it: the binding that the rest
//! of this folder uses panics on a missing library or function, and a probe that has passed rules both out.

mod cards;
mod context;
mod cublas;
mod device;
mod driver;
mod memory;
mod session;

pub use cards::Card;
pub use device::CudaDevice;
use driver::Driver;
pub use driver::cuda_version;
