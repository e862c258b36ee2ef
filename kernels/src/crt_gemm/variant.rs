//! A variant of the family, ready to be checked and timed.

use std::sync::Arc;

use super::check::{Group, ProductCheck, RefusalCheck, VectorFile, groups};
use super::kernel::Kernel;
use super::options::VariantFile;
use super::production::{SpotCheck, TimedProducts, edge};
use super::split2::{PRIMES, Pass};
use super::tiling::tiling;
use crate::family::{Cards, Floor};
use crate::family::{
    Check, DeviceKind, PrefixError, Production, ValidationPlan, Variant, VectorError, name_and_size,
};
use crate::loops::LoopPlan;
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// Cards with `cp.async` and `mma.sync` of bytes.
pub const TENSOR_CARDS: Cards = Cards::From((8, 0));

/// Why a variant with tensor cores cannot run on `device`.
pub fn needs_a_card(name: &str, device: DeviceKind) -> Option<String> {
    let why = match device {
        DeviceKind::Cuda => return None,
        DeviceKind::Cpu => "has no native kernel for cpu",
        DeviceKind::Emulated => {
            "cannot run on emulated, its threads meet in shared memory and in tensor cores (cp.async, ldmatrix, mma.sync)"
        }
    };
    Some(format!("crt-gemm/{name} {why}: use --device cuda:N"))
}

/// Why a variant of CUDA text that the emulator can play cannot run on `device`.
pub fn no_native_kernel(name: &str, device: DeviceKind) -> Option<String> {
    (device == DeviceKind::Cpu)
        .then(|| format!("crt-gemm/{name} has no native kernel for cpu: use --device emulated or cuda:N"))
}

/// Refuse a production with a message's prefix.
///
/// # Errors
/// When there is one.
pub fn no_prefix(request: &Production) -> Result<(), PrefixError> {
    if request.prefix.is_empty() {
        return Ok(());
    }
    Err(PrefixError(
        "crt-gemm multiplies matrices: there is no message to stand in front of".to_owned(),
    ))
}

/// A variant that was read from its file.
#[derive(Clone)]
pub struct CrtVariant {
    name: String,
    file: Arc<VariantFile>,
}

impl CrtVariant {
    /// The variant `name`.
    pub fn new(name: &str, file: VariantFile) -> CrtVariant {
        CrtVariant {
            name: name.to_owned(),
            file: Arc::new(file),
        }
    }

    fn kernel(&self, trace: bool) -> Kernel {
        Kernel::new(name_and_size(&self.name).0, Arc::clone(&self.file), trace)
    }
}

impl Variant for CrtVariant {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.file.summary
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        self.file.described()
    }

    fn not_applicable(&self, _device: DeviceKind) -> Vec<&'static str> {
        vec![]
    }

    /// Each group of products by a trace build, layer by layer; then by the production build, of which only the result is
    /// seen. In both, edge values come first and random ones last; then elements of a product of the edge that was asked for.
    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>> {
        let large = plan.device == DeviceKind::Cuda;
        let mut checks: Vec<Box<dyn Check>> = Vec::new();
        for (trace, build) in [(true, "layers"), (false, "production build")] {
            for Group { name, cases } in groups(plan.seed, large) {
                let name = format!("{build}: {name}");
                let check = ProductCheck::new(self.kernel(trace), &name, cases, Default::default());
                checks.push(Box::new(check));
            }
        }
        checks.push(Box::new(RefusalCheck::new(self.kernel(false))));
        checks.extend(
            self.file.trial.fixed().map(|edge| -> Box<dyn Check> {
                Box::new(SpotCheck::new(self.kernel(false), edge, plan.seed))
            }),
        );
        checks
    }

    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        Ok(vec![Box::new(VectorFile::parse(text)?.check(self.kernel(true)))])
    }

    fn overflow_check(&self, _plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        None
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        no_prefix(request)?;
        let edge = edge(self.file.trial, request);
        Ok(Box::new(TimedProducts::new(self.kernel(false), edge, request)))
    }

    fn source(&self) -> Source {
        self.kernel(false).source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        None
    }

    fn cards(&self) -> Option<Cards> {
        tiling(&self.file).map(|_| TENSOR_CARDS)
    }

    /// An INT8 product a pass and prime.
    fn floor(&self) -> Option<Floor> {
        Some(Floor::Products((Pass::ALL.len() * PRIMES.len()) as u32))
    }

    fn cannot_run_on(&self, device: DeviceKind) -> Option<String> {
        match tiling(&self.file) {
            Some(_) => needs_a_card(&self.name, device),
            None => no_native_kernel(&self.name, device),
        }
    }

    fn native_states(&self, _isa: Isa) -> Option<u32> {
        None
    }
}
