//! What can be asked for power, and which source a device has.

use assay_analysis::ThrottleSet;
use assay_kernels::family::DeviceKind;

use super::nvml::NvmlCard;
use super::rapl::Rapl;

/// What a source says at one moment. Whatever it does not know is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reading {
    /// The source's own stamp, in microseconds since 1970.
    pub stamp_us: Option<u64>,
    /// Power now, W.
    pub instant_w: Option<f64>,
    /// Power on average, W.
    pub average_w: Option<f64>,
    /// The energy counter, mJ.
    pub energy_mj: Option<u64>,
    /// SM clock, MHz.
    pub sm_clock_mhz: Option<u32>,
    /// Memory clock, MHz.
    pub mem_clock_mhz: Option<u32>,
    /// Temperature, °C.
    pub temperature_c: Option<u32>,
    /// Throttle reasons.
    pub throttle: Option<ThrottleSet>,
}

/// Why one reading failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// Something that can be asked for power.
pub trait PowerSource: Send {
    /// What it is, for the manifest.
    fn name(&self) -> String;
    /// Sentences about what it cannot tell.
    fn lacks(&self) -> Vec<String>;
    /// Ask it.
    ///
    /// # Errors
    /// When it does not answer; the next reading may.
    fn read(&mut self) -> Result<Reading, SourceError>;
}

/// Why a device's power is not known.
#[derive(Debug, thiserror::Error)]
pub enum NoPower {
    /// There is no NVML, or it does not start.
    #[error("NVML cannot be used: {0}")]
    Nvml(String),
    /// NVML does not know the card.
    #[error("NVML does not know the card {uuid}: {why}")]
    UnknownCard {
        /// UUID by CUDA.
        uuid: String,
        /// NVML's reason.
        why: String,
    },
    /// The card has neither a power sensor nor an energy counter that can be read.
    #[error("the card tells neither its power nor its energy: {0}")]
    Nothing(String),
    /// There is no RAPL counter that can be read.
    #[error("no energy counter of the processor can be read under {folder}: {why}")]
    Rapl {
        /// The folder.
        folder: String,
        /// The reason.
        why: String,
    },
    /// There is power, but no energy counter.
    #[error("{0} has no energy counter")]
    NoCounter(String),
    /// Emulation is not about power.
    #[error("an emulated card draws no power of its own")]
    Emulated,
}

/// The source of the power of a kind of device; `uuid` names the card.
///
/// # Errors
/// When there is none.
pub fn open(kind: DeviceKind, uuid: Option<&str>) -> Result<Box<dyn PowerSource>, NoPower> {
    match (kind, uuid) {
        (DeviceKind::Cuda, Some(uuid)) => Ok(Box::new(NvmlCard::open(uuid)?.with_power()?)),
        (DeviceKind::Cpu, _) => Ok(Box::new(Rapl::open(Rapl::FOLDER.as_ref())?)),
        (DeviceKind::Cuda | DeviceKind::Emulated, _) => Err(NoPower::Emulated),
    }
}

/// Make sure that the device counts its energy.
///
/// # Errors
/// When it does not, or cannot be asked.
pub fn counts_energy(kind: DeviceKind, uuid: Option<&str>) -> Result<(), NoPower> {
    let mut source = open(kind, uuid)?;
    match source.read() {
        Ok(Reading {
            energy_mj: Some(_), ..
        }) => Ok(()),
        _ => Err(NoPower::NoCounter(source.name())),
    }
}
