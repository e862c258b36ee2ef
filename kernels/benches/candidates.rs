//! Candidates per second of every variant's native kernel, by instruction set and number of interleaved states, beside
//! the bare chain of the same steps. `cargo bench -p assay-kernels` runs it; it needs no statistics package, since the
//! best of several short runs is what a noisy machine can be held to.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use assay_kernels::family::{Production, Variant};
use assay_kernels::md5_q9::{BARE_STATES, CPU_STATES, Md5Variant, bare_chain};
use assay_kernels::native::Isa;
use assay_kernels::workload::Step;
use rayon::prelude::*;

/// Runs of which the best counts.
const RUNS: u32 = 7;

/// Candidates of one run: tens of milliseconds.
fn size(isa: Isa) -> u64 {
    match isa {
        Isa::Plain => 1 << 21,
        Isa::Avx2 => 1 << 23,
        Isa::Avx512 => 1 << 24,
    }
}

/// Best rate of `RUNS` runs, in G/s.
fn best(mut run: impl FnMut() -> u64) -> f64 {
    run();
    (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let candidates = run();
            candidates as f64 / start.elapsed().as_secs_f64() / 1e9
        })
        .fold(0.0, f64::max)
}

/// The bare chain on every core at once.
fn bare(isa: Isa, states: u32) -> Option<f64> {
    let threads = rayon::current_num_threads();
    bare_chain(isa, states, 1)?;
    Some(best(|| {
        (0..threads)
            .into_par_iter()
            .filter_map(|_| bare_chain(isa, states, size(isa)))
            .sum()
    }))
}

/// A variant's production kernel on every core.
fn variant(text: &str, name: &str, isa: Isa, states: u32) -> Option<f64> {
    let text = format!("{text}\n[cpu]\nstates = {states}\n");
    let variant = Md5Variant::parse(name, &text).expect("a committed variant is right");
    let request = Production {
        seed: 1,
        first_base: 0,
        prefix: Arc::from([]),
        batch_units: size(isa) * 2,
    };
    let mut workload = variant.production(&request).expect("an empty prefix fits");
    let setup = workload.setup();
    let kernel = setup.native.expect("the family has native kernels");
    let mut buffers: Vec<Vec<u32>> = setup.buffers.iter().map(|buffer| vec![0; buffer.words]).collect();
    let mut index = 0;
    let mut failed = false;
    let rate = best(|| {
        let batch = workload.batch(index).expect("bases never end");
        index += 1;
        for step in &batch.steps {
            if let Step::Launch(launch) = step {
                failed |= kernel.launch(launch, isa, &mut buffers).is_err();
            }
        }
        batch.units
    });
    (!failed).then_some(rate)
}

fn main() {
    let threads = rayon::current_num_threads();
    println!(
        "candidates per second on {threads} threads, best of {RUNS} runs, G/s; columns: interleaved states\n"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants/md5-q9");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("variants/md5-q9 is there")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    let cell = |rate: Option<f64>| rate.map_or("      -".to_owned(), |rate| format!("{rate:7.3}"));
    for isa in Isa::ALL {
        if !isa.available() {
            println!("{isa}: this processor lacks it\n");
            continue;
        }
        let rates: Vec<Option<f64>> = BARE_STATES.iter().map(|&states| bare(isa, states)).collect();
        let bound = rates
            .iter()
            .flatten()
            .fold(0.0, |best: f64, rate| best.max(*rate));
        let columns: String = BARE_STATES.iter().map(|states| format!("{states:>7} ")).collect();
        println!("{isa:<12} {columns}  best  of the bare chain's");
        println!(
            "{:<12} {}  {bound:.3}",
            "bare chain",
            rates.iter().map(|rate| cell(*rate) + " ").collect::<String>()
        );
        for name in &names {
            let text =
                fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a variant file is readable");
            let rates: Vec<Option<f64>> = BARE_STATES
                .iter()
                .map(|states| {
                    CPU_STATES
                        .contains(states)
                        .then(|| variant(&text, name, isa, *states))?
                })
                .collect();
            let best = rates
                .iter()
                .flatten()
                .fold(0.0, |best: f64, rate| best.max(*rate));
            let cells: String = rates.iter().map(|rate| cell(*rate) + " ").collect();
            println!("{name:<12} {cells}  {best:.3} {:5.1} %", 100.0 * best / bound);
        }
        println!();
    }
}
