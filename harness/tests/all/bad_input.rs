//! Bad input is answered by one sentence that names what is wrong and what would be right, and by its exit code.

use serde_json::json;

use crate::program::{Place, Said, vectors};

/// Calls the program with what it must refuse: exit code `code`, nothing on stdout, every one of `words` on stderr.
fn refused(place: &Place, code: i32, arguments: &[&str], words: &[&str]) -> Said {
    let said = place.assay(arguments);
    assert_eq!(said.code, code, "{arguments:?}: {}", said.stderr);
    for word in words {
        assert!(
            said.stderr.contains(word),
            "{arguments:?}: no `{word}` in: {}",
            said.stderr
        );
    }
    assert_eq!(said.stdout, "", "{arguments:?}");
    said
}

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

const VARIANT: &str = include_str!("../../../variants/md5-q9/v3.toml");

#[test]
fn a_malformed_variant_is_refused_with_its_file_and_key() {
    for (from, to, words) in [
        ("[launch]", "[launch", ["line 9", "`]`"].as_slice()),
        (
            "interleave",
            "interlaeve",
            &["line 6", "interlaeve", "interleave"],
        ),
        (
            "interleave = 1",
            "interleave = 0",
            &["options.interleave", "1 to 8"],
        ),
        (
            "interleave = 1",
            "interleave = \"x\"",
            &["line 6", "expected u32"],
        ),
        ("\"tunnel\"", "\"tunel\"", &["tunel", "tunnel", "orbit"]),
        (
            "\"tunnel\"",
            "\"orbit\"\nwalk = \"tunnel\"",
            &["line 5", "duplicate key"],
        ),
        ("block = 256", "block = 100", &["launch.block", "multiple of 32"]),
        ("inner = 256", "", &["inner"]),
        ("\"preadded\"", "\"separate\"", &["options.constants", "plain"]),
        ("summary", "\u{0}summary", &["line 1"]),
    ] {
        assert!(VARIANT.contains(from), "the text has no `{from}`");
        let place = Place::new();
        let file = place.file("mine/md5-q9/odd.toml", VARIANT.replacen(from, to, 1));
        place.file("mine/md5-q9/v0.toml", VARIANT);
        let folder = place.path("mine").display().to_string();
        for command in ["variants", "validate"] {
            let said = refused(&place, 2, &[command, "--variants", &folder, "md5-q9/odd"], words);
            assert!(said.stderr.contains(&file), "{to}: {}", said.stderr);
            assert_eq!(said.stderr.trim_end().lines().count(), 1, "{}", said.stderr);
        }
        // The others of the folder can still be used.
        let said = place.assay(&["variants", "--variants", &folder, "md5-q9/v0"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
}

#[test]
fn a_variant_that_is_not_text_is_refused_by_its_file() {
    let place = Place::new();
    let file = place.file("mine/md5-q9/odd.toml", b"summary = \"\xff\xfe\"");
    let folder = place.path("mine").display().to_string();
    refused(&place, 2, &["variants", "--variants", &folder], &[&file, "UTF-8"]);
}

#[test]
fn folders_of_variants_that_hold_none_are_named() {
    let place = Place::new();
    refused(
        &place,
        2,
        &["--variants", "nowhere", "variants"],
        &["nowhere", "folder of variants"],
    );
    std::fs::create_dir_all(place.path("empty/md5-q9")).unwrap();
    refused(
        &place,
        2,
        &["--variants", "empty", "variants"],
        &["empty", "no variants"],
    );
}

#[test]
fn a_folder_for_the_record_that_cannot_be_used_is_named() {
    let place = Place::new();
    place.file("file", "");
    let inside = place.path("file/record").display().to_string();
    place.file("full/notes.txt", "mine");
    for command in ["run", "trial", "validate", "search"] {
        for (out, words) in [
            ("/proc/nope", ["/proc/nope", "can be written"]),
            (inside.as_str(), [inside.as_str(), "can be written"]),
        ] {
            let said = refused(&place, 2, &[command, "--device", "cpu", "--out", out], &words);
            assert_eq!(
                said.stderr.matches("os error").count(),
                1,
                "told twice: {}",
                said.stderr
            );
        }
        refused(
            &place,
            2,
            &[command, "--device", "cpu", "--out", "full"],
            &["full"],
        );
    }
    assert_eq!(std::fs::read_dir(place.path("full")).unwrap().count(), 1);
}

#[test]
fn a_folder_for_a_tuners_record_that_cannot_be_used_is_named() {
    let place = Place::new();
    place.file("full/notes.txt", "mine");
    for out in ["/proc/nope", "full"] {
        refused(
            &place,
            2,
            &["tune", "v5", "--device", "cpu", "--out", out],
            &[out],
        );
    }
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
fn a_folder_that_holds_another_record_is_left_alone() {
    let place = Place::new();
    let vectors = vectors();
    let arguments = [
        "validate",
        "md5-q9/v0",
        "--device",
        "cpu",
        "--vectors",
        &vectors,
        "--out",
        "r",
    ];
    assert_eq!(place.assay(&arguments).code, 0);
    let before = std::fs::read(place.path("r/manifest.json")).unwrap();
    refused(
        &place,
        2,
        &arguments,
        &["r already holds a record", "does not exist yet"],
    );
    assert_eq!(std::fs::read(place.path("r/manifest.json")).unwrap(), before);
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn a_prefix_that_is_not_whole_blocks_is_refused_and_leaves_no_record() {
    let place = Place::new();
    for length in [1, 63, 65, 100] {
        let file = place.file("prefix.bin", vec![b'a'; length]);
        let arguments = [
            "search", "--for", "1s", "--device", "cpu", "--prefix", &file, "--out", "r",
        ];
        let padded = format!("{} bytes", length.div_ceil(64) * 64);
        refused(
            &place,
            2,
            &arguments,
            &["--prefix", &file, "64-byte blocks", &padded],
        );
    }
    let arguments = [
        "search", "--for", "1s", "--device", "cpu", "--prefix", "nowhere", "--out", "r",
    ];
    refused(&place, 2, &arguments, &["--prefix nowhere", "No such file"]);
    assert!(!place.path("r").exists());
}

#[test]
fn a_corrupt_vector_file_is_refused_by_its_name_and_leaves_no_record() {
    let place = Place::new();
    let good = std::fs::read_to_string(vectors()).unwrap();
    let mut truncated = good.clone();
    truncated.truncate(good.len() / 2);
    let mut invalid = good.clone().into_bytes();
    invalid[good.find("\"bases\"").unwrap() + 2] = 0xff;
    let damages: Vec<(Vec<u8>, &str)> = vec![
        (b"x = [".to_vec(), "not an md5-q9 vector file"),
        (b"".to_vec(), "not an md5-q9 vector file"),
        (b"{}".to_vec(), "bases"),
        (json!({"bases": []}).to_string().into_bytes(), "not one case"),
        (truncated.into_bytes(), "EOF"),
        (invalid, "UTF-8"),
        (
            good.replacen("\"q9\": \"00000000\"", "\"q9\": \"0000000\"", 1)
                .into_bytes(),
            "eight hex digits",
        ),
        (
            good.replacen("\"orbit\": true", "\"orbit\": false", 1)
                .into_bytes(),
            "bases[1].orbit",
        ),
        (
            good.replacen("\"11\": \"ffffffff\"", "\"11\": \"fffffffe\"", 1)
                .into_bytes(),
            "11 = ffffffff",
        ),
        (
            good.replacen("\"digest\"", "\"digset\"", 1).into_bytes(),
            "digest",
        ),
    ];
    for (damaged, word) in damages {
        assert_ne!(damaged, good.as_bytes(), "{word}: nothing is damaged");
        let file = place.file("damaged.json", damaged);
        let arguments = [
            "validate",
            "md5-q9",
            "--device",
            "cpu",
            "--vectors",
            &file,
            "--out",
            "r",
        ];
        refused(&place, 2, &arguments, &["--vectors", &file, word]);
    }
    refused(
        &place,
        2,
        &["validate", "--device", "cpu", "--vectors", "nowhere"],
        &["--vectors nowhere", "No such file"],
    );
    assert!(!place.path("r").exists());
}

#[test]
fn a_vector_file_with_a_wrong_answer_fails_at_its_layer() {
    let place = Place::new();
    let good = std::fs::read_to_string(vectors()).unwrap();
    let place_of = good.find("\"q61\": \"").unwrap() + 8;
    let mut bytes = good.into_bytes();
    bytes[place_of] = if bytes[place_of] == b'0' { b'1' } else { b'0' };
    let file = place.file("wrong.json", bytes);
    let json = place.json(
        1,
        &[
            "validate",
            "md5-q9/v0",
            "--device",
            "cpu",
            "--vectors",
            &file,
            "--json",
        ],
    );
    assert_eq!(json["ok"], false);
    assert_eq!(json["results"][0]["mismatches"], 1);
    assert_eq!(json["results"][0]["first_bad_layer"], "q61");
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
fn what_is_no_record_is_told_from_one_that_was_changed() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    place.file("odd/manifest.json", "{");
    let said = refused(&place, 2, &["check", "nowhere"], &["nowhere", "manifest.json"]);
    assert_eq!(
        said.stderr.matches("os error").count(),
        1,
        "told twice: {}",
        said.stderr
    );
    refused(&place, 2, &["check", "empty"], &["empty", "manifest.json"]);
    let said = place.assay(&["check", "odd"]);
    assert!(
        [1, 2].contains(&said.code) && said.stderr.contains("manifest.json"),
        "{}",
        said.stderr
    );
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

#[test]
fn a_prefix_that_is_no_plain_file_is_refused_before_it_is_read() {
    let place = Place::new();
    for path in ["/dev/zero", "."] {
        let arguments = ["search", "--for", "1s", "--device", "cpu", "--prefix", path];
        refused(&place, 2, &arguments, &["--prefix", path, "plain file"]);
    }
}
