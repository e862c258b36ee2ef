//! A variant of the INT8 product, ready to be checked and timed.

use std::sync::Arc;

use super::cases::groups;
use super::check::Int8Check;
use super::kernel::Int8Kernel;
use super::production::Int8Production;
use crate::crt_gemm::check::{Findings, VectorFile};
use crate::crt_gemm::options::VariantFile;
use crate::crt_gemm::tiling::Tiling;
use crate::crt_gemm::variant::{TENSOR_CARDS, needs_a_card, no_native_kernel, no_prefix};
use crate::family::{Cards, Floor};
use crate::family::{
    Check, DeviceKind, PrefixError, Production, ValidationPlan, Variant, VectorError, name_and_size,
};
use crate::library::Library;
use crate::loops::LoopPlan;
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// A variant that was read from its file.
#[derive(Clone)]
pub struct Int8Variant {
    name: String,
    file: Arc<VariantFile>,
    tiling: Option<Tiling>,
}

impl Int8Variant {
    /// The variant `name`.
    pub fn new(name: &str, file: VariantFile, tiling: Option<Tiling>) -> Int8Variant {
        Int8Variant {
            name: name.to_owned(),
            file: Arc::new(file),
            tiling,
        }
    }

    fn kernel(&self) -> Int8Kernel {
        Int8Kernel::new(name_and_size(&self.name).0, Arc::clone(&self.file), self.tiling)
    }
}

impl Variant for Int8Variant {
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

    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>> {
        let check = |(name, cases)| -> Box<dyn Check> {
            Box::new(Int8Check::new(self.kernel(), name, cases, Findings::default()))
        };
        groups(plan.seed).into_iter().map(check).collect()
    }

    /// No case of a vector file is about bytes alone: all are counted as not covered.
    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        let mut findings = Findings::default();
        findings.not_covered(VectorFile::parse(text)?.cases());
        Ok(vec![Box::new(Int8Check::new(
            self.kernel(),
            "vectors",
            Vec::new(),
            findings,
        ))])
    }

    fn overflow_check(&self, _plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        None
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        no_prefix(request)?;
        Ok(Box::new(Int8Production::new(self.kernel(), request)))
    }

    fn source(&self) -> Source {
        self.kernel().source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        None
    }

    fn cards(&self) -> Option<Cards> {
        self.tiling.map(|_| TENSOR_CARDS)
    }

    fn library(&self) -> Option<Library> {
        self.tiling.is_none().then_some(Library::Cublas)
    }

    fn floor(&self) -> Option<Floor> {
        Some(Floor::Itself)
    }

    fn cannot_run_on(&self, device: DeviceKind) -> Option<String> {
        match self.tiling {
            Some(_) => needs_a_card(&self.name, device),
            None => no_native_kernel(&self.name, device),
        }
    }

    fn native_states(&self, _isa: Isa) -> Option<u32> {
        None
    }
}
