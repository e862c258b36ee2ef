//! The family `crt-gemm` as a user meets it, on a machine without a card.

use std::path::Path;

use crate::program::{Place, manifest};

fn vectors() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/gemm.json");
    file.display().to_string()
}

#[test]
fn the_reference_variant_validates_layer_by_layer() {
    let place = Place::new();
    let json = place.json(
        0,
        &["validate", "crt-gemm/naive", "--device", "emulated", "--json"],
    );
    let row = &json["results"][0];
    assert_eq!(row["variant"], "crt-gemm/naive");
    // The layers of the other scheme.
    assert_eq!(
        row["not_formed"],
        serde_json::json!(["magnitude", "bound", "exponent"])
    );
    assert!(row["checked"].as_u64().unwrap() > 1_000_000, "{row}");
    let names: Vec<&str> = row["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    let place_of = |part: &str| names.iter().position(|name| name.contains(part)).unwrap();
    assert!(
        place_of("layers: edge values") < place_of("layers: random"),
        "{names:?}"
    );
    assert!(
        place_of("layers: random") < place_of("production build: edge values"),
        "{names:?}"
    );
}

#[test]
fn a_whole_family_is_validated_without_what_the_device_cannot_run() {
    let place = Place::new();
    let said = place.assay(&["validate", "crt-gemm", "--device", "emulated"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("crt-gemm/naive-tiles") && !said.stdout.contains("mma"),
        "{}",
        said.stdout
    );
    for name in [
        "moduli-naive",
        "moduli-naive-norms",
        "moduli-cublas",
        "native-dgemm",
        "cublas-fixed-point",
    ] {
        assert!(
            said.stdout.contains(&format!("crt-gemm/{name} ")),
            "{}",
            said.stdout
        );
    }
    for name in [
        "mma",
        "moduli-mma",
        "moduli-mma-fast",
        "moduli-wgmma",
        "moduli-wgmma-14",
        "moduli-wgmma-15",
        "moduli-wgmma-accurate",
        "s8s8s32-128x128",
        "s8s8s32-128x256",
    ] {
        assert!(
            said.stderr
                .contains(&format!("left out: crt-gemm/{name} cannot run")),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn the_vector_file_is_checked_and_a_changed_number_in_it_is_found() {
    let place = Place::new();
    let arguments = |file: &str| {
        [
            "validate",
            "crt-gemm/naive",
            "--device",
            "emulated",
            "--json",
            "--vectors",
            file,
        ]
        .map(str::to_owned)
    };
    let json = |code, file: &str| {
        let arguments = arguments(file);
        place.json(code, &arguments.each_ref().map(String::as_str))
    };
    let row = json(0, &vectors())["results"][0].clone();
    // The sections of other schemes: five near-bound moduli and eight double-double products.
    assert_eq!(row["not_covered"], 13);
    assert!(row["checked"].as_u64().unwrap() > 100_000, "{row}");
    let text = std::fs::read_to_string(vectors()).unwrap();
    let mut broken: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (change, layer) in [
        ("/split/5/lo", "split"),
        ("/split/5/hi_mod/3", "residue"),
        ("/seven_primes/k_limit_hi_hi", "residue"),
    ] {
        let kept = broken.pointer(change).unwrap().clone();
        *broken.pointer_mut(change).unwrap() = (kept.as_i64().unwrap() ^ 1).into();
        let file = place.file("broken.json", broken.to_string());
        let row = json(1, &file)["results"][0].clone();
        assert_eq!(row["first_bad_layer"], layer, "{change}: {row}");
        *broken.pointer_mut(change).unwrap() = kept;
    }
    *broken.pointer_mut("/seven_primes_near_bound/1/exact").unwrap() = true.into();
    let row = json(1, &place.file("broken.json", broken.to_string()))["results"][0].clone();
    assert_eq!(row["first_bad_layer"], "crt", "{row}");
}

#[test]
fn what_does_not_apply_is_refused_in_a_sentence() {
    let place = Place::new();
    for (code, arguments, word) in [
        (
            3,
            &["validate", "crt-gemm", "--device", "cpu"][..],
            "no native kernel for cpu",
        ),
        (
            3,
            &["validate", "crt-gemm/mma", "--device", "emulated"],
            "crt-gemm/mma cannot run on emulated",
        ),
        (
            3,
            &["validate", "crt-gemm/moduli-mma", "--device", "emulated"],
            "crt-gemm/moduli-mma cannot run on emulated",
        ),
        (
            3,
            &["trial", "s8s8s32-128x256", "--device", "emulated"],
            "crt-gemm/s8s8s32-128x256 cannot run on emulated",
        ),
        (
            3,
            &["trial", "crt-gemm/naive", "--device", "cpu"],
            "no native kernel for cpu",
        ),
        (
            2,
            &["validate", "crt-gemm/naive", "--overflow", "--device", "emulated"],
            "crt-gemm has none",
        ),
        (2, &["sass", "crt-gemm/naive"], "no account per unit"),
        (
            2,
            &["search", "--variant", "crt-gemm/naive", "--for", "1s"],
            "cannot search",
        ),
        (
            2,
            &["validate", "crt-gemm/none", "--device", "emulated"],
            "crt-gemm has",
        ),
    ] {
        let said = place.assay(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {}", said.stderr);
        assert!(said.stderr.contains(word), "{arguments:?}: {}", said.stderr);
    }
    let text = include_str!("../../../variants/crt-gemm/naive.toml").replace("naive\"", "naiv\"");
    place.file("mine/crt-gemm/other.toml", text);
    let said = place.assay(&["variants", "--variants", "mine"]);
    assert_eq!(said.code, 2);
    assert!(
        said.stderr.contains("other.toml: line ") && said.stderr.contains("`naive`"),
        "{}",
        said.stderr
    );
}

/// The kernels by warpgroups take norms in the layout that this proves; the library's product has its own padding.
#[test]
fn norms_of_blocks_are_right_in_every_layout() {
    let place = Place::new();
    let norms = include_str!("../../../variants/crt-gemm/moduli-naive-norms.toml");
    let cublas = include_str!("../../../variants/crt-gemm/moduli-cublas.toml");
    for (name, text, from, to) in [
        ("blocks", norms, "layout = \"tiles\"", "layout = \"blocks\""),
        ("library", cublas, "bound = \"accurate\"", "bound = \"blocks\""),
    ] {
        assert!(text.contains(from), "{name}");
        place.file(&format!("mine/crt-gemm/{name}.toml"), text.replace(from, to));
    }
    let arguments = [
        "--variants",
        "mine",
        "validate",
        "crt-gemm",
        "--device",
        "emulated",
        "--json",
    ];
    let json = place.json(0, &arguments);
    let rows = json["results"].as_array().unwrap();
    assert!(
        rows.len() == 2 && rows.iter().all(|row| row["ok"] == true),
        "{json}"
    );
}

#[test]
fn the_scheme_of_n_moduli_forms_every_layer_and_is_timed_once_it_is_right() {
    let place = Place::new();
    let text =
        include_str!("../../../variants/crt-gemm/moduli-naive.toml").replace("edge = 1024", "edge = 40");
    place.file("mine/crt-gemm/small.toml", text);
    let base = [
        "--variants",
        "mine",
        "run",
        "crt-gemm/small",
        "--device",
        "emulated",
        "--json",
    ];
    let times = [
        "--seconds",
        "200ms",
        "--rounds",
        "2",
        "--no-power",
        "--out",
        "record",
    ];
    let json = place.json(0, &[&base[..], &times].concat());
    assert_eq!(json["ok"], true, "{json}");
    let said = place.assay(&["check", "record"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    // Every kernel of every trial has its time: two rounds of the variant and its control, and a third.
    let resumed = place.assay(&["--variants", "mine", "run", "--resume", "record", "--rounds", "1"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let stages = std::fs::read_to_string(place.path("record/stages.csv")).unwrap();
    for kernel in [
        "moduli_tops",
        "moduli_magnitudes",
        "moduli_bound",
        "moduli_exponents",
        "moduli_residues",
        "moduli_product",
        "moduli_crt",
    ] {
        let rows = stages
            .lines()
            .filter(|line| line.contains(&format!(",{kernel},")));
        assert_eq!(rows.count(), 6, "{kernel}: {stages}");
        assert!(resumed.stdout.contains(kernel), "{}", resumed.stdout);
    }
    let report = std::fs::read_to_string(place.path("record/report.md")).unwrap();
    assert!(
        report.contains("## Floor and stages") && report.contains("moduli_crt"),
        "{report}"
    );
    assert_eq!(place.assay(&["check", "record"]).code, 0);
}

#[test]
fn sizes_are_proved_once_and_each_has_its_own_baseline() {
    let place = Place::new();
    let run = [
        "run",
        "crt-gemm/naive@32",
        "native-dgemm@32",
        "crt-gemm/naive@48",
        "--device",
        "emulated",
        "--seconds",
        "100ms",
        "--rounds",
        "2",
        "--warmup",
        "10ms",
        "--no-power",
        "--out",
        "record",
    ];
    let said = place.assay(&run);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let proved = std::fs::read_to_string(place.path("record/validation.md")).unwrap();
    assert!(
        proved.contains("crt-gemm/naive@48 ") && !proved.contains("crt-gemm/naive@32"),
        "{proved}"
    );
    let plan = &manifest(&place.path("record"))["plan"];
    assert_eq!(
        plan["baselines"],
        serde_json::json!(["crt-gemm/native-dgemm@32", "crt-gemm/naive@48"])
    );
    let fastest = |line: &&str| line.starts_with('|') && line.contains(" * ");
    assert_eq!(
        said.stdout.lines().filter(fastest).count(),
        1,
        "alone at its size, a variant is not the fastest there: {}",
        said.stdout
    );
    assert_eq!(place.assay(&["check", "record"]).code, 0);
    let resumed = place.assay(&["run", "--resume", "record", "--rounds", "1", "--json"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let json: serde_json::Value = serde_json::from_str(&resumed.stdout).unwrap();
    let labels: Vec<&str> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["variant"].as_str().unwrap())
        .collect();
    assert_eq!(
        labels,
        [
            "crt-gemm/native-dgemm@32",
            "crt-gemm/naive@32",
            "crt-gemm/native-dgemm@32@aa",
            "crt-gemm/naive@48",
            "crt-gemm/naive@48@aa"
        ]
    );
}

#[test]
fn a_scheme_is_held_against_the_product_that_it_takes_many_of() {
    let place = Place::new();
    let said = place.assay(&[
        "trial",
        "s8s8s32-cublas@32",
        "moduli-naive@32",
        "moduli-naive@48",
        "--device",
        "emulated",
        "--seconds",
        "100ms",
        "--rounds",
        "2",
        "--warmup",
        "10ms",
        "--no-power",
        "--out",
        "record",
    ]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("crt-gemm/moduli-naive@48")
            && !said.stdout.contains("crt-gemm/s8s8s32-cublas@32 *"),
        "what does a part of the work is not the fastest: {}",
        said.stdout
    );
    let report = std::fs::read_to_string(place.path("record/report.md")).unwrap();
    assert!(
        report.contains("Simpler products that others are held against are in the table alone")
            && !report.contains("s8s8s32-cublas@32 is the fastest"),
        "{report}"
    );
    let rows: Vec<&str> = said
        .stdout
        .lines()
        .filter(|line| line.contains("| crt-gemm/s8s8s32-cublas@32 |"))
        .collect();
    assert!(
        rows.len() == 1 && rows[0].starts_with("| crt-gemm/moduli-naive@32 ") && rows[0].contains(" 15 |"),
        "none at 48, where no INT8 product was timed: {}",
        said.stdout
    );
    let floors: Vec<serde_json::Value> = manifest(&place.path("record"))["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variant| variant["floor"].clone())
        .collect();
    let products = serde_json::json!({ "products": 15 });
    assert_eq!(floors, ["itself".into(), products.clone(), products]);
    let report = std::fs::read_to_string(place.path("record/report.md")).unwrap();
    assert!(report.contains("simple products that it takes"), "{report}");
    assert_eq!(place.assay(&["check", "record"]).code, 0);
}

#[test]
fn a_size_that_cannot_be_is_refused_in_a_sentence() {
    let place = Place::new();
    for (name, said) in [
        ("crt-gemm/naive@15", "crt-gemm/naive@15: 15 is outside 16 to 4915"),
        ("crt-gemm/naive@4916", "naive@4916: 4916 is outside 16 to 4915"),
        (
            "crt-gemm/native-dgemm@99999999999999999999",
            "`99999999999999999999` is outside 16 to 32768",
        ),
        ("crt-gemm/naive@", "names no size"),
        ("crt-gemm/naive@+32", "names no size"),
        ("crt-gemm/naive@032", "names no size"),
        ("md5-q9/v0@32", "md5-q9 has no sizes, write md5-q9/v0"),
    ] {
        let answer = place.assay(&["trial", name, "--device", "emulated"]);
        assert_eq!(answer.code, 2, "{name}: {}", answer.stderr);
        assert!(answer.stderr.contains(said), "{name}: {}", answer.stderr);
    }
}

#[test]
fn a_run_validates_times_and_leaves_a_record_that_checks() {
    let place = Place::new();
    let text = include_str!("../../../variants/crt-gemm/naive.toml").replace("edge = 2048", "edge = 40");
    place.file("mine/crt-gemm/small.toml", text);
    let base = [
        "--variants",
        "mine",
        "run",
        "crt-gemm/small",
        "--device",
        "emulated",
        "--json",
        "--out",
        "record",
    ];
    let json = place.json(
        0,
        &[&base[..], &["--seconds", "200ms", "--rounds", "2", "--no-power"]].concat(),
    );
    let row = &json["results"][0];
    let rate = row["rate_units_per_s"]["mean"].as_f64().unwrap();
    assert!(
        (row["tflops"].as_f64().unwrap() / (2e-12 * rate) - 1.0).abs() < 1e-12,
        "{row}"
    );
    assert_eq!(json["results"][1]["variant"], "crt-gemm/small@aa");
    assert!(row["hits"].is_null());
    let said = place.assay(&["check", "record"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("4 trials"), "{}", said.stdout);
}
