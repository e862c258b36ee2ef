//! Bad input is answered by one sentence that names what is wrong and what would be right, and by its exit code.

use crate::program::{Place, refused, vectors};

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let place = Place::new();
    for (arguments, words) in [
        (
            ["validate", "md5-q9/v99"],
            ["md5-q9/v99", "v0, v1, v2, v3, v4, v5"],
        ),
        (["validate", "nosuch"], ["`nosuch`", "md5-q9"]),
        (["variants", "nosuch/v0"], ["`nosuch`", "md5-q9"]),
        (["run", "md5-q9/"], ["`md5-q9/`", "FAMILY/NAME"]),
        (["run", "md5-q9/../v0"], ["`md5-q9/../v0`", "FAMILY/NAME"]),
        (["trial", "--device=gpu:x"], ["gpu:x", "cuda:N, cpu or emulated"]),
        (
            ["search", "--device=cuda:-1"],
            ["cuda:-1", "cuda:N, cpu or emulated"],
        ),
        (["validate", "--isa=sse2"], ["sse2", "plain, avx2 or avx512"]),
        (
            ["search", "--variant=md5-q9"],
            ["--variant md5-q9", "one variant"],
        ),
        (["tune", "md5-q9/v99"], ["md5-q9/v99", "v0, v1"]),
        (["tune", "md5-q9"], ["`md5-q9` is a family", "one variant"]),
        (["tune", "--budget=5s"], ["VARIANT", "required"]),
        (["man", "nosuch"], ["`nosuch`", "command"]),
        (["completions", "nosuch"], ["nosuch", "bash"]),
        (["nosuch", "x"], ["nosuch", "subcommand"]),
    ] {
        refused(&place, 2, &arguments, &words);
    }
    assert!(!place.path("runs").exists(), "a refusal leaves no record");
}

#[test]
fn numbers_out_of_range_are_answered_with_the_range() {
    let place = Place::new();
    for (arguments, words) in [
        (["search", "--for", "0s"], ["--for", "above zero"]),
        (["search", "--for", "soon"], ["--for", "30s"]),
        (["search", "--zeros", "33"], ["--zeros 33", "1 to 32"]),
        (["search", "--zeros", "0"], ["--zeros 0", "1 to 32"]),
        (["search", "--zeros", "1.5"], ["1.5", "--zeros"]),
        (["search", "--seed", "x"], ["--seed", "x"]),
        (["trial", "--rounds", "0"], ["--rounds", "1..=1000"]),
        (["run", "--seconds", "0"], ["--seconds", "above zero"]),
        (["tune", "--budget", "0s"], ["--budget", "above zero"]),
        (["tune", "--objective", "speed"], ["speed", "rate, energy"]),
        (["tune", "--seed", "x"], ["--seed", "x"]),
    ] {
        refused(&place, 2, &arguments, &words);
    }
    assert!(!place.path("runs").exists(), "a refusal leaves no record");
}

#[test]
fn flags_that_exclude_each_other_are_named() {
    let place = Place::new();
    refused(
        &place,
        2,
        &["validate", "--isa", "avx2", "--device", "emulated"],
        &["--isa", "--device cpu"],
    );
    refused(
        &place,
        2,
        &["validate", "md5-q9", "--all"],
        &["--all", "SELECTOR"],
    );
    refused(
        &place,
        2,
        &["validate", "--overflow", "--whole-base"],
        &["--overflow", "--whole-base"],
    );
    refused(
        &place,
        2,
        &["tune", "--resume", "r", "--objective", "energy"],
        &["--resume", "--objective"],
    );
    let both = ["validate", "--vectors", &vectors(), "--overflow"];
    refused(&place, 2, &both, &["--vectors", "--overflow"]);
}

#[test]
fn what_a_tuner_cannot_go_on_with_is_refused_and_left_alone() {
    let place = Place::new();
    let vectors = vectors();
    let other = [
        "validate",
        "v0",
        "--device",
        "cpu",
        "--vectors",
        &vectors,
        "--out",
        "r",
    ];
    assert_eq!(place.assay(&other).code, 0);
    refused(
        &place,
        2,
        &["tune", "--resume", "r"],
        &["--resume r", "no record of `assay tune`"],
    );
    refused(
        &place,
        2,
        &["tune", "--resume", "nowhere"],
        &["nowhere", "manifest.json"],
    );
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn energy_where_none_is_counted_is_refused_by_one_sentence() {
    let place = Place::new();
    let asked = ["tune", "v5", "--device", "emulated", "--objective", "energy"];
    let said = place.assay(&asked);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(
        said.stderr.contains("--objective energy") && said.stdout.is_empty(),
        "{}",
        said.stderr
    );
    refused(
        &place,
        2,
        &["tune", "v5", "--objective", "energy", "--budget", "10s"],
        &["--budget", "60 s"],
    );
    assert!(!place.path("runs").exists());
}

#[test]
fn devices_and_tools_that_are_missing_end_in_exit_code_3() {
    let place = Place::new();
    let said = refused(
        &place,
        3,
        &["validate", "md5-q9/v0", "--device", "cuda:99"],
        &["cuda:99"],
    );
    assert!(said.stderr.trim_end().lines().count() == 1, "{}", said.stderr);
    let mut command = place.command(&["validate", "md5-q9/v0", "--device", "emulated", "--out", "r"]);
    let said = crate::program::said(command.env("CXX", "/nonexistent").output().unwrap());
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(
        said.stderr.contains("CXX") && said.stderr.contains("g++"),
        "{}",
        said.stderr
    );
    assert!(!place.path("r").exists());
}

#[test]
fn what_the_instruction_set_has_no_code_for_is_refused_before_anything_runs() {
    let place = Place::new();
    let text = include_str!("../../../variants/md5-q9/v5.toml");
    place.file("mine/md5-q9/six.toml", format!("{text}\n[cpu]\nstates = 6\n"));
    let arguments = [
        "--variants",
        "mine",
        "validate",
        "six",
        "--device",
        "cpu",
        "--isa",
        "plain",
    ];
    let words = ["md5-q9-six", "cpu.states = 6", "plain", "only with 1"];
    refused(&place, 2, &arguments, &words);
}
