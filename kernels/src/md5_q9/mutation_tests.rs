//! Every operation of the description broken in turn: the checks must find it and name the right step.

use rayon::prelude::*;

use super::check::ORDER_LAYER;
use super::execute::{Executor, text, verdict};
use super::machine::{Layer, Phase};
use super::mutate::Mutation;
use super::options::Walk;
use super::taint::{first_layer, operations};
use super::variant::Md5Variant;
use crate::family::{Check, DeviceKind, ValidationPlan, Variant, Verdict};
use crate::native::Isa;
use crate::seeded::Seeded;
use crate::workload::Fault;

const PLAN: ValidationPlan = ValidationPlan {
    seed: 20_261_130,
    device: DeviceKind::Cpu,
    whole_base: false,
};

fn variant(name: &str) -> Md5Variant {
    Md5Variant::parse(name, text(name)).unwrap()
}

/// Every operation and input of a variant, each broken; what it reaches first by the flow of data.
fn mutants(variant: &Md5Variant) -> Vec<(Mutation, Option<String>)> {
    let options = &variant.file().options;
    let mut mutants = Vec::new();
    for phase in [Phase::Group, Phase::Candidate] {
        for n in 0..operations(options, 1, phase) {
            let mutation = Mutation::Operation(phase, n);
            mutants.push((mutation, first_layer(options, 1, mutation).map(Layer::name)));
        }
    }
    if variant.walk() == Walk::Orbit {
        mutants.push((Mutation::OrbitStep, Some(ORDER_LAYER.to_owned())));
    }
    mutants
}

fn checks(variant: &Md5Variant, kind: &str) -> Vec<Box<dyn Check>> {
    let mut checks = variant.checks(&PLAN);
    checks.retain(|check| check.name().contains(kind));
    assert!(!checks.is_empty(), "no check is called {kind}");
    checks
}

/// The layer that a trace check names, if it finds anything.
fn named(check: &mut dyn Check) -> Option<String> {
    let verdict = verdict(check, Isa::Plain).expect("a trace ends in a verdict");
    assert_eq!(verdict.ok(), verdict.first.is_none(), "{verdict:?}");
    assert!(verdict.checked + verdict.missing > 0);
    verdict.first.map(|difference| difference.layer)
}

/// Breaks every operation of a variant, one after the other, and reads what the first trace check says.
fn every_operation_is_caught(name: &str) {
    let variant = variant(name);
    let wrong: Vec<String> = mutants(&variant)
        .into_par_iter()
        .filter_map(|(mutation, expected)| {
            let broken = variant.broken(mutation);
            let named = named(checks(&broken, "trace")[0].as_mut());
            (named != expected).then(|| format!("{mutation:?}: {named:?} is named, {expected:?} is broken"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{name}, seed {}, {} mutants:\n{}",
        PLAN.seed,
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_broken_operation_of_the_plain_tunnel_is_caught_at_its_step() {
    every_operation_is_caught("v0");
}

#[test]
fn every_broken_operation_of_the_preadded_tunnel_is_caught_at_its_step() {
    every_operation_is_caught("v3");
}

#[test]
fn every_broken_operation_of_the_orbit_is_caught_at_its_step() {
    every_operation_is_caught("v5");
}

#[test]
fn every_broken_operation_of_the_orbit_without_constants_is_caught_at_its_step() {
    every_operation_is_caught("v6");
}

#[test]
fn only_the_sign_of_a_word_that_is_always_zero_may_be_broken_without_harm() {
    // m15 is used by steps 46 and 57; the plain tunnel adds it by itself, the others as a part of K + m.
    for (name, expected) in [("v0", 2), ("v1", 0), ("v3", 0), ("v5", 0), ("v6", 0)] {
        let mutants = mutants(&variant(name));
        let harmless = mutants.iter().filter(|(_, layer)| layer.is_none()).count();
        assert_eq!(harmless, expected, "{name}");
        assert!(mutants.len() > 150, "{name}: {} mutants", mutants.len());
    }
}

#[test]
fn the_mutants_of_a_tunnel_reach_every_layer_and_those_of_the_orbit_all_that_it_forms() {
    for (name, unformed) in [("v0", [].as_slice()), ("v5", &["m8", "m12"])] {
        let mutants = mutants(&variant(name));
        let reached = |layer: &str| mutants.iter().any(|(_, first)| first.as_deref() == Some(layer));
        for layer in Layer::all().map(Layer::name) {
            assert_eq!(
                reached(&layer),
                !unformed.contains(&layer.as_str()),
                "{name} {layer}"
            );
        }
    }
}

/// A seeded sample of the mutants that do harm, spread over the description.
fn sample(variant: &Md5Variant, count: usize) -> Vec<(Mutation, String)> {
    let mutants: Vec<(Mutation, String)> = mutants(variant)
        .into_iter()
        .filter_map(|(mutation, layer)| Some((mutation, layer?)))
        .collect();
    let mut seeded = Seeded::new(PLAN.seed);
    let piece = mutants.len() / count;
    let mut sample: Vec<(Mutation, String)> = (0..count)
        .map(|i| mutants[i * piece + seeded.below(piece as u64) as usize].clone())
        .collect();
    // The orbit's step is the last one.
    sample.extend(mutants.last().cloned());
    sample
}

#[test]
fn every_trace_check_by_itself_names_the_step() {
    for name in ["v0", "v3", "v5"] {
        let variant = variant(name);
        for (mutation, expected) in sample(&variant, 8) {
            for mut check in checks(&variant.broken(mutation), "trace") {
                let named = named(check.as_mut());
                assert_eq!(
                    named.as_deref(),
                    Some(expected.as_str()),
                    "{name} {mutation:?} {}",
                    check.name()
                );
            }
        }
    }
}

/// The verdict of a check, of planted hits after the first 96 of them: edges come later.
fn shortened(check: &mut dyn Check, kind: &str) -> Result<Verdict, Fault> {
    if kind != "planted" {
        return verdict(check, Isa::Plain);
    }
    let mut executor = Executor::new(check.setup(), Isa::Plain);
    for index in 0..3 {
        executor.run(check, index).expect("a batch")?;
    }
    Ok(check.finish())
}

fn production_check_catches(name: &str, kind: &str, count: usize) {
    let variant = variant(name);
    for (mutation, _) in sample(&variant, count) {
        for mut check in checks(&variant.broken(mutation), kind).into_iter().take(1) {
            let outcome = shortened(check.as_mut(), kind);
            let caught = match &outcome {
                Ok(verdict) => verdict.missing + verdict.mismatches > 0 && verdict.first.is_some(),
                // A hit set takes reports only that the host confirms.
                Err(fault) => matches!(fault, Fault::Unconfirmed { .. }) && kind == "hit set",
            };
            assert!(
                caught,
                "{name} {mutation:?}, seed {}: {} says {:?}",
                PLAN.seed,
                check.name(),
                outcome.map(|verdict| verdict.first)
            );
        }
    }
}

#[test]
fn planted_hits_catch_a_broken_production_build_of_a_tunnel() {
    production_check_catches("v0", "planted", 8);
    production_check_catches("v3", "planted", 8);
}

#[test]
fn planted_hits_catch_a_broken_production_build_of_the_orbit() {
    production_check_catches("v5", "planted", 8);
}

#[test]
fn hit_sets_catch_a_broken_production_build() {
    production_check_catches("v0", "hit set", 3);
    production_check_catches("v5", "hit set", 2);
}

#[test]
fn the_unbroken_variants_pass_the_same_checks() {
    for name in ["v0", "v3", "v5"] {
        for mut check in variant(name).checks(&PLAN) {
            let verdict = verdict(check.as_mut(), Isa::best()).unwrap();
            assert!(
                verdict.ok() && verdict.first.is_none(),
                "{name} {}: {verdict:?}",
                check.name()
            );
        }
    }
}
