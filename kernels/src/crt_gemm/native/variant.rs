//! The library's product as a variant.

use std::sync::Arc;

use super::check::NativeCheck;
use super::kernel::source;
use super::multiplication::NativeMultiplication;
use super::multiplier::NativeMultiplier;
use crate::crt_gemm::check::{Findings, Group, VectorFile, groups};
use crate::crt_gemm::options::{Scheme, VariantFile};
use crate::crt_gemm::production::{SpotCheck, TimedProducts, edge};
use crate::crt_gemm::variant::{no_native_kernel, no_prefix};
use crate::family::{
    Check, DeviceKind, PrefixError, Production, ValidationPlan, Variant, VectorError, name_and_size,
};
use crate::library::{GemmKind, Library};
use crate::loops::LoopPlan;
use crate::multiply::{Multiplication, MultiplyError, Product};
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// A variant that was read from its file.
#[derive(Clone)]
pub struct NativeVariant {
    name: String,
    file: Arc<VariantFile>,
}

impl NativeVariant {
    /// The variant `name`.
    pub fn new(name: &str, file: VariantFile) -> NativeVariant {
        NativeVariant {
            name: name.to_owned(),
            file: Arc::new(file),
        }
    }
}

impl NativeVariant {
    /// What the library is asked for.
    fn kind(&self) -> GemmKind {
        match self.file.options.scheme {
            Scheme::FixedPoint => GemmKind::F64FixedPoint {
                bits: self.file.bits(),
            },
            _ => GemmKind::F64,
        }
    }
}

impl NativeVariant {
    fn multiplier(&self) -> NativeMultiplier {
        NativeMultiplier {
            variant: name_and_size(&self.name).0.to_owned(),
            kind: self.kind(),
        }
    }
}

impl Variant for NativeVariant {
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
        let large = plan.device == DeviceKind::Cuda;
        let check = |Group { name, cases }| -> Box<dyn Check> {
            Box::new(NativeCheck::new(
                name_and_size(&self.name).0,
                self.kind(),
                name,
                cases,
                Findings::default(),
            ))
        };
        let spot = |edge| -> Box<dyn Check> { Box::new(SpotCheck::new(self.multiplier(), edge, plan.seed)) };
        groups(plan.seed, large)
            .into_iter()
            .map(check)
            .chain(self.file.trial.fixed().map(spot))
            .collect()
    }

    /// No case of a vector file is about doubles alone: all are counted as not covered.
    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        let mut findings = Findings::default();
        findings.not_covered(VectorFile::parse(text)?.cases());
        let check = NativeCheck::new(&self.name, self.kind(), "vectors", Vec::new(), findings);
        Ok(vec![Box::new(check)])
    }

    fn overflow_check(&self, _plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        None
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        no_prefix(request)?;
        let edge = edge(self.file.trial, request);
        Ok(Box::new(TimedProducts::new(self.multiplier(), edge, request)))
    }

    fn multiply(&self, product: Product) -> Result<Box<dyn Multiplication>, MultiplyError> {
        let kind = match (self.kind(), product.bits) {
            (GemmKind::F64FixedPoint { .. }, Some(bits)) => GemmKind::F64FixedPoint {
                bits: self.file.with_bits(bits)?.bits(),
            },
            (kind, None) => kind,
            (_, Some(bits)) => {
                return Err(MultiplyError::Bits {
                    bits,
                    allowed: "the library's doubles have 53, there is nothing to choose".to_owned(),
                });
            }
        };
        let name = name_and_size(&self.name).0;
        Ok(Box::new(NativeMultiplication::new(name, kind, product)?))
    }

    fn source(&self) -> Source {
        source(name_and_size(&self.name).0)
    }

    fn library(&self) -> Option<Library> {
        Some(match self.kind() {
            GemmKind::F64FixedPoint { .. } => Library::CublasFixedPoint,
            GemmKind::F64 | GemmKind::S8 => Library::Cublas,
        })
    }

    fn loops(&self) -> Option<LoopPlan> {
        None
    }

    fn cannot_run_on(&self, device: DeviceKind) -> Option<String> {
        no_native_kernel(&self.name, device)
    }

    fn native_states(&self, _isa: Isa) -> Option<u32> {
        None
    }
}
