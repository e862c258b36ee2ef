//! A variant of the scheme of N moduli, ready to be checked and timed.

use std::sync::Arc;

use super::check::{ModuliCheck, ModuliRefusals, groups};
use super::kernel::ModuliKernel;
use super::multiplication::ModuliMultiplication;
use super::multiplier::ModuliMultiplier;
use crate::crt_gemm::Refusal;
use crate::crt_gemm::check::{Findings, Group, VectorFile};
use crate::crt_gemm::options::{KernelKind, VariantFile};
use crate::crt_gemm::production::{SpotCheck, TimedProducts, edge};
use crate::crt_gemm::variant::{TENSOR_CARDS, needs_a_card, no_native_kernel, no_prefix};
use crate::family::{Cards, Floor};
use crate::family::{
    Check, DeviceKind, PrefixError, Production, ValidationPlan, Variant, VectorError, name_and_size,
};
use crate::library::Library;
use crate::loops::LoopPlan;
use crate::multiply::{Multiplication, MultiplyError, Product};
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// A variant that was read from its file.
#[derive(Clone)]
pub struct ModuliVariant {
    name: String,
    file: Arc<VariantFile>,
}

impl ModuliVariant {
    /// The variant `name`.
    pub fn new(name: &str, file: VariantFile) -> ModuliVariant {
        ModuliVariant {
            name: name.to_owned(),
            file: Arc::new(file),
        }
    }

    fn kernel(&self, trace: bool) -> ModuliKernel {
        ModuliKernel::new(name_and_size(&self.name).0, Arc::clone(&self.file), trace)
    }
}

impl ModuliVariant {
    fn multiplier(&self, edge: usize) -> Result<ModuliMultiplier, Refusal> {
        ModuliMultiplier::new(self.kernel(false), edge)
    }
}

impl Variant for ModuliVariant {
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

    /// Each group of products by a trace build, layer by layer; then by the production build, of which the buffers between
    /// its kernels are seen. In both, edge values come first and random ones last;
    /// then elements of a product of the edge that was asked for.
    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>> {
        let large = plan.device == DeviceKind::Cuda;
        let mut checks: Vec<Box<dyn Check>> = Vec::new();
        for (trace, build) in [(true, "layers"), (false, "production build")] {
            for Group { name, cases } in groups(plan.seed, &self.file, large) {
                let name = format!("{build}: {name}");
                let check = ModuliCheck::new(self.kernel(trace), &name, cases, Findings::default());
                checks.push(Box::new(check));
            }
        }
        checks.push(Box::new(ModuliRefusals::new(self.kernel(false))));
        // The largest edge of a file is within the largest K, of which the check above says whether it is refused.
        let sized = self
            .file
            .trial
            .fixed()
            .and_then(|edge| Some((edge, self.multiplier(edge).ok()?)));
        checks.extend(sized.map(|(edge, multiplier)| -> Box<dyn Check> {
            Box::new(SpotCheck::new(multiplier, edge, plan.seed))
        }));
        checks
    }

    /// The cases of a vector file are about the numbers of the scheme, which the host proves, or other schemes: all are
    /// counted as not covered.
    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        let mut findings = Findings::default();
        findings.not_covered(VectorFile::parse(text)?.cases());
        let check = ModuliCheck::new(self.kernel(true), "vectors", Vec::new(), findings);
        Ok(vec![Box::new(check)])
    }

    fn overflow_check(&self, _plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        None
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        no_prefix(request)?;
        let edge = edge(self.file.trial, request);
        let multiplier = self
            .multiplier(edge)
            .map_err(|why| PrefixError(why.to_string()))?;
        Ok(Box::new(TimedProducts::new(multiplier, edge, request)))
    }

    fn multiply(&self, product: Product) -> Result<Box<dyn Multiplication>, MultiplyError> {
        let file = match product.bits {
            Some(bits) => Arc::new(self.file.with_bits(bits)?),
            None => Arc::clone(&self.file),
        };
        let kernel = ModuliKernel::new(name_and_size(&self.name).0, file, false);
        Ok(Box::new(ModuliMultiplication::new(kernel, product)?))
    }

    fn source(&self) -> Source {
        self.kernel(false).source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        None
    }

    fn cards(&self) -> Option<Cards> {
        match self.file.options.kernel {
            KernelKind::Wgmma => Some(Cards::Only((9, 0))),
            kernel => kernel.has_tensor_cores().then_some(TENSOR_CARDS),
        }
    }

    fn library(&self) -> Option<Library> {
        self.kernel(false).by_library().then_some(Library::Cublas)
    }

    /// An INT8 product a modulus, where the size and with it the count of moduli is fixed.
    fn floor(&self) -> Option<Floor> {
        let count = self.kernel(false).count(self.file.trial.fixed()?).ok()?;
        Some(Floor::Products(count as u32))
    }

    fn cannot_run_on(&self, device: DeviceKind) -> Option<String> {
        if self.file.options.kernel.has_tensor_cores() {
            needs_a_card(&self.name, device)
        } else {
            no_native_kernel(&self.name, device)
        }
    }

    fn native_states(&self, _isa: Isa) -> Option<u32> {
        None
    }
}
