//! The device on the text of every md5-q9 variant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_kernels::family::{DeviceKind, Production, ValidationPlan, Variant};
use assay_kernels::md5_q9::Md5Variant;

use super::Emulated;
use crate::device::Device;

fn device() -> Emulated {
    Emulated::new().expect("the tests need a C++ compiler")
}

fn variants() -> Vec<Md5Variant> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants/md5-q9");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let variants = files.iter().map(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        Md5Variant::parse(name, &std::fs::read_to_string(file).unwrap()).unwrap()
    });
    variants.collect()
}

#[test]
fn the_trace_build_of_every_md5_q9_variant_agrees_with_the_oracle() {
    let device = device();
    let plan = ValidationPlan {
        seed: 1,
        device: DeviceKind::Emulated,
        whole_base: false,
    };
    let variants = variants();
    assert!(!variants.is_empty());
    for variant in &variants {
        let mut check = variant.checks(&plan).swap_remove(0);
        let mut session = device.open(&check.setup()).unwrap();
        for index in 0.. {
            let Some(batch) = check.batch(index) else { break };
            session.submit(index, batch).unwrap();
            let finished = session.wait().unwrap().unwrap();
            check.collect(index, finished.outputs).unwrap();
        }
        let verdict = check.finish();
        assert!(
            verdict.ok() && verdict.checked > 10_000,
            "{}: {verdict:?}",
            variant.name()
        );
    }
}

/// `cargo test --release -p assay emulated_rates -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, not a check"]
fn emulated_rates() {
    let device = device();
    println!("{}, {} threads", device.info().name, rayon::current_num_threads());
    for variant in variants() {
        let request = Production {
            seed: 1,
            first_base: 0,
            prefix: Arc::from([]),
            batch_units: 1 << 27,
        };
        let mut workload = variant.production(&request).unwrap();
        let mut session = device.open(&workload.setup()).unwrap();
        for index in 0..3 {
            let batch = workload.batch(index).unwrap();
            let units = batch.units;
            session.submit(index, batch).unwrap();
            let finished = session.wait().unwrap().unwrap();
            println!(
                "{} {:.1} M candidates/s",
                variant.name(),
                units as f64 / finished.launches_s.iter().sum::<f64>() / 1e6
            );
            workload.collect(index, finished.outputs).unwrap();
        }
    }
}
