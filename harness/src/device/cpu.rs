//! The `cpu` device: native kernels on all cores.

use std::sync::Arc;

use assay_kernels::family::DeviceKind;
use assay_kernels::native::{Isa, NativeKernel};
use assay_kernels::workload::{Launch, Setup};

use super::host::{HostLaunch, HostSession};
use super::{BuildInfo, Device, DeviceError, DeviceInfo, Session, source_sha256};
use crate::host_facts;

/// The host's processor with one of its instruction sets.
pub struct Cpu {
    info: DeviceInfo,
    isa: Isa,
}

impl Cpu {
    /// The processor with `isa`, or with the widest set that it has.
    ///
    /// # Errors
    /// When it lacks `isa`.
    pub fn new(isa: Option<Isa>) -> Result<Cpu, DeviceError> {
        let isa = isa.unwrap_or_else(Isa::best);
        if !isa.available() {
            let has: Vec<&str> = Isa::ALL
                .iter()
                .filter(|isa| isa.available())
                .map(|isa| isa.name())
                .collect();
            return Err(DeviceError::Unusable {
                id: "cpu".to_owned(),
                why: format!("--isa {isa}: this processor has only {}", has.join(", ")),
            });
        }
        let threads = rayon::current_num_threads();
        let name = format!(
            "{}, {threads} thread{}, {isa}",
            host_facts::cpu_name().unwrap_or_else(|| "processor".to_owned()),
            if threads == 1 { "" } else { "s" }
        );
        Ok(Cpu {
            info: DeviceInfo {
                id: "cpu".to_owned(),
                kind: DeviceKind::Cpu,
                name,
                gpu: None,
            },
            isa,
        })
    }
}

impl Device for Cpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn open(&self, setup: &Setup) -> Result<Box<dyn Session>, DeviceError> {
        let Some(native) = &setup.native else {
            return Err(DeviceError::Unsupported {
                file: setup.source.file.clone(),
                target: "cpu".to_owned(),
                what: "a kernel that has no native form".to_owned(),
            });
        };
        native.check(self.isa).map_err(|error| DeviceError::NoCode {
            file: setup.source.file.clone(),
            target: format!("cpu with --isa {}", self.isa),
            what: error.0,
        })?;
        let build = BuildInfo {
            source_sha256: source_sha256(&setup.source),
            compiler: Some(format!("native kernel, {}", self.isa)),
            ..BuildInfo::default()
        };
        let launcher = NativeLaunch {
            kernel: Arc::clone(native),
            isa: self.isa,
        };
        Ok(Box::new(HostSession::new(launcher, build, setup)?))
    }
}

struct NativeLaunch {
    kernel: Arc<dyn NativeKernel>,
    isa: Isa,
}

impl HostLaunch for NativeLaunch {
    fn launch(&self, launch: &Launch, buffers: &mut [Vec<u32>]) -> Result<(), DeviceError> {
        self.kernel
            .launch(launch, self.isa, buffers)
            .map_err(|error| DeviceError::Invalid(error.to_string()))
    }
}
