//! A variant with one place of its text changed, and what `validate` says of it on the emulated device.

use std::sync::Arc;

use assay_kernels::family::{
    Cards, Check, DeviceKind, Family, Floor, PrefixError, Production, ValidationPlan, Variant, VectorError,
    Verdict,
};
use assay_kernels::knob::Knob;
use assay_kernels::library::Library;
use assay_kernels::loops::LoopPlan;
use assay_kernels::multiply::{Multiplication, Multiplied, MultiplyError, Product};
use assay_kernels::native::Isa;
use assay_kernels::workload::{Batch, Collected, Fault, Outputs, Setup, Source, Workload};

use super::report::ResultRow;
use super::run::{Evidence, validate};
use crate::book::Book;
use crate::device::Emulated;
use crate::progress::Progress;
use crate::select::Selected;

/// What is validated.
pub const PLAN: ValidationPlan = ValidationPlan {
    seed: 20_261_130,
    device: DeviceKind::Emulated,
    whole_base: false,
};

/// A variant of which only the checks whose name contains `kind` are run, with one place of its text changed.
pub struct Doctored {
    /// The variant.
    pub variant: Arc<dyn Variant>,
    /// What the names of its checks contain.
    pub kind: &'static str,
    /// What is replaced in its text, and by what.
    pub change: Option<(&'static str, &'static str)>,
}

/// A check, a production or a product, whose text is changed.
struct Changed<W: ?Sized> {
    workload: Box<W>,
    change: Option<(&'static str, &'static str)>,
}

impl Doctored {
    fn check(&self, workload: Box<dyn Check>) -> Box<dyn Check> {
        let change = self.change;
        Box::new(Changed { workload, change })
    }
}

impl<W: Workload + ?Sized> Workload for Changed<W> {
    fn setup(&self) -> Setup {
        let mut setup = self.workload.setup();
        if let Some((from, to)) = self.change {
            let places = setup.source.text.matches(from).count();
            assert_eq!(places, 1, "`{from}` is in the text {places} times");
            setup.source.text = setup.source.text.replace(from, to);
        }
        setup
    }

    fn batch(&mut self, index: u64) -> Option<Batch> {
        self.workload.batch(index)
    }

    fn collect(&mut self, index: u64, outputs: Outputs) -> Result<Collected, Fault> {
        self.workload.collect(index, outputs)
    }
}

impl Check for Changed<dyn Check> {
    fn name(&self) -> String {
        self.workload.name()
    }

    fn finish(&mut self) -> Verdict {
        self.workload.finish()
    }
}

impl Multiplication for Changed<dyn Multiplication> {
    fn finish(&mut self) -> Option<Multiplied> {
        self.workload.finish()
    }
}

impl Variant for Doctored {
    fn name(&self) -> &str {
        self.variant.name()
    }

    fn summary(&self) -> &str {
        self.variant.summary()
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        self.variant.options()
    }

    fn not_applicable(&self, device: DeviceKind) -> Vec<&'static str> {
        self.variant.not_applicable(device)
    }

    fn knobs(&self, device: DeviceKind) -> Vec<Knob> {
        self.variant.knobs(device)
    }

    /// The first check of that kind; one of those that only a card is given by itself, where there is no other.
    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>> {
        let first_on = |device| {
            let checks = self.variant.checks(&ValidationPlan { device, ..*plan });
            checks.into_iter().find(|check| check.name().contains(self.kind))
        };
        let first = first_on(plan.device).or_else(|| first_on(DeviceKind::Cuda));
        first.map(|check| self.check(check)).into_iter().collect()
    }

    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        self.variant.vector_checks(text)
    }

    fn overflow_check(&self, plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        Some(self.check(self.variant.overflow_check(plan)?))
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, PrefixError> {
        let (workload, change) = (self.variant.production(request)?, self.change);
        Ok(Box::new(Changed { workload, change }))
    }

    fn multiply(&self, product: Product) -> Result<Box<dyn Multiplication>, MultiplyError> {
        let (workload, change) = (self.variant.multiply(product)?, self.change);
        Ok(Box::new(Changed { workload, change }))
    }

    fn source(&self) -> Source {
        self.variant.source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        self.variant.loops()
    }

    fn cards(&self) -> Option<Cards> {
        self.variant.cards()
    }

    fn library(&self) -> Option<Library> {
        self.variant.library()
    }

    fn floor(&self) -> Option<Floor> {
        self.variant.floor()
    }

    fn native_states(&self, isa: Isa) -> Option<u32> {
        self.variant.native_states(isa)
    }
}

/// `variant` of `family` with only the first check whose name contains `kind`, and with `change` in its text.
pub fn selected(
    family: &'static dyn Family,
    variant: Arc<dyn Variant>,
    kind: &'static str,
    change: Option<(&'static str, &'static str)>,
) -> Selected {
    Selected {
        family,
        variant: Arc::new(Doctored {
            variant,
            kind,
            change,
        }),
    }
}

/// The device.
pub fn emulated() -> Emulated {
    Emulated::new().expect("the tests need a C++ compiler")
}

/// What `validate` says of several variants together.
pub fn validated_together(selected: &[Selected]) -> Vec<ResultRow> {
    let folder = tempfile::tempdir().unwrap();
    let mut book = Book::open(Some(folder.path().join("record")), "validate", PLAN.seed).unwrap();
    let validation = validate(
        selected,
        &emulated(),
        &PLAN,
        None,
        Evidence::All,
        &mut book,
        &Progress::new(),
    );
    validation.unwrap().results
}

/// What `validate` says of one variant.
pub fn validated(selected: Selected) -> ResultRow {
    let mut results = validated_together(&[selected]);
    let row = results.remove(0);
    assert_eq!(row.checks.len(), 1, "{:?}", row.checks);
    assert_eq!(row.ok, row.first_bad_layer.is_none(), "{row:?}");
    row
}
