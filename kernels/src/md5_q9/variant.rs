//! A variant of the family, ready to be checked, timed and searched with.

use std::sync::Arc;

use super::base::{Base, Prefix, Shape};
use super::check::{AgreementCheck, ORDER_LAYER, OverflowCheck, PlantedCheck, TraceCheck, VectorFile};
use super::count::count;
use super::knobs::knobs;
use super::machine::Layer;
use super::mutate::Mutation;
use super::options::{VariantFile, Walk, WordAdds};
use super::order::{MEMBERS, ORBIT_STEP, last_of_first_group, orbit_slot, row_borders};
use super::production::ProductionWorkload;
use super::run::best_states;
use super::taint::first_layer;
use super::workload::{Kernel, Test};
use crate::family::{Check, DeviceKind, Production, ValidationPlan, Variant, VariantError, VectorError};
use crate::knob::Knob;
use crate::loops::{LoopLevel, LoopPlan, Trips, UnitMark};
use crate::native::Isa;
use crate::seeded::Seeded;
use crate::workload::{Source, Workload};

/// Candidates of one stretch of a trace check.
const STRETCH: u64 = 4096;

/// A variant that was read from its file.
#[derive(Clone)]
pub struct Md5Variant {
    name: String,
    file: Arc<VariantFile>,
    mutation: Option<Mutation>,
}

impl Md5Variant {
    /// Read the variant `name` from the text of its file.
    ///
    /// # Errors
    /// When the text is not a variant.
    pub fn parse(name: &str, text: &str) -> Result<Md5Variant, VariantError> {
        let file = Arc::new(VariantFile::parse(text)?);
        Ok(Md5Variant {
            name: name.to_owned(),
            file,
            mutation: None,
        })
    }

    /// The same variant with one operation broken: the checks must find it.
    pub fn broken(&self, mutation: Mutation) -> Md5Variant {
        Md5Variant {
            mutation: Some(mutation),
            ..self.clone()
        }
    }

    /// The layer that a check of the printed text must name for [`Md5Variant::broken`], by the flow of data alone;
    /// `None` when the mutation changes nothing.
    pub fn first_broken_layer(&self, mutation: Mutation) -> Option<String> {
        if mutation == Mutation::OrbitStep {
            return (self.walk() == Walk::Orbit).then(|| ORDER_LAYER.to_owned());
        }
        let options = &self.file.options;
        [1, options.interleave as usize]
            .into_iter()
            .filter_map(|states| first_layer(options, states, mutation))
            .min_by_key(|layer| layer.index())
            .map(Layer::name)
    }

    /// The order in which it visits candidates.
    pub fn walk(&self) -> Walk {
        self.file.options.walk
    }

    /// Its options, read and checked.
    pub fn file(&self) -> &VariantFile {
        &self.file
    }

    fn kernel(&self, test: Test) -> Kernel {
        Kernel::new(&self.name, Arc::clone(&self.file), test, self.mutation)
    }

    /// The trace check of one base: 4,096 candidates at the start, at a seeded place and at the end of the order.
    fn trace(&self, base: Base, seed: u64) -> TraceCheck {
        let walk = self.walk();
        let slots = STRETCH.div_ceil(u64::from(walk.slot_candidates()));
        // The last 241 slots of the orbits' order end in an empty one.
        let end_slots = if walk == Walk::Orbit { slots + 1 } else { slots };
        let middle = Seeded::new(seed ^ 0x7365_6564).below(walk.slots() - slots);
        let stretches = vec![(0, slots), (middle, slots), (walk.slots() - end_slots, end_slots)];
        TraceCheck::new(self.kernel(Test::Trace), base, "start, middle and end", stretches)
    }

    /// The trace check of whole orbits: every k* from 0 to 16, and the edges of y0.
    fn orbits(&self, base: Base, seed: u64) -> TraceCheck {
        let mut seeded = Seeded::new(seed ^ 0x006f_7262);
        let every_star = (0..MEMBERS).map(|star| {
            loop {
                let y0 = seeded.below(ORBIT_STEP.into()) as u32;
                if last_of_first_group(y0) == star {
                    break y0;
                }
            }
        });
        let edges = [0, 0xfff, 0x1000, 0x0f0f_0f0e];
        let stretches = every_star
            .chain(edges)
            .map(|y0| (u64::from(orbit_slot(y0)), 1))
            .chain(row_borders().map(|border| (border - 4, 8)))
            .collect();
        TraceCheck::new(
            self.kernel(Test::Trace),
            base,
            "whole orbits with every k*",
            stretches,
        )
    }
}

/// Sizes of an orbit's two groups, over all orbits: k* depends on the low 12 bits of y0 alone.
fn group_sizes() -> Vec<Trips> {
    (0..4096)
        .map(last_of_first_group)
        .flat_map(|last| [last + 1, MEMBERS - 1 - last])
        .map(|count| Trips { count, weight: 1.0 })
        .collect()
}

impl Variant for Md5Variant {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.file.summary
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        self.file.described()
    }

    fn not_applicable(&self, device: DeviceKind) -> Vec<&'static str> {
        match device {
            DeviceKind::Cuda => vec!["cpu.states"],
            DeviceKind::Emulated => vec![
                "adds.constant",
                "adds.function",
                "adds.word",
                "cpu.states",
                "held_constants",
                "logic",
            ],
            DeviceKind::Cpu => {
                let mut keys = vec![
                    "adds.constant",
                    "adds.function",
                    "held_constants",
                    "interleave",
                    "launch.block",
                    "launch.inner",
                    "logic",
                    "merged_tests",
                    "slots",
                    "test",
                ];
                if self.file.options.adds.word != WordAdds::Separate {
                    keys.insert(2, "adds.word");
                }
                keys
            }
        }
    }

    fn knobs(&self, device: DeviceKind) -> Vec<Knob> {
        knobs(device)
    }

    fn checks(&self, plan: &ValidationPlan) -> Vec<Box<dyn Check>> {
        let base = |shape, index| Base::new(shape, plan.seed, index, Prefix::none());
        let shapes = match self.file.options.shape() {
            Shape::Ordinary => [base(Shape::Ordinary, 0), base(Shape::Orbit, 0)],
            shape => [base(shape, 0), base(shape, 1)],
        };
        let mut checks: Vec<Box<dyn Check>> = Vec::new();
        for base in &shapes {
            checks.push(Box::new(self.trace(base.clone(), plan.seed)));
        }
        if self.walk() == Walk::Orbit {
            checks.push(Box::new(self.orbits(shapes[0].clone(), plan.seed)));
        }
        for base in &shapes {
            checks.push(Box::new(PlantedCheck::new(
                self.kernel(Test::Whole),
                base.clone(),
                plan.seed,
            )));
        }
        // A base that every variant can walk.
        let orbit = base(Shape::ZeroOrbit, 0);
        let build = |test| self.kernel(test);
        checks.push(Box::new(AgreementCheck::slice(build, orbit.clone(), plan.seed)));
        if plan.whole_base {
            checks.push(Box::new(AgreementCheck::whole(build, orbit)));
        }
        checks
    }

    fn vector_checks(&self, text: &str) -> Result<Vec<Box<dyn Check>>, VectorError> {
        let checks = VectorFile::parse(text)?.checks(|| self.kernel(Test::Trace))?;
        Ok(checks
            .into_iter()
            .map(|check| Box::new(check) as Box<dyn Check>)
            .collect())
    }

    fn overflow_check(&self, plan: &ValidationPlan) -> Option<Box<dyn Check>> {
        let base = Base::new(self.file.options.shape(), plan.seed, 0, Prefix::none());
        Some(Box::new(OverflowCheck::new(self.kernel(Test::Bits(10)), base)))
    }

    fn production(&self, request: &Production) -> Result<Box<dyn Workload>, crate::family::PrefixError> {
        let prefix = Prefix::new(Arc::clone(&request.prefix))?;
        let &Production {
            seed,
            first_base,
            batch_units,
            ..
        } = request;
        Ok(Box::new(ProductionWorkload::new(
            self.kernel(Test::Whole),
            seed,
            first_base,
            prefix,
            batch_units,
        )))
    }

    fn source(&self) -> Source {
        self.kernel(Test::Whole).source()
    }

    fn loops(&self) -> Option<LoopPlan> {
        let (candidate, _) = count(&self.file.options);
        let inner = self.file.launch.inner;
        let levels = match self.walk() {
            Walk::Tunnel => vec![LoopLevel::times("candidate", inner)],
            Walk::Orbit => vec![
                LoopLevel::times("orbit", inner),
                LoopLevel::times("group", 2),
                LoopLevel {
                    name: "member",
                    trips: group_sizes(),
                },
            ],
        };
        Some(LoopPlan {
            mark: UnitMark::rotations(candidate.rotations),
            levels,
        })
    }

    fn native_states(&self, isa: Isa) -> Option<u32> {
        Some(self.file.cpu.states.unwrap_or_else(|| best_states(isa)))
    }
}
