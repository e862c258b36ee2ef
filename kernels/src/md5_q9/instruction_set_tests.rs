//! The native kernels of every instruction set and number of states do the same.

use std::sync::Arc;

use super::base::{Base, Prefix, Shape};
use super::execute::{Executor, text};
use super::options::{CPU_STATES, CpuOptions, VariantFile, Walk};
use super::order::ORBIT_ROW;
use super::workload::{HIT_HEAD, HIT_WORDS, Kernel, ROW, Span, Test, UNFORMED, hit_buffer, hit_words};
use crate::native::Isa;
use crate::workload::{Batch, Buffer, BufferId, Step};

const SEED: u64 = 0x15a;
const CAPACITY: u32 = 4095;

/// Instruction sets with the numbers of states that they have code for. What the processor lacks is named and left out.
fn sets() -> Vec<(Isa, u32)> {
    let all = [
        (Isa::Plain, 1),
        (Isa::Avx2, 1),
        (Isa::Avx2, 2),
        (Isa::Avx2, 3),
        (Isa::Avx2, 4),
    ];
    all.into_iter()
        .chain(CPU_STATES.map(|states| (Isa::Avx512, states)))
        .filter(|(isa, states)| {
            if !isa.available() {
                eprintln!("left out: this processor has no {isa} ({states} states)");
            }
            isa.available()
        })
        .collect()
}

/// Stretches that begin and end beside every border: of vectors, rows of orbits, pieces of work, the whole order.
fn stretches(walk: Walk) -> Vec<(u64, u64)> {
    let row = u64::from(ORBIT_ROW);
    let end = walk.slots();
    let mut stretches = vec![
        (0, 1),
        (0, 67),
        (5, 211),
        (12_345, 15),
        (row - 5, 37),
        (end - 71, 71),
    ];
    match walk {
        Walk::Tunnel => stretches.push((u64::from(u32::MAX) / 2, 129)),
        // The end of the last whole row, and of the first short one.
        Walk::Orbit => stretches.extend([(0xf0f * row - 9, 17), (0xf10 * row - 9, 17)]),
    }
    stretches
}

fn kernel(name: &str, test: Test, states: u32) -> Kernel {
    let mut file = VariantFile::parse(text(name)).unwrap();
    file.cpu = CpuOptions { states: Some(states) };
    Kernel::new(name, Arc::new(file), test, None)
}

/// What a launch leaves in its one buffer.
fn launched(kernel: &Kernel, isa: Isa, base: &Base, stretch: (u64, u64), buffer: Buffer) -> Vec<u32> {
    let (id, words) = (BufferId(0), buffer.words);
    let span = Span {
        first: stretch.0,
        slots: stretch.1,
        inner: 3,
        target: base.zero_target(),
        hits: id,
        capacity: CAPACITY,
        trace: id,
    };
    let batch = Batch {
        steps: vec![kernel.launch(base, &span), Step::Download { buffer: id, words }],
        units: 0,
    };
    Executor::new(kernel.setup(vec![buffer]), isa)
        .outputs(&batch)
        .remove(0)
}

fn bases(walk: Walk) -> [Base; 2] {
    let shape = match walk {
        Walk::Tunnel => Shape::Ordinary,
        Walk::Orbit => Shape::Orbit,
    };
    let prefix = Prefix::new([b'p'; 128].as_slice().into()).unwrap();
    [
        Base::new(shape, SEED, 0, Prefix::none()),
        Base::new(shape, SEED, 1, prefix),
    ]
}

#[test]
fn every_instruction_set_forms_the_same_layers() {
    for name in ["v0", "v3", "v5"] {
        let kernel = kernel(name, Test::Trace, 1);
        let walk = kernel.walk();
        for base in bases(walk) {
            for (first, slots) in stretches(walk) {
                let trace = |isa| {
                    let candidates = slots * u64::from(walk.slot_candidates());
                    let buffer = Buffer {
                        name: "trace",
                        words: ROW * candidates as usize,
                        fill: UNFORMED,
                    };
                    launched(&kernel, isa, &base, (first, slots), buffer)
                };
                let plain = trace(Isa::Plain);
                let written = plain.chunks(ROW).filter(|row| row[0] == UNFORMED + 1).count() as u64;
                assert_eq!(
                    written,
                    walk.candidates(first..first + slots),
                    "{name} {first}+{slots}"
                );
                for (isa, _) in sets().into_iter().filter(|&(_, states)| states == 1) {
                    let same = plain == trace(isa);
                    assert!(same, "{name} {isa} {first}+{slots} on {}, seed {SEED}", base.id);
                }
            }
        }
    }
}

#[test]
fn every_instruction_set_and_number_of_states_finds_the_hits_that_hashing_finds() {
    const BITS: u32 = 3;
    for name in ["v0", "v3", "v5"] {
        for (isa, states) in sets() {
            let kernel = kernel(name, Test::Bits(BITS), states);
            let walk = kernel.walk();
            for base in bases(walk) {
                for (first, slots) in stretches(walk) {
                    let buffer = launched(&kernel, isa, &base, (first, slots), hit_buffer("hits", CAPACITY));
                    assert_eq!(buffer.len(), hit_words(CAPACITY));
                    let records = &buffer[HIT_HEAD..][..HIT_WORDS * buffer[0] as usize];
                    let mut found: Vec<u32> = records.chunks(HIT_WORDS).map(|record| record[0]).collect();
                    found.sort_unstable();
                    let mut expected: Vec<u32> = (first..first + slots)
                        .flat_map(|slot| walk.slot(slot))
                        .filter(|&q9| (base.hashed_q61(q9) ^ base.zero_target()) % (1 << BITS) == 0)
                        .collect();
                    expected.sort_unstable();
                    assert_eq!(
                        found, expected,
                        "{name} {isa} {states} states, {first}+{slots} on {}, seed {SEED}",
                        base.id
                    );
                }
            }
        }
    }
}

#[test]
fn a_number_of_states_without_code_is_refused_by_name() {
    let kernel = kernel("v0", Test::Whole, 4);
    let setup = kernel.setup(vec![hit_buffer("hits", 1)]);
    let span = Span {
        first: 0,
        slots: 1,
        inner: 1,
        target: 0,
        hits: BufferId(0),
        capacity: 1,
        trace: BufferId(0),
    };
    let Step::Launch(launch) = kernel.launch(&bases(Walk::Tunnel)[0], &span) else {
        panic!("a launch is a launch");
    };
    let native = setup.native.expect("a native kernel");
    let refusal = native
        .launch(&launch, Isa::Plain, &mut [vec![0; 6]])
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("4 interleaved states") && refusal.contains("plain"),
        "{refusal}"
    );
}
