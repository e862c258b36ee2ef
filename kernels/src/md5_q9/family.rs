//! The family as the registry sees it.

use std::sync::Arc;

use super::base::Prefix;
use super::check::ORDER_LAYER;
use super::machine::Layer;
use super::variant::Md5Variant;
use crate::family::{DeviceKind, Family, PrefixError, Search, Variant, VariantError};

/// The family `md5-q9`.
pub struct Md5Q9;

impl Family for Md5Q9 {
    fn name(&self) -> &'static str {
        "md5-q9"
    }

    fn summary(&self) -> &'static str {
        "MD5 of messages with 52 free bytes, by the Q9 tunnel: digests with leading zeros"
    }

    fn unit(&self) -> &'static str {
        "candidate"
    }

    fn batch_units(&self, device: DeviceKind) -> u64 {
        match device {
            DeviceKind::Cuda => 1 << 32,
            DeviceKind::Cpu => 1 << 24,
            DeviceKind::Emulated => 1 << 21,
        }
    }

    fn layers(&self) -> Vec<String> {
        std::iter::once(ORDER_LAYER.to_owned())
            .chain(Layer::all().map(Layer::name))
            .collect()
    }

    fn default_variant(&self, device: DeviceKind) -> &'static str {
        match device {
            DeviceKind::Cuda => "v6",
            DeviceKind::Cpu | DeviceKind::Emulated => "v5",
        }
    }

    fn baseline(&self) -> &'static str {
        "v0"
    }

    fn has_native(&self) -> bool {
        true
    }

    fn variant(&self, name: &str, text: &str) -> Result<Arc<dyn Variant>, VariantError> {
        Ok(Arc::new(Md5Variant::parse(name, text)?))
    }

    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }
}

impl Search for Md5Q9 {
    fn check_prefix(&self, text: &[u8]) -> Result<(), PrefixError> {
        Prefix::new(text.into()).map(|_| ())
    }

    fn max_zeros(&self) -> u32 {
        32
    }

    fn zeros_tested(&self) -> u32 {
        8
    }
}
