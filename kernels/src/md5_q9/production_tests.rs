//! A search or a trial can be repeated exactly: its batches follow from seed and index.

use std::sync::Arc;

use super::execute::{Executor, text};
use super::order::MEMBERS;
use super::variant::Md5Variant;
use crate::family::{DeviceKind, Production, ValidationPlan, Variant};
use crate::native::Isa;
use crate::workload::{Argument, Batch, Fault, Step, Workload};

fn variant(name: &str) -> Md5Variant {
    Md5Variant::parse(name, text(name)).unwrap()
}

fn production(name: &str, seed: u64, first_base: u64, batch_units: u64) -> Box<dyn Workload> {
    let request = Production {
        seed,
        first_base,
        prefix: Arc::from([]),
        batch_units,
    };
    variant(name).production(&request).unwrap()
}

/// The batches of `bases` whole bases, of which none is run.
fn batches(name: &str, seed: u64, first_base: u64, bases: u64) -> Vec<Batch> {
    let walk = variant(name).walk();
    let all = bases * walk.candidates(0..walk.slots());
    let mut workload = production(name, seed, first_base, 3 << 29);
    let mut batches: Vec<Batch> = Vec::new();
    while batches.iter().map(|batch| batch.units).sum::<u64>() < all {
        batches.push(workload.batch(batches.len() as u64).unwrap());
    }
    assert_eq!(
        batches.iter().map(|batch| batch.units).sum::<u64>(),
        all,
        "{name}"
    );
    batches
}

/// The base, the first slot and the number of slots of a batch's launch.
fn work(batch: &Batch) -> (Vec<u32>, u64, u64) {
    let launch = batch.steps.iter().find_map(|step| match step {
        Step::Launch(launch) => Some(launch.arguments.as_slice()),
        _ => None,
    });
    let Some(
        [
            Argument::Words(base),
            Argument::U64(first),
            Argument::U64(slots),
            ..,
        ],
    ) = launch
    else {
        panic!("{launch:?}");
    };
    (base.clone(), *first, *slots)
}

#[test]
fn the_same_seed_gives_the_same_batches_and_another_seed_others() {
    for name in ["v0", "v4", "v5"] {
        assert!(batches(name, 7, 0, 3) == batches(name, 7, 0, 3), "{name}");
        assert!(batches(name, 7, 0, 3) != batches(name, 8, 0, 3), "{name}");
    }
}

#[test]
fn bases_are_walked_whole_one_after_the_other() {
    for name in ["v3", "v5"] {
        let walk = variant(name).walk();
        let first_base = |index| work(&batches(name, 7, index, 1)[0]).0;
        let bases = [first_base(0), first_base(1)];
        assert_ne!(bases[0], bases[1], "{name}");
        let mut next = 0;
        for (base, first, slots) in batches(name, 7, 0, 2).iter().map(work) {
            assert_eq!(first, next % walk.slots(), "{name}");
            assert!(
                base == bases[(next / walk.slots()) as usize],
                "{name}, slot {next}"
            );
            next += slots;
        }
        assert_eq!(next, 2 * walk.slots(), "{name}");
    }
}

#[test]
fn the_same_batches_run_twice_are_collected_alike() {
    let run = || {
        let mut workload = production("v5", 7, 0, 1 << 20);
        let mut executor = Executor::new(workload.setup(), Isa::best());
        (0..3)
            .map(|index| executor.run(workload.as_mut(), index).unwrap().unwrap())
            .collect::<Vec<_>>()
    };
    let (one, other) = (run(), run());
    assert_eq!(one, other);
    for collected in &one {
        assert!(collected.units > 0 && collected.units % u64::from(MEMBERS) == 0);
        assert_eq!(collected.base, Some(0));
        assert_eq!(collected.hits_expected, collected.units as f64 / 4_294_967_296.0);
    }
}

#[test]
fn a_batch_that_comes_back_out_of_order_is_refused() {
    let mut workload = production("v0", 1, 0, 1024);
    let _ = (workload.batch(0), workload.batch(1));
    let refusal = workload.collect(1, vec![]).unwrap_err();
    assert!(matches!(refusal, Fault::Malformed { batch: 1, .. }), "{refusal}");
}

#[test]
fn a_hit_too_many_is_rejected_and_exactly_enough_room_is_not() {
    let plan = ValidationPlan {
        seed: 3,
        device: DeviceKind::Cpu,
        whole_base: false,
    };
    for name in ["v0", "v5"] {
        let mut check = variant(name).overflow_check(&plan).unwrap();
        let mut executor = Executor::new(check.setup(), Isa::best());
        executor.run(check.as_mut(), 0).unwrap().unwrap();
        let rejected = executor.run(check.as_mut(), 1).unwrap().unwrap_err();
        let Fault::Overflow { found, capacity } = rejected else {
            panic!("{name}: {rejected}");
        };
        assert_eq!(found, capacity + 1, "{name}");
        assert!(check.finish().ok(), "{name}");
        // The record past the end, as a kernel with its capacity off by one would write it.
        let place = 1 + 5 * capacity as usize;
        let batch = check.batch(1).unwrap();
        let mut outputs = executor.outputs(&batch);
        outputs[0][place] = 0x5eed;
        let caught = check.collect(1, outputs).unwrap_err();
        assert!(matches!(caught, Fault::Malformed { .. }), "{name}: {caught}");
        // The last record left out.
        let batch = check.batch(0).unwrap();
        let mut outputs = executor.outputs(&batch);
        outputs[0][place..].fill(0);
        check.collect(0, outputs).unwrap();
        assert_eq!(check.finish().mismatches, 1, "{name}");
    }
}
