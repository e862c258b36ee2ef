//! A card that is none, for tests of what is done with the answers of one.

use assay_kernels::family::DeviceKind;
use assay_kernels::library::Library;
use assay_kernels::workload::Setup;

use super::{Device, DeviceError, DeviceInfo, GpuInfo, Session};

/// A card that is asked what it has, and never opened.
pub struct Pretended {
    info: DeviceInfo,
    lacks: Option<&'static str>,
}

impl Device for Pretended {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn lacks(&self, _library: Library) -> Option<String> {
        self.lacks.map(str::to_owned)
    }

    fn open(&self, _setup: &Setup) -> Result<Box<dyn Session>, DeviceError> {
        Err(DeviceError::Invalid("it is pretended".to_owned()))
    }
}

/// A card of that compute capability, with why it has not the library.
pub fn card(compute_capability: (u32, u32), lacks: Option<&'static str>) -> Pretended {
    let gpu = GpuInfo {
        uuid: "GPU-0".to_owned(),
        compute_capability,
        multiprocessors: 1,
        driver_cuda: 13000,
        memory_bytes: 1,
    };
    Pretended {
        info: DeviceInfo {
            id: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda,
            name: "a card".to_owned(),
            gpu: Some(gpu),
        },
        lacks,
    }
}
