//! Bad files and folders: variants, records, vectors, prefixes. Each is answered by one sentence that names it and what is wrong.

use serde_json::json;

use crate::program::{Place, refused, vectors};

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
fn a_prefix_that_is_no_plain_file_is_refused_before_it_is_read() {
    let place = Place::new();
    for path in ["/dev/zero", "."] {
        let arguments = ["search", "--for", "1s", "--device", "cpu", "--prefix", path];
        refused(&place, 2, &arguments, &["--prefix", path, "plain file"]);
    }
}
