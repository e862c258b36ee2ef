//! Ctrl-C leaves a record that is marked aborted and checks; a kill leaves one that says it never finished.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::npy::Matrix;
use crate::program::{Place, Said, assert_tables_are_whole, manifest, said};

/// Longest wait for anything: only a program that hangs takes so long, on a slow and busy machine too.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Starts the program in a process group of its own, as a shell does.
fn started(place: &Place, arguments: &[&str]) -> Child {
    place
        .command(arguments)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what} never came");
        sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to the whole process group, as a terminal does.
fn signal(child: &Child, name: &str) {
    let group = format!("-{}", child.id());
    let status = Command::new("kill").args([name, "--", &group]).status();
    assert!(status.expect("there is a kill command").success());
}

fn ended(mut child: Child) -> (ExitStatus, Said) {
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it does not end");
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("its output");
    (output.status, said(output))
}

fn has(record: &Path, file: &str) -> bool {
    record.join(file).exists()
}

/// Interrupts a command as soon as its record holds `file`, and `later` after that.
fn interrupted(arguments: &[&str], file: &str, later: Duration) -> (Place, Said) {
    let place = Place::new();
    let record = place.path("r");
    let mut all = arguments.to_vec();
    all.extend(["--out", "r"]);
    let child = started(&place, &all);
    until(file, || has(&record, file));
    sleep(later);
    signal(&child, "-INT");
    let (_, said) = ended(child);
    assert_eq!(said.code, 130, "{arguments:?}, {file}: {}", said.stderr);
    assert_eq!(manifest(&record)["status"], "aborted", "{arguments:?}, {file}");
    assert_tables_are_whole(&record);
    let check = place.assay(&["check", "r"]);
    assert_eq!(check.code, 0, "{arguments:?}, {file}: {}", check.stderr);
    assert!(check.stdout.contains("aborted"), "{}", check.stdout);
    (place, said)
}

const RUN: [&str; 10] = [
    "run",
    "md5-q9/v0",
    "md5-q9/v3",
    "--device",
    "cpu",
    "--seconds",
    "400ms",
    "--rounds",
    "500",
    "--json",
];

#[test]
fn a_run_that_is_interrupted_while_it_validates_times_nothing() {
    for later in [0, 300] {
        let (place, said) = interrupted(&RUN, "manifest.json", Duration::from_millis(later));
        assert!(!has(&place.path("r"), "runs.csv"));
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(json["ok"], false);
    }
}

#[test]
fn a_run_that_is_interrupted_while_it_warms_up_has_no_trial() {
    interrupted(&RUN, "validation.md", Duration::ZERO);
}

#[test]
fn a_run_that_is_interrupted_between_trials_keeps_those_that_were_finished() {
    let (place, _) = interrupted(&RUN, "runs.csv", Duration::from_millis(500));
    let runs = std::fs::read_to_string(place.path("r/runs.csv")).unwrap();
    assert!(runs.lines().count() >= 2, "{runs}");
}

// A part of the budget goes into validating candidates before the first trial: short, so that trials come soon.
const TUNE: [&str; 6] = ["tune", "md5-q9/v5", "--device", "cpu", "--budget", "60s"];

#[test]
fn a_race_that_is_interrupted_while_it_validates_has_no_winner() {
    for later in [0, 300] {
        let (place, _) = interrupted(&TUNE, "start.toml", Duration::from_millis(later));
        assert!(!has(&place.path("r"), "winner.toml"));
        assert!(!has(&place.path("r"), "runs.csv"));
        place.json(0, &["tune", "--resume", "r", "--budget", "4s", "--json"]);
    }
}

#[test]
fn a_race_that_is_interrupted_between_trials_goes_on_without_repeating_any() {
    let (place, _) = interrupted(&TUNE, "runs.csv", Duration::from_millis(1500));
    let runs = || std::fs::read_to_string(place.path("r/runs.csv")).unwrap();
    let before = runs();
    let json = place.json(0, &["tune", "--resume", "r", "--budget", "3s", "--json"]);
    assert_eq!(json["ok"], true);
    assert!(runs().starts_with(&before), "the trials that were are kept");
    assert_eq!(manifest(&place.path("r"))["status"], "complete");
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn a_search_that_is_interrupted_tells_what_it_did() {
    for later in [0, 400] {
        let arguments = ["search", "--device", "cpu", "--json"];
        let (_, said) = interrupted(&arguments, "manifest.json", Duration::from_millis(later));
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(json["schema"], 1);
        assert!(json["candidates"].is_u64(), "{json}");
    }
}

#[test]
fn a_validation_that_is_interrupted_is_not_one() {
    for later in [0, 200, 800] {
        let arguments = ["validate", "md5-q9", "--device", "cpu", "--json"];
        let (_, said) = interrupted(&arguments, "manifest.json", Duration::from_millis(later));
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(json["ok"], false);
        let results = json["results"].as_array().unwrap();
        assert!(results.iter().any(|row| row["ok"] == false), "{json}");
        assert!(
            results
                .iter()
                .all(|row| row["mismatches"] == 0 && row["missing"] == 0),
            "{json}"
        );
    }
}

#[test]
fn the_compiler_of_the_emulated_device_is_not_taken_for_a_failure_when_interrupted() {
    // The terminal's signal goes to the whole process group, of which the compiler must not be a part.
    for later in [20, 250, 600] {
        let arguments = ["validate", "md5-q9", "--device", "emulated"];
        interrupted(&arguments, "manifest.json", Duration::from_millis(later));
    }
}

#[test]
fn a_run_that_is_killed_leaves_a_record_that_says_it_never_finished() {
    for (file, later) in [("manifest.json", 100), ("runs.csv", 0), ("runs.csv", 900)] {
        let place = Place::new();
        let record = place.path("r");
        let mut arguments = RUN.to_vec();
        arguments.extend(["--out", "r"]);
        let child = started(&place, &arguments);
        until(file, || has(&record, file));
        sleep(Duration::from_millis(later));
        signal(&child, "-KILL");
        let (status, _) = ended(child);
        assert_eq!(status.signal(), Some(9));
        assert_eq!(manifest(&record)["status"], "running");
        assert_tables_are_whole(&record);
        let check = place.assay(&["check", "r"]);
        assert_eq!(check.code, 1, "{}", check.stdout);
        assert!(
            check.stderr.contains("running") && check.stderr.contains("never finished"),
            "{}",
            check.stderr
        );
    }
}

#[test]
fn a_run_that_was_killed_is_gone_on_with_but_not_while_it_runs() {
    let place = Place::new();
    let record = place.path("r");
    let run = [
        "run",
        "v0",
        "v5",
        "--device",
        "cpu",
        "--seconds",
        "100ms",
        "--warmup",
        "10ms",
        "--rounds",
        "50",
        "--out",
        "r",
    ];
    let child = started(&place, &run);
    until("hits or trials", || has(&record, "runs.csv"));
    sleep(Duration::from_millis(700));
    let resume = ["run", "--resume", "r", "--rounds", "1"];
    let early = place.assay(&resume);
    assert_eq!(early.code, 2, "{}", early.stderr);
    assert!(
        early.stderr.contains("being written by another process"),
        "{}",
        early.stderr
    );
    signal(&child, "-KILL");
    ended(child);
    let trials = || {
        std::fs::read_to_string(record.join("runs.csv"))
            .unwrap()
            .lines()
            .count()
            - 1
    };
    let before = trials();
    let said = place.assay(&resume);
    assert_eq!(said.code, 0, "{}", said.stderr);
    // What was left of the broken round, and one more round of three trials.
    assert!(trials() > before && before > 3, "{before} to {}", trials());
    assert_eq!(place.assay(&["check", "r"]).code, 0);
    let notes = manifest(&record)["notes"].to_string();
    assert!(notes.contains("was killed"), "{notes}");
}

#[test]
fn a_product_that_is_interrupted_leaves_no_file() {
    let place = Place::new();
    place.file("A.npy", Matrix::seeded(90, 2000, 1).file());
    place.file("B.npy", Matrix::seeded(2000, 90, 2).file());
    let log = place.path("log");
    let child = place
        .command(&["gemm", "A.npy", "B.npy", "-o", "C.npy", "--device", "emulated"])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .expect("the program starts");
    // The device is there; what follows takes longer than a signal.
    until("the device", || {
        std::fs::read_to_string(&log).unwrap().contains("on emulated")
    });
    signal(&child, "-INT");
    let (_, said) = ended(child);
    assert_eq!(said.code, 130, "{}", std::fs::read_to_string(&log).unwrap());
    assert_eq!(said.stdout, "");
    let mut left: Vec<_> = std::fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["A.npy", "B.npy", "log"]);
}
