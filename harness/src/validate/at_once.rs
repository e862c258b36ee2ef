//! Two sessions of a variant at the same time: on a card they have a stream each, and neither may touch what is the other's.

use std::sync::Arc;

use assay_kernels::family::Production;
use assay_kernels::workload::{Fault, Workload};

use crate::device::{Device, Session};
use crate::exit::Usage;
use crate::select::Selected;

/// What the check is called.
pub const NAME: &str = "two sessions at once";
/// Batches of each session, all submitted before the first is waited for.
const BATCHES: u64 = 3;
/// Units of a batch: work for a moment.
const BATCH_UNITS: u64 = 1 << 20;

/// Run production batches of two seeds beside each other. Each is confirmed by the host as in a trial, where later batches must be
/// what the first was. How many batches that were; or what the host does not confirm.
///
/// # Errors
/// When the device fails.
pub fn two_at_once(one: &Selected, device: &dyn Device, seed: u64) -> anyhow::Result<Result<u64, Fault>> {
    let mut lanes: Vec<(Box<dyn Session>, Box<dyn Workload>)> = Vec::new();
    for seed in [seed, seed.wrapping_add(1)] {
        let request = Production {
            seed,
            first_base: 0,
            prefix: Arc::from([]),
            batch_units: BATCH_UNITS,
        };
        let workload = one
            .variant
            .production(&request)
            .map_err(|error| Usage(format!("{}: {error}", one.label())))?;
        lanes.push((device.open(&workload.setup())?, workload));
    }
    for index in 0..BATCHES {
        for (session, workload) in &mut lanes {
            if let Some(batch) = workload.batch(index) {
                session.submit(index, batch)?;
            }
        }
    }
    let mut batches = 0;
    for (session, workload) in &mut lanes {
        while let Some(finished) = session.wait()? {
            match workload.collect(finished.index, finished.outputs) {
                Ok(_) => batches += 1,
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }
    Ok(Ok(batches))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assay_kernels::family::family;

    use super::super::Doctored;
    use super::*;
    use crate::device::Emulated;

    fn outcome(
        family_name: &str,
        name: &str,
        change: Option<(&'static str, &'static str)>,
    ) -> Result<u64, Fault> {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../variants/{family_name}/{name}.toml"));
        let family = family(family_name).unwrap();
        let variant = family
            .variant(name, &std::fs::read_to_string(file).unwrap())
            .unwrap();
        let doctored = Doctored {
            variant,
            kind: "",
            change,
        };
        let selected = Selected {
            family,
            variant: Arc::new(doctored),
        };
        let device = Emulated::new().expect("the tests need a C++ compiler");
        two_at_once(&selected, &device, 5).unwrap()
    }

    #[test]
    fn both_are_confirmed_and_a_wrong_text_is_not() {
        for (family, name) in [
            ("crt-gemm", "moduli-naive"),
            ("crt-gemm", "naive"),
            ("crt-gemm", "native-dgemm"),
            ("md5-q9", "v0"),
        ] {
            assert_eq!(outcome(family, name, None), Ok(2 * BATCHES), "{name}");
        }
        let fault = outcome(
            "crt-gemm",
            "moduli-naive",
            Some((
                "i < theorem.count ? *(const u32 *)next",
                "i + 1 < theorem.count ? *(const u32 *)next",
            )),
        )
        .unwrap_err();
        assert!(fault.to_string().contains("C["), "{fault}");
    }
}
