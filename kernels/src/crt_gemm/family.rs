//! The family as the registry sees it.

use std::sync::Arc;

use super::check::LAYERS;
use super::int8::Int8Variant;
use super::moduli::ModuliVariant;
use super::native::NativeVariant;
use super::options::{Scheme, VariantFile};
use super::tiling::tiling;
use super::variant::CrtVariant;
use crate::family::{DeviceKind, Family, Search, Variant, VariantError, name_and_size};

/// The family `crt-gemm`.
pub struct CrtGemm;

impl Family for CrtGemm {
    fn name(&self) -> &'static str {
        "crt-gemm"
    }

    fn summary(&self) -> &'static str {
        "products of FP64 matrices from INT8 products of residues, by the Chinese remainder theorem"
    }

    fn unit(&self) -> &'static str {
        "multiply-add"
    }

    fn flops_per_unit(&self) -> Option<f64> {
        Some(2.0)
    }

    fn batch_units(&self, device: DeviceKind) -> u64 {
        match device {
            DeviceKind::Cuda => 1 << 36,
            DeviceKind::Cpu | DeviceKind::Emulated => 1 << 21,
        }
    }

    fn layers(&self) -> Vec<String> {
        LAYERS.map(str::to_owned).to_vec()
    }

    fn default_variant(&self, _device: DeviceKind) -> &'static str {
        "naive"
    }

    fn multiply_variants(&self) -> &'static [&'static str] {
        &["moduli-wgmma", "moduli-mma", "moduli-naive"]
    }

    fn baseline(&self) -> &'static str {
        "native-dgemm"
    }

    fn size(&self) -> Option<&'static str> {
        Some("rows, columns and K of what a trial multiplies")
    }

    fn has_native(&self) -> bool {
        false
    }

    fn variant(&self, name: &str, text: &str) -> Result<Arc<dyn Variant>, VariantError> {
        let file = match name_and_size(name) {
            (_, None) => VariantFile::parse(text)?,
            (_, Some(size)) => VariantFile::parse(text)?.at(size)?,
        };
        Ok(match (file.options.scheme, tiling(&file)) {
            (Scheme::Int8, tiling) => Arc::new(Int8Variant::new(name, file, tiling)),
            (Scheme::Native | Scheme::FixedPoint, _) => Arc::new(NativeVariant::new(name, file)),
            (Scheme::Moduli, _) => Arc::new(ModuliVariant::new(name, file)),
            _ => Arc::new(CrtVariant::new(name, file)),
        })
    }

    fn search(&self) -> Option<&dyn Search> {
        None
    }
}
