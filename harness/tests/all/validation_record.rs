//! What the record of a validation holds.

use crate::program::{Place, manifest};

#[test]
fn the_record_of_a_validation_names_the_build_that_is_timed() {
    let place = Place::new();
    for variant in [
        "md5-q9/v4",
        "crt-gemm/s8s8s32-cublas",
        "crt-gemm/moduli-naive-norms",
    ] {
        let timed = if variant.starts_with("crt") {
            format!("{variant}@32")
        } else {
            variant.to_owned()
        };
        let emulated = ["--device", "emulated", "--out"];
        let validate = [&["validate", variant], &emulated[..], &["v"]].concat();
        let brief = [
            "--seconds",
            "50ms",
            "--rounds",
            "1",
            "--warmup",
            "10ms",
            "--no-power",
        ];
        let trial = [&["trial", &timed], &brief[..], &emulated, &["t"]].concat();
        for arguments in [validate, trial] {
            let said = place.assay(&arguments);
            assert_eq!(said.code, 0, "{}", said.stderr);
        }
        let source = |record: &str| manifest(&place.path(record))["variants"][0]["source_sha256"].clone();
        assert!(source("v").is_string());
        assert_eq!(source("v"), source("t"), "{variant}");
        let table = std::fs::read_to_string(place.path("v/checks.csv")).unwrap();
        let of_variant = table
            .lines()
            .filter(|line| line.starts_with(&format!("{variant},emulated,")));
        let checks = of_variant.count();
        assert_eq!(place.json(0, &["check", "v", "--json"])["checks"], checks);
        assert!(checks > 2 && table.lines().count() == checks + 1, "{table}");
        for record in ["v", "t"] {
            std::fs::remove_dir_all(place.path(record)).unwrap();
        }
    }
}
