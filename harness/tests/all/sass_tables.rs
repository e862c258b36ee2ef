//! The account of every variant on every usual architecture, against a table kept for one compiler version.
//!
//! The table is made anew by `ASSAY_UPDATE_GOLDEN=1 cargo test sass_tables`, after looking at what changed. It is one test:
//! ninety disassemblies take most of a minute.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

const ARCHS: [&str; 7] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// What `assay sass --all` says, or `None` on a machine without the tools where they are not demanded.
fn sass(archs: &[&str]) -> Option<Output> {
    let mut command = Command::new(cargo_bin("assay"));
    command
        .args(["sass", "--all", "--json"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for arch in archs {
        command.args(["--arch", arch]);
    }
    let output = command.output().expect("the program runs");
    let required = std::env::var_os("ASSAY_REQUIRE_CUDA_TOOLS").is_some_and(|value| value == "1");
    if output.status.code() == Some(3) && !required {
        return None;
    }
    Some(output)
}

fn results() -> Option<Vec<Value>> {
    let output = sass(&ARCHS)?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    Some(json["results"].as_array().expect("results").clone())
}

fn row(result: &Value) -> String {
    let text = |key: &str| result[key].as_str().expect("a text").to_string();
    let count = |key: &str| result["per_unit"][key].as_f64().expect("a number");
    format!(
        "{}\t{}\t{:.3}\t{:.3}\t{:.3}\t{:.3}\t{}\t{}",
        text("variant"),
        text("arch"),
        count("total"),
        count("alu"),
        count("fma"),
        count("other"),
        result["registers"],
        result["spills"],
    )
}

#[test]
fn every_variant_costs_on_every_architecture_what_the_table_says() {
    let Some(results) = results() else { return };
    nothing_spills_and_the_parts_make_the_whole(&results);
    let compiler = results[0]["compiler"]
        .as_str()
        .expect("a compiler")
        .to_lowercase()
        .replace(' ', "-");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/all/golden/sass-{compiler}.tsv"));
    let mut table = String::from("variant\tarch\ttotal\talu\tfma\tother\tregisters\tspills\n");
    for result in &results {
        let _ = writeln!(table, "{}", row(result));
    }
    if std::env::var_os("ASSAY_UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        std::fs::write(&path, &table).unwrap();
        return;
    }
    // Another compiler makes other code: its table is nobody's business until someone keeps one.
    let Ok(kept) = std::fs::read_to_string(&path) else {
        assert!(compiler != "nvrtc-13.0.88", "{} is missing", path.display());
        return;
    };
    let differ: Vec<_> = table
        .lines()
        .zip(kept.lines())
        .filter(|(ours, kept)| ours != kept)
        .collect();
    assert!(
        differ.is_empty() && table.lines().count() == kept.lines().count(),
        "ours, kept: {differ:#?}"
    );
}

fn nothing_spills_and_the_parts_make_the_whole(results: &[Value]) {
    for result in results {
        let count = |key: &str| result["per_unit"][key].as_f64().unwrap();
        assert_eq!(result["spills"], 0, "{}", row(result));
        assert!(
            (count("total") - count("alu") - count("fma") - count("other")).abs() < 1e-3,
            "{}",
            row(result)
        );
        let opcodes = result["per_unit"]["opcodes"].as_object().unwrap();
        let sum: f64 = opcodes.values().filter_map(Value::as_f64).sum();
        assert!((sum - count("total")).abs() < 1e-2, "{}", row(result));
    }
}

#[test]
fn an_architecture_that_the_compiler_lacks_is_a_usage_error_that_lists_those_it_has() {
    let Some(output) = sass(&["sm_61"]) else { return };
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("sm_61") && stderr.contains("sm_120"), "{stderr}");
}
