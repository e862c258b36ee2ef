//! The commands on the paths that they are for.

use serde_json::Value;

use crate::program::{Place, assert_tables_are_whole, manifest, vectors};

fn is_number(value: &Value) -> bool {
    value.as_f64().is_some_and(f64::is_finite)
}

#[test]
fn variants_lists_every_family_in_the_order_in_which_people_count() {
    let place = Place::new();
    let json = place.json(0, &["variants", "--json"]);
    assert_eq!(json["schema"], 1);
    let names: Vec<&str> = json["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["variant"].as_str().unwrap())
        .collect();
    let (md5, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.starts_with("md5-q9/"));
    assert_eq!(md5, (0..=12).map(|n| format!("md5-q9/v{n}")).collect::<Vec<_>>());
    assert_eq!(names[md5.len()..], others, "one family after the other");
    assert!(others.contains(&"crt-gemm/naive"), "{names:?}");
    let all_of_the_family = others.iter().all(|name| name.starts_with("crt-gemm/"));
    assert!(all_of_the_family, "{names:?}");
    let screen = place.assay(&["variants"]);
    assert_eq!(screen.code, 0);
    assert!(
        names.iter().all(|name| screen.stdout.contains(name)),
        "{}",
        screen.stdout
    );
}

#[test]
fn a_variant_needs_no_rust_only_a_file() {
    let place = Place::new();
    let text = include_str!("../../../variants/md5-q9/v4.toml").replace("interleave = 2", "interleave = 3");
    place.file("mine/md5-q9/triple.toml", text);
    let vectors = vectors();
    let arguments = [
        "--variants",
        "mine",
        "validate",
        "triple",
        "--vectors",
        &vectors,
        "--device",
        "emulated",
        "--json",
    ];
    let json = place.json(0, &arguments);
    assert_eq!(json["results"][0]["variant"], "md5-q9/triple");
    assert_eq!(json["results"][0]["not_covered"], 0);
    assert!(json["results"][0]["checked"].as_u64().unwrap() > 0);
}

#[test]
fn devices_names_the_host_devices_and_what_is_missing() {
    let place = Place::new();
    let json = place.json(0, &["devices", "--json"]);
    assert_eq!(json["schema"], 1);
    let ids: Vec<&str> = json["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|device| device["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"cpu") && ids.contains(&"emulated"), "{ids:?}");
    for tool in ["nvrtc", "nvdisasm"] {
        let row = &json[tool];
        assert!(row["version"].is_string() != row["missing"].is_string(), "{row}");
    }
}

#[test]
fn validate_on_the_cpu_has_the_documented_fields_and_a_record_that_checks() {
    let place = Place::new();
    let json = place.json(
        0,
        &[
            "validate",
            "md5-q9/v3",
            "md5-q9/v5",
            "--device",
            "cpu",
            "--seed",
            "5",
            "--json",
            "--out",
            "r",
        ],
    );
    assert_eq!(json["schema"], 1);
    assert_eq!(json["ok"], true);
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for (row, variant) in results.iter().zip(["md5-q9/v3", "md5-q9/v5"]) {
        assert_eq!(row["variant"], variant);
        assert_eq!(row["device"], "cpu");
        assert_eq!(row["ok"], true);
        for count in ["mismatches", "duplicates", "missing", "not_covered"] {
            assert_eq!(row[count], 0, "{variant} {count}");
        }
        // Three stretches of 4,096 on two bases, and 1,024 seeded plants on each.
        assert!(row["checked"].as_u64().unwrap() >= 6 * 4096 + 2 * 1024, "{row}");
        assert!(
            row["first_bad_layer"].is_null() && row["message"].is_string(),
            "{row}"
        );
    }
    let record = place.path("r");
    assert_eq!(manifest(&record)["status"], "complete");
    assert_tables_are_whole(&record);
    let check = place.json(0, &["check", "r", "--json"]);
    assert_eq!(
        (&check["ok"], &check["status"]),
        (&Value::Bool(true), &Value::from("complete"))
    );
    assert!(check["candidates"].as_u64().unwrap() >= 6 * 4096, "{check}");
}

#[test]
fn commands_that_begin_in_the_same_second_have_records_of_their_own() {
    let place = Place::new();
    let vectors = vectors();
    let arguments = [
        "validate",
        "md5-q9/v0",
        "--vectors",
        &vectors,
        "--device",
        "cpu",
        "--json",
    ];
    let records: std::collections::BTreeSet<String> = (0..8)
        .map(|_| place.json(0, &arguments)["record"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(records.len(), 8);
    for record in records {
        assert_eq!(place.assay(&["check", &record]).code, 0, "{record}");
    }
}

#[test]
fn the_vector_file_is_covered_by_the_tunnels_and_in_part_by_the_orbits() {
    let place = Place::new();
    let file: Value = serde_json::from_str(&std::fs::read_to_string(vectors()).unwrap()).unwrap();
    let rows: u64 = file["bases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|base| base["candidates"].as_array().unwrap().len() as u64)
        .sum();
    let vectors = vectors();
    for device in ["cpu", "emulated"] {
        let json = place.json(
            0,
            &[
                "validate",
                "md5-q9",
                "--vectors",
                &vectors,
                "--device",
                device,
                "--json",
            ],
        );
        assert_eq!(json["results"].as_array().unwrap().len(), 13);
        for row in json["results"].as_array().unwrap() {
            let (checked, outside) = (
                row["checked"].as_u64().unwrap(),
                row["not_covered"].as_u64().unwrap(),
            );
            assert_eq!(checked + outside, rows, "{row}");
            let orbits = ["v5", "v6", "v7", "v10", "v11", "v12"].map(|name| format!("md5-q9/{name}"));
            let orbit = orbits.iter().any(|name| row["variant"] == **name);
            assert_eq!(outside > 0, orbit, "{row}");
        }
    }
}

#[test]
fn vectors_of_bases_without_constants_are_covered_by_every_variant() {
    let place = Place::new();
    let vectors = vectors().replace("md5_q9.json", "md5_q9_zero_orbit.json");
    for device in ["cpu", "emulated"] {
        let variants = ["md5-q9/v0", "md5-q9/v5", "md5-q9/v6", "md5-q9/v7"];
        let options = ["--vectors", &vectors, "--device", device, "--json"];
        let json = place.json(0, &[["validate"].as_slice(), &variants, &options].concat());
        for row in json["results"].as_array().unwrap() {
            assert_eq!(
                (&row["checked"], &row["not_covered"]),
                (&48.into(), &0.into()),
                "{row}"
            );
        }
    }
}

#[test]
fn a_hit_buffer_that_is_too_small_is_rejected_on_both_devices() {
    let place = Place::new();
    for device in ["cpu", "emulated"] {
        let said = place.assay(&[
            "validate",
            "md5-q9/v4",
            "md5-q9/v5",
            "--overflow",
            "--device",
            device,
        ]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert_eq!(
            said.stdout.matches("\"rejected\": true").count(),
            2,
            "{}",
            said.stdout
        );
    }
    let json = place.json(
        0,
        &["validate", "md5-q9/v0", "--overflow", "--device", "cpu", "--json"],
    );
    assert_eq!(
        (&json["schema"], &json["rejected"]),
        (&Value::from(1), &Value::Bool(true))
    );
}

/// The fields of `trial` and `run`, and what must hold among them.
fn assert_timed(json: &Value, variants: &[&str]) {
    assert_eq!(json["schema"], 1);
    assert_eq!(json["ok"], true);
    let results = json["results"].as_array().unwrap();
    let names: Vec<&str> = results
        .iter()
        .map(|row| row["variant"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), variants.len(), "{names:?}");
    for variant in variants {
        assert!(names.contains(variant), "{names:?}");
    }
    for row in results {
        assert_eq!(row["device"], "cpu");
        let rate = &row["rate_units_per_s"];
        assert!(
            rate["mean"].as_f64().unwrap() > 0.0 && is_number(&rate["sd"]),
            "{row}"
        );
        assert_eq!(rate["n"], 2);
        let interval: Vec<f64> = rate["ci95"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        let mean = rate["mean"].as_f64().unwrap();
        assert!(interval[0] <= mean && mean <= interval[1], "{row}");
        assert!(
            row.get("units_per_joule").is_some() && row.get("units_per_clock_per_sm").is_some(),
            "{row}"
        );
        if row["variant"] == variants[0] {
            assert_eq!(row["ratio_to_baseline"]["mean"], 1.0, "{row}");
        }
    }
}

#[test]
fn a_short_run_validates_times_and_leaves_a_record_that_one_changed_byte_spoils() {
    let place = Place::new();
    let json = place.json(
        0,
        &[
            "run",
            "md5-q9/v0",
            "md5-q9/v5",
            "--device",
            "cpu",
            "--isa",
            "plain",
            "--seconds",
            "200ms",
            "--rounds",
            "2",
            "--json",
            "--out",
            "r",
        ],
    );
    assert_timed(&json, &["md5-q9/v0", "md5-q9/v5", "md5-q9/v0@aa"]);
    let record = place.path("r");
    assert_eq!(json["record"], "r");
    assert_eq!(manifest(&record)["status"], "complete");
    assert_tables_are_whole(&record);
    let check = place.json(0, &["check", "r", "--json"]);
    assert_eq!(check["trials"], 6);
    // One byte of any file, manifest aside, is one too many.
    for entry in std::fs::read_dir(&record).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() == "manifest.json" {
            continue;
        }
        let whole = std::fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        std::fs::write(&path, changed).unwrap();
        let said = place.assay(&["check", "r"]);
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(said.code, 1, "{name}: {}", said.stdout);
        assert!(said.stderr.contains(name), "{name}: {}", said.stderr);
        std::fs::write(&path, whole).unwrap();
    }
    place.file("r/stranger.csv", "a\n");
    assert_eq!(place.assay(&["check", "r"]).code, 1);
    std::fs::remove_file(place.path("r/stranger.csv")).unwrap();
    std::fs::remove_file(place.path("r/runs.csv")).unwrap();
    assert_eq!(place.assay(&["check", "r"]).code, 1);
}

#[test]
fn a_short_trial_leaves_a_record_that_checks_and_says_that_nothing_was_validated() {
    let place = Place::new();
    let json = place.json(
        0,
        &[
            "trial",
            "md5-q9/v4",
            "--device",
            "cpu",
            "--seconds",
            "100ms",
            "--rounds",
            "2",
            "--json",
            "--out",
            "r",
        ],
    );
    assert_timed(&json, &["md5-q9/v4", "md5-q9/v4@aa"]);
    let notes = manifest(&place.path("r"))["notes"].to_string();
    assert!(notes.contains("not validated"), "{notes}");
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn a_search_for_a_time_tells_what_it_did() {
    let place = Place::new();
    let json = place.json(
        0,
        &[
            "search", "--for", "1s", "--device", "cpu", "--seed", "9", "--json", "--out", "r",
        ],
    );
    assert_eq!(
        (&json["schema"], &json["ok"], &json["seed"]),
        (&1.into(), &true.into(), &9.into())
    );
    let number = |name: &str| json[name].as_f64().unwrap_or_else(|| panic!("{name}: {json}"));
    assert!(number("candidates") > 0.0 && number("elapsed_s") >= 1.0, "{json}");
    let rate = number("candidates") / number("elapsed_s");
    assert!((number("rate_units_per_s") / rate - 1.0).abs() < 1e-9, "{json}");
    let expected = number("candidates") / 4_294_967_296.0;
    assert!((number("hits_expected") / expected - 1.0).abs() < 1e-9, "{json}");
    assert_eq!(json["best"].is_null(), json["hits"] == 0, "{json}");
    assert_eq!(manifest(&place.path("r"))["status"], "complete");
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn a_search_that_does_not_get_there_in_time_ends_in_exit_code_4() {
    let place = Place::new();
    let prefix = place.file("prefix.bin", [b'z'; 128]);
    let json = place.json(
        4,
        &[
            "search", "--zeros", "32", "--for", "300ms", "--device", "cpu", "--prefix", &prefix, "--json",
            "--out", "r",
        ],
    );
    assert_eq!(json["ok"], false);
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let place = Place::new();
    let commands = [
        "devices",
        "variants",
        "validate",
        "trial",
        "run",
        "search",
        "gemm",
        "accuracy",
        "check",
        "completions",
        "man",
    ];
    for shell in ["bash", "zsh", "fish"] {
        let said = place.assay(&["completions", shell]);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""));
        assert!(
            commands.iter().all(|command| said.stdout.contains(command)),
            "{shell}"
        );
    }
    let page = place.assay(&["man"]);
    assert_eq!(page.code, 0);
    assert!(page.stdout.contains(".TH") && commands.iter().all(|command| page.stdout.contains(command)));
    for command in commands {
        let page = place.assay(&["man", command]);
        assert!(page.code == 0 && page.stdout.contains(".TH"), "{command}");
    }
    assert!(place.assay(&["man", "validate"]).stdout.contains("vectors"));
}
