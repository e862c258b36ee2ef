//! A variant of the family, ready to be checked and timed.

use std::sync::Arc;

use super::check::{Group, ProductCheck, RefusalCheck, VectorFile, groups};
use super::kernel::Kernel;
use super::options::VariantFile;
use super::production::ProductionWorkload;
use crate::family::{
    Check, DeviceKind, PrefixError, Production, ValidationPlan, Variant, VariantError, VectorError,
};
use crate::loops::LoopPlan;
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// A variant that was read from its file.
#[derive(Clone)]
pub struct CrtVariant {
    name: String,
    file: Arc<VariantFile>,
}

impl CrtVariant {
    /// Read the variant `name` from the text of its file.
    ///
    /// # Errors
    /// When the text is not a variant.
    pub fn parse(name: &str, text: &str) -> Result<CrtVariant, VariantError> {
        Ok(CrtVariant {
            name: name.to_owned(),
            file: Arc::new(VariantFile::parse(text)?),
        })
    }

    fn kernel(&self, trace: bool) -> Kernel {
        Kernel::new(&self.name, Arc::clone(&self.file), trace)
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
    /// seen. In both, edge values come first and random ones last.
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
        checks
    }

    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        Ok(vec![Box::new(VectorFile::parse(text)?.check(self.kernel(true)))])
    }

    fn overflow_check(&self, _plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        None
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        if !request.prefix.is_empty() {
            return Err(PrefixError(
                "crt-gemm multiplies matrices: there is no message to stand in front of".to_owned(),
            ));
        }
        Ok(Box::new(ProductionWorkload::new(self.kernel(false), request)))
    }

    fn source(&self) -> Source {
        self.kernel(false).source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        None
    }

    fn cannot_run_on(&self, device: DeviceKind) -> Option<String> {
        (device == DeviceKind::Cpu).then(|| {
            format!(
                "crt-gemm/{} has no native kernel for cpu: use --device emulated or cuda:N",
                self.name
            )
        })
    }

    fn native_states(&self, _isa: Isa) -> Option<u32> {
        None
    }
}
