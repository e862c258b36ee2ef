//! `tune` on the processor: its record, its winner, and how it goes on.

use std::fs;

use serde_json::Value;

use crate::program::{Place, assert_tables_are_whole, manifest, variants};

/// A folder of variants that can be changed: `mine/md5-q9/v5.toml`.
fn own_variants(place: &Place) {
    let text = fs::read_to_string(variants().join("md5-q9/v5.toml")).unwrap();
    place.file("mine/md5-q9/v5.toml", text);
}

fn tune(place: &Place, code: i32, arguments: &[&str]) -> Value {
    let mut all = vec!["--variants", "mine", "tune", "--json"];
    all.extend(arguments);
    place.json(code, &all)
}

const START: [&str; 7] = ["md5-q9/v5", "--device", "cpu", "--budget", "10s", "--out", "r"];

#[test]
fn tuning_on_the_processor_leaves_a_record_a_winner_and_can_go_on() {
    let place = Place::new();
    own_variants(&place);
    let json = tune(&place, 0, &START);
    assert_eq!(
        (&json["schema"], &json["ok"]),
        (&Value::from(1), &Value::from(true))
    );
    assert_eq!(json["start"], "md5-q9/v5");
    assert!(json["spent_s"].as_f64().unwrap() < 40.0, "{json}");
    let made = json["candidates"]["made"].as_u64().unwrap();
    assert!(made >= 1, "{json}");

    let record = place.path("r");
    assert_eq!(manifest(&record)["status"], "complete");
    assert_eq!(manifest(&record)["tune"]["objective"], "rate");
    assert_tables_are_whole(&record);
    assert_eq!(place.assay(&["check", "r"]).code, 0);
    let table = fs::read_to_string(record.join("tune.csv")).unwrap();
    assert!(table.lines().count() as u64 > made, "{table}");

    // The winner is a variant.
    let winner = fs::read_to_string(record.join("winner.toml")).unwrap();
    assert!(
        winner.starts_with("# Found by `assay tune` from md5-q9/v5"),
        "{winner}"
    );
    place.file("mine/md5-q9/best.toml", &winner);
    let said = place.assay(&["--variants", "mine", "variants", "md5-q9/best"]);
    assert_eq!(said.code, 0, "{}", said.stderr);

    // Going on repeats nothing.
    let runs = fs::read_to_string(record.join("runs.csv")).unwrap();
    if json["decided"] == false {
        let more = tune(&place, 0, &["--resume", "r", "--budget", "4s"]);
        assert!(more["candidates"]["made"].as_u64().unwrap() >= made);
        let later = fs::read_to_string(record.join("runs.csv")).unwrap();
        assert!(later.starts_with(&runs), "the trials that were are kept");
        assert_eq!(place.assay(&["check", "r"]).code, 0);
    } else {
        let said = place.assay(&["--variants", "mine", "tune", "--resume", "r"]);
        assert_eq!(said.code, 2, "{}", said.stderr);
        assert!(said.stderr.contains("run to its end"), "{}", said.stderr);
    }

    // Every file of it is held by the manifest.
    for name in ["tune.csv", "winner.toml", "start.toml", "runs.csv"] {
        let whole = fs::read(record.join(name)).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        fs::write(record.join(name), changed).unwrap();
        let said = place.assay(&["check", "r"]);
        assert_eq!(said.code, 1, "{name}: {}", said.stdout);
        assert!(said.stderr.contains(name), "{}", said.stderr);
        fs::write(record.join(name), whole).unwrap();
    }

    // Another starting variant, or another text of the same, is another race.
    for (arguments, words) in [
        (
            vec!["md5-q9/best", "--resume", "r", "--budget", "5s"],
            "md5-q9/best",
        ),
        (
            vec!["--resume", "r", "--budget", "5s", "--device", "emulated"],
            "emulated",
        ),
    ] {
        let mut all = vec!["--variants", "mine", "tune"];
        all.extend(arguments);
        let said = place.assay(&all);
        assert_eq!(said.code, 2, "{}", said.stderr);
        assert!(said.stderr.contains("--resume r"), "{words}: {}", said.stderr);
    }
    let changed = fs::read_to_string(place.path("mine/md5-q9/v5.toml"))
        .unwrap()
        .replace("block = 256", "block = 128");
    place.file("mine/md5-q9/v5.toml", changed);
    let said = place.assay(&["--variants", "mine", "tune", "--resume", "r", "--budget", "5s"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("--resume r"), "{}", said.stderr);
    assert_eq!(
        place.assay(&["check", "r"]).code,
        0,
        "a refusal leaves the record alone"
    );
}

#[test]
fn the_table_explains_itself() {
    let place = Place::new();
    let said = place.assay(&[
        "tune",
        "md5-q9/v5",
        "--device",
        "cpu",
        "--isa",
        "avx2",
        "--budget",
        "6s",
    ]);
    // A processor without it says so.
    if said.code == 3 {
        return;
    }
    assert_eq!(said.code, 0, "{}", said.stderr);
    for word in ["- changes: ", "- ratio: ", "candidates were made", "Record: "] {
        assert!(said.stdout.contains(word), "no `{word}` in {}", said.stdout);
    }
    assert!(!said.stdout.contains("isa = "), "--isa fixes it: {}", said.stdout);
}
