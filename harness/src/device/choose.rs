//! Choosing a device: the one that was named, or the best there is, with the reason.

use std::rc::Rc;
use std::str::FromStr;

use assay_kernels::native::Isa;

use super::{Cpu, CudaDevice, Device, DeviceError, Emulated};
use crate::toolchain::Toolchain;

/// A device as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceName {
    /// `cuda:N`.
    Cuda(u32),
    /// `cpu`.
    Cpu,
    /// `emulated`.
    Emulated,
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refusal = || format!("`{text}` is not a device: use cuda:N, cpu or emulated");
        match text {
            "cpu" => Ok(DeviceName::Cpu),
            "emulated" => Ok(DeviceName::Emulated),
            "cuda" => Ok(DeviceName::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").ok_or_else(refusal)?;
                number.parse().map(DeviceName::Cuda).map_err(|_| refusal())
            }
        }
    }
}

/// Open the named device, or `cuda:0` if it is usable, else `cpu`. Also says why it is that one.
///
/// # Errors
/// When the named device cannot be used, or `isa` is named for a device other than `cpu`.
pub fn choose(
    name: Option<DeviceName>,
    isa: Option<Isa>,
    tools: &Rc<Toolchain>,
) -> Result<(Box<dyn Device>, String), DeviceError> {
    let named = |device: Box<dyn Device>| (device, "as asked for".to_owned());
    match name {
        Some(DeviceName::Cpu) => Ok(named(Box::new(Cpu::new(isa)?))),
        Some(DeviceName::Emulated) => Ok(named(Box::new(Emulated::new()?))),
        Some(DeviceName::Cuda(ordinal)) => Ok(named(Box::new(CudaDevice::new(ordinal, Rc::clone(tools))?))),
        None if isa.is_some() => Ok((
            Box::new(Cpu::new(isa)?),
            "because --isa names an instruction set".to_owned(),
        )),
        None => match CudaDevice::new(0, Rc::clone(tools)) {
            Ok(device) => Ok((Box::new(device), "because it is usable".to_owned())),
            Err(error) => Ok((Box::new(Cpu::new(None)?), format!("because {error}"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_documented() {
        assert_eq!("cuda:3".parse(), Ok(DeviceName::Cuda(3)));
        assert_eq!("cuda".parse(), Ok(DeviceName::Cuda(0)));
        for bad in [
            "gpu:x",
            "cuda:",
            "cuda:-1",
            "cuda:x",
            "CPU",
            "",
            "cuda:99999999999",
        ] {
            assert!(
                bad.parse::<DeviceName>().unwrap_err().contains("cuda:N"),
                "{bad:?}"
            );
        }
    }
}
