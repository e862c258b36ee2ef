//! Families and variants: what there is to compute, and the ways to compute it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::knob::Knob;
use crate::library::Library;
use crate::loops::LoopPlan;
use crate::multiply::{Multiplication, MultiplyError, Product};
use crate::native::Isa;
use crate::workload::{Source, Workload};

/// Where a variant may run, as far as a family cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// A CUDA device.
    Cuda,
    /// The native kernel on the host's processor.
    Cpu,
    /// The CUDA text, compiled for the host.
    Emulated,
}

/// Why a variant's text is not a variant. The harness puts the file's name in front.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// Not TOML, an unknown key, or a value of the wrong type.
    #[error("line {line}: {what}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// What the reader says, naming the key and what it allows.
        what: String,
    },
    /// A value outside its range, or two values that exclude each other.
    #[error("key `{key}`: {what}")]
    Value {
        /// The key with its table, such as `launch.block`.
        key: &'static str,
        /// What is wrong and which values are allowed.
        what: String,
    },
}

impl VariantError {
    /// What the TOML reader says of `text`, with the line.
    pub(crate) fn of_toml(error: &toml::de::Error, text: &str) -> VariantError {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        let what = error
            .message()
            .replace('\n', " ")
            .replace("unknown variant", "unknown value")
            .replace("string or table", "a word in quotes");
        // The reader names a wrong value and what it should be, not the key that it stands behind.
        let key = text.lines().nth(line).and_then(|line| line.split_once('='));
        let key = key.map(|(key, _)| key.trim()).filter(|key| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !key.is_empty() && key.chars().all(plain) && !what.contains(&format!("`{key}`"))
        });
        VariantError::Syntax {
            line: line + 1,
            what: key.map_or(what.clone(), |key| format!("`{key}`: {what}")),
        }
    }

    /// A value outside a range.
    ///
    /// # Errors
    /// When `value` is outside `allowed`.
    pub fn within(
        key: &'static str,
        value: u32,
        allowed: std::ops::RangeInclusive<u32>,
    ) -> Result<(), VariantError> {
        if allowed.contains(&value) {
            return Ok(());
        }
        Err(VariantError::Value {
            key,
            what: format!("{value} is outside {} to {}", allowed.start(), allowed.end()),
        })
    }
}

/// Why a vector file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VectorError(pub String);

/// Why a file cannot stand in front of the message that a search looks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PrefixError(pub String);

/// The first value that differs from the oracle's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The layer, the first in data-flow order that differs.
    pub layer: String,
    /// The candidate (or element) that it was seen on.
    pub candidate: String,
    /// The kernel's value.
    pub got: String,
    /// The oracle's value.
    pub expected: String,
}

/// A row of the validation table: enough to recompute a digest outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationRow {
    /// Identity of the base, a key into [`Verdict::bases`].
    pub base: String,
    /// The four words q9, m8, m9, m12 of the family's table.
    pub words: [u32; 4],
    /// The digest that the device's kernel formed.
    pub digest: [u8; 16],
}

/// A set that must be the same for every variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// Sets under one key are compared.
    pub key: String,
    /// What this variant found.
    pub items: BTreeSet<u64>,
    /// Items that this variant does not visit, whoever else does.
    pub omits: BTreeSet<u64>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// Candidates (or elements) compared.
    pub checked: u64,
    /// Candidates with at least one value that differs.
    pub mismatches: u64,
    /// Candidates reported more than once.
    pub duplicates: u64,
    /// Candidates that should have been reported and were not.
    pub missing: u64,
    /// Rows of a vector file that the variant does not cover.
    pub not_covered: u64,
    /// The first difference in data-flow order.
    pub first: Option<Difference>,
    /// Layers that the variant never forms.
    pub not_formed: Vec<String>,
    /// Rows for `validation.tsv`.
    pub rows: Vec<ValidationRow>,
    /// The bases that the rows name.
    pub bases: Vec<BaseWords>,
    /// Sets to compare with those of other variants.
    pub agreements: Vec<Agreement>,
}

impl Verdict {
    /// Nothing differs, nothing is missing, nothing came twice.
    pub fn ok(&self) -> bool {
        self.mismatches == 0 && self.duplicates == 0 && self.missing == 0
    }
}

/// A workload that ends in a verdict.
pub trait Check: Workload {
    /// What it checks, for the log: `trace ordinary start`, say.
    fn name(&self) -> String;
    /// The verdict, after the last batch was collected.
    fn finish(&mut self) -> Verdict;
}

/// How much of a validation to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidationPlan {
    /// Seed of bases, places and planted candidates.
    pub seed: u64,
    /// Where the checks will run.
    pub device: DeviceKind,
    /// Also compare the hit sets of a whole base (2^32 candidates).
    pub whole_base: bool,
}

/// What a production workload computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Production {
    /// Seed of the bases.
    pub seed: u64,
    /// Index of the first base.
    pub first_base: u64,
    /// Text in front of the message, in the family's blocks; empty for none.
    pub prefix: Arc<[u8]>,
    /// Units that one batch should compute, as far as the family can divide its work.
    pub batch_units: u64,
}

/// What a variant's rate is held against: a simpler product of the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// It is that product itself.
    Itself,
    /// It takes so many of them.
    Products(u32),
}

/// The cards that have a variant's instructions, by compute capability: (9, 0) is `sm_90`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cards {
    /// Those from one on.
    From((u32, u32)),
    /// One alone: its instructions are gone in later ones.
    Only((u32, u32)),
}

impl Cards {
    /// Why a card of `capability` is none of them, in words that go on from the variant's name.
    pub fn lack(self, capability: (u32, u32)) -> Option<String> {
        let (fits, (major, minor), word) = match self {
            Cards::From(least) => (capability >= least, least, " or higher"),
            Cards::Only(only) => (capability == only, only, ", no other"),
        };
        let (have_major, have_minor) = capability;
        (!fits).then(|| {
            format!("needs compute capability {major}.{minor}{word}, this card has {have_major}.{have_minor}")
        })
    }
}

/// One way to compute: a variant file, read and checked.
pub trait Variant: Send + Sync {
    /// Its name: the file's, without `.toml`.
    fn name(&self) -> &str;
    /// One line about it.
    fn summary(&self) -> &str;
    /// Its options with their values, in the order of the file format.
    fn options(&self) -> Vec<(&'static str, String)>;
    /// Options that mean nothing on `device`.
    fn not_applicable(&self, device: DeviceKind) -> Vec<&'static str>;
    /// What a tuner may turn in its file on `device`; nothing where there is nothing to gain.
    fn knobs(&self, device: DeviceKind) -> Vec<Knob> {
        let _ = device;
        Vec::new()
    }
    /// The checks that prove it, each with the device's own workload.
    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>>;
    /// Checks over the cases of a vector file.
    ///
    /// # Errors
    /// When the text is not a vector file of this family.
    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError>;
    /// A check that must be rejected with [`crate::workload::Fault::Overflow`]: more hits than room. `None` for a family without
    /// hits.
    fn overflow_check(&self, plan: &ValidationPlan) -> Option<Box<dyn Check>>;
    /// The production workload: what is timed, and what searches.
    ///
    /// # Errors
    /// When the prefix does not fit the family's blocks.
    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError>;
    /// Somebody's own product, where the variant multiplies matrices of doubles.
    ///
    /// # Errors
    /// [`MultiplyError::Unsupported`] where it does not, or why it cannot compute this one.
    fn multiply(&self, product: Product) -> Result<Box<dyn Multiplication>, MultiplyError> {
        let _ = product;
        Err(MultiplyError::Unsupported)
    }
    /// The CUDA text of the production build.
    fn source(&self) -> Source;
    /// What the loops of a thread iterate over in the production build. `None` where a thread has no loop over units that
    /// the machine code could be divided by: there is no account of it then.
    fn loops(&self) -> Option<LoopPlan>;
    /// The cards that have its instructions; `None` where every card has.
    fn cards(&self) -> Option<Cards> {
        None
    }
    /// The vendor's library that it calls.
    fn library(&self) -> Option<Library> {
        None
    }
    /// What bounds the rate of its production workload, where that is so many simpler products.
    fn floor(&self) -> Option<Floor> {
        None
    }
    /// Why it cannot run on `device`, in a sentence that names it; `None` where it can.
    fn cannot_run_on(&self, _device: DeviceKind) -> Option<String> {
        None
    }
    /// States interleaved by the native kernel, where there is one.
    fn native_states(&self, isa: Isa) -> Option<u32>;
}

/// The capability to search for digests with leading zeros.
pub trait Search: Sync {
    /// Check that `text` can stand in front of a message.
    ///
    /// # Errors
    /// When its length does not fit the family's blocks.
    fn check_prefix(&self, text: &[u8]) -> Result<(), PrefixError>;
    /// Largest meaningful number of leading zero hex digits.
    fn max_zeros(&self) -> u32;
    /// Leading zero hex digits that every reported hit has: the kernel's own test.
    fn zeros_tested(&self) -> u32;
}

/// A base as a record keeps it: named 32-bit words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseWords {
    /// Identity, such as `orbit-1-0`.
    pub id: String,
    /// Fixed words by name, in order.
    pub words: Vec<(String, u32)>,
    /// The text in front of the message.
    pub prefix: Arc<[u8]>,
}

/// [`VariantError::Value`]'s key for a size that a variant cannot have.
pub const SIZE_KEY: &str = "@SIZE";

/// The name of a variant's file and the size behind it: `("v", Some("512"))` for `v@512`.
pub fn name_and_size(name: &str) -> (&str, Option<&str>) {
    name.split_once('@')
        .map_or((name, None), |(name, size)| (name, Some(size)))
}

/// One thing to compute.
pub trait Family: Sync {
    /// Its name, such as `md5-q9`.
    fn name(&self) -> &'static str;
    /// One line about it.
    fn summary(&self) -> &'static str;
    /// What a rate counts, in the singular: `candidate`.
    fn unit(&self) -> &'static str;
    /// What one unit counts for in FLOPS, where it stands for floating-point work: 2 for a multiply-add.
    fn flops_per_unit(&self) -> Option<f64> {
        None
    }
    /// Units of a batch on a kind of device, as far as its work can be divided: milliseconds at least, and not so long that an
    /// interruption has to wait for it.
    fn batch_units(&self, device: DeviceKind) -> u64;
    /// Its layers in the order in which data flows.
    fn layers(&self) -> Vec<String>;
    /// Name of the variant that a search on `device` takes when none is named: the fastest that a record shows right there.
    fn default_variant(&self, device: DeviceKind) -> &'static str;
    /// Names of the variants of which a product takes the first that its device has the instructions for, when none is named;
    /// none for a family of which no variant has [`Variant::multiply`].
    fn multiply_variants(&self) -> &'static [&'static str] {
        &[]
    }
    /// The variant that ratios are taken to.
    fn baseline(&self) -> &'static str;
    /// What the size of a variant `NAME@SIZE` is, for messages; `None` where a variant has none.
    fn size(&self) -> Option<&'static str> {
        None
    }
    /// Whether it has native host kernels.
    fn has_native(&self) -> bool;
    /// Read a variant. `NAME@SIZE` is the one of that file at another size ([`Family::size`]).
    ///
    /// # Errors
    /// When the text is not a variant of this family, or it cannot have that size.
    fn variant(&self, name: &str, text: &str) -> Result<Arc<dyn Variant>, VariantError>;
    /// Its search capability, where it has one.
    fn search(&self) -> Option<&dyn Search>;
}

/// Every family there is.
pub fn families() -> &'static [&'static dyn Family] {
    &[&crate::md5_q9::Md5Q9, &crate::crt_gemm::CrtGemm]
}

/// The family called `name`.
pub fn family(name: &str) -> Option<&'static dyn Family> {
    families().iter().copied().find(|family| family.name() == name)
}

#[cfg(test)]
mod tests {
    use super::Cards;

    #[test]
    fn a_card_has_instructions_from_a_capability_on_or_of_one_alone() {
        assert_eq!(Cards::From((8, 0)).lack((8, 0)), None);
        assert_eq!(Cards::From((8, 0)).lack((12, 0)), None);
        assert_eq!(
            Cards::From((8, 0)).lack((7, 5)).unwrap(),
            "needs compute capability 8.0 or higher, this card has 7.5"
        );
        assert_eq!(Cards::Only((9, 0)).lack((9, 0)), None);
        assert_eq!(
            Cards::Only((9, 0)).lack((10, 0)).unwrap(),
            "needs compute capability 9.0, no other, this card has 10.0"
        );
    }
}
