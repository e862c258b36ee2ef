//! One card as a device.

use std::rc::Rc;

use assay_kernels::family::DeviceKind;
use assay_kernels::library::Library;
use assay_kernels::workload::Setup;

use super::super::{Device, DeviceError, DeviceInfo, Session};
use super::context::Context;
use super::session::CudaSession;
use super::{Card, Driver};
use crate::toolchain::{SystemLoader, Toolchain};

/// A card that this process has a context on.
pub struct CudaDevice {
    info: DeviceInfo,
    card: Card,
    driver: Driver,
    context: Rc<Context>,
    tools: Rc<Toolchain>,
}

impl CudaDevice {
    /// Take `cuda:ordinal`, with `tools` to build for it.
    ///
    /// # Errors
    /// [`DeviceError::Unusable`] when there is no such card, another process holds it, or the compiler does not know
    /// it; [`DeviceError::MissingTool`] when there is no compiler.
    pub fn new(ordinal: u32, tools: Rc<Toolchain>) -> Result<CudaDevice, DeviceError> {
        let unusable = |why: String| DeviceError::Unusable {
            id: format!("cuda:{ordinal}"),
            why,
        };
        let (driver, cards) = Card::all().map_err(unusable)?;
        let card = match cards.iter().find(|card| card.ordinal == ordinal) {
            Some(card) => card.clone(),
            None => return Err(unusable(what_there_is(&cards))),
        };
        let nvrtc = tools.nvrtc()?;
        nvrtc.check_arch(card.arch()).map_err(|_| {
            let supported: Vec<_> = nvrtc.archs().iter().map(ToString::to_string).collect();
            unusable(format!(
                "{} is {}, and NVRTC {} builds for {}: use --nvrtc with a version that knows it",
                card.name,
                card.arch(),
                nvrtc.version(),
                supported.join(", ")
            ))
        })?;
        let context = Rc::new(Context::retain(&card.id(), card.device)?);
        let info = DeviceInfo {
            id: card.id(),
            kind: DeviceKind::Cuda,
            name: card.name.clone(),
            gpu: Some(card.gpu.clone()),
        };
        Ok(CudaDevice {
            info,
            card,
            driver,
            context,
            tools,
        })
    }

    /// The card.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// What builds for it.
    pub fn tools(&self) -> &Rc<Toolchain> {
        &self.tools
    }
}

fn what_there_is(cards: &[Card]) -> String {
    if cards.is_empty() {
        return "the driver shows no card".to_string();
    }
    let cards: Vec<_> = cards
        .iter()
        .map(|card| format!("{} ({})", card.id(), card.name))
        .collect();
    format!("there is {}", cards.join(", "))
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn lacks(&self, library: Library) -> Option<String> {
        super::cublas::lacks(&SystemLoader, library)
    }

    fn open(&self, setup: &Setup) -> Result<Box<dyn Session>, DeviceError> {
        self.context.check_alive()?;
        let cubin = self.tools.build(&setup.source, self.card.arch())?;
        let nvrtc = self.tools.nvrtc()?.version();
        let session = CudaSession::new(Rc::clone(&self.context), &self.driver, setup, cubin, nvrtc)?;
        Ok(Box::new(session))
    }
}
