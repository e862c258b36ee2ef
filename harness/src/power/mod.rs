//! Power and energy while trials run: sources that read a device's sensors, and the sampler that asks them every 100 ms.

#[cfg(test)]
mod fake;
mod meter;
mod nvml;
mod probe;
mod rapl;
mod sampler;
mod source;

pub use meter::{Counts, Meter};
pub use nvml::NvmlCard;
pub use probe::{Cadence, Probe, probe};
pub use sampler::PERIOD;
pub use source::{NoPower, counts_energy, open};
