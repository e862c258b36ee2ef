//! The cards that the driver shows.

use std::fmt;

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdevice_attribute};

use super::super::{DeviceError, GpuInfo};
use super::Driver;
use super::context::driver_error;
use crate::toolchain::{Arch, SystemLoader};

/// Who may compute on a card at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputeMode {
    /// Any number of processes.
    Shared,
    /// One process at a time.
    Exclusive,
    /// None.
    Prohibited,
    /// One that this program does not know, by its number.
    Other(i32),
}

impl fmt::Display for ComputeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComputeMode::Shared => f.pad("shared"),
            ComputeMode::Exclusive => f.pad("exclusive process"),
            ComputeMode::Prohibited => f.pad("prohibited"),
            ComputeMode::Other(number) => write!(f, "mode {number}"),
        }
    }
}

/// A card.
#[derive(Debug, Clone)]
pub struct Card {
    /// N of `cuda:N`.
    pub ordinal: u32,
    /// What its maker calls it.
    pub name: String,
    /// What the driver says of it.
    pub gpu: GpuInfo,
    /// Who may compute on it.
    pub mode: ComputeMode,
    pub(super) device: sys::CUdevice,
}

impl Card {
    /// Every card of this machine; none where there is no driver or no card.
    ///
    /// # Errors
    /// When there is no driver that works, in words.
    pub fn all() -> Result<(Driver, Vec<Card>), String> {
        let driver = Driver::probe(&SystemLoader)?;
        let cards: Result<Vec<_>, DeviceError> = (0..driver.cards)
            .map(|ordinal| Card::ask(ordinal, driver.cuda))
            .collect();
        Ok((driver, cards.map_err(|error| error.to_string())?))
    }

    /// `cuda:N`.
    pub fn id(&self) -> String {
        format!("cuda:{}", self.ordinal)
    }

    /// What kernels for it are built for.
    pub fn arch(&self) -> Arch {
        Arch::of(self.gpu.compute_capability)
    }

    /// Ask the driver, which has been probed, about one of its cards.
    fn ask(ordinal: u32, driver_cuda: i32) -> Result<Card, DeviceError> {
        let id = format!("cuda:{ordinal}");
        let of = |call: &'static str| {
            let id = id.clone();
            move |error| driver_error(&id, call, error)
        };
        let device = result::device::get(ordinal as i32).map_err(of("cuDeviceGet"))?;
        let attribute = |attribute: CUdevice_attribute| {
            // SAFETY: the device is one that cuDeviceGet has just given.
            unsafe { result::device::get_attribute(device, attribute) }.map_err(of("cuDeviceGetAttribute"))
        };
        let number = |which| attribute(which).map(|value| u32::try_from(value).unwrap_or(0));
        let compute_capability = (
            number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let multiprocessors = number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let mode = match attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)? {
            0 => ComputeMode::Shared,
            2 => ComputeMode::Prohibited,
            3 => ComputeMode::Exclusive,
            other => ComputeMode::Other(other),
        };
        // SAFETY: as above.
        let memory = unsafe { result::device::total_mem(device) }.map_err(of("cuDeviceTotalMem"))?;
        let uuid = result::device::get_uuid(device).map_err(of("cuDeviceGetUuid"))?;
        let gpu = GpuInfo {
            uuid: uuid_text(&uuid.bytes.map(|byte| byte as u8)),
            compute_capability,
            multiprocessors,
            driver_cuda,
            memory_bytes: memory as u64,
        };
        let name = result::device::get_name(device).map_err(of("cuDeviceGetName"))?;
        Ok(Card {
            ordinal,
            name,
            gpu,
            mode,
            device,
        })
    }
}

/// As NVML writes it: `GPU-8-4-4-4-12`.
fn uuid_text(bytes: &[u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "GPU-{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::uuid_text;

    #[test]
    fn a_uuid_is_written_as_nvml_writes_it() {
        let bytes = std::array::from_fn(|i| i as u8 * 17);
        assert_eq!(uuid_text(&bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
