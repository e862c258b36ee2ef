//! Vector files: the project's own one, and damaged ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::execute::{VARIANTS, text, verdict};
use super::variant::Md5Variant;
use crate::family::Variant;
use crate::native::Isa;

const VECTORS: &str = include_str!("../../../harness/tests/vectors/md5_q9.json");

fn variant(name: &str) -> Md5Variant {
    Md5Variant::parse(name, text(name)).unwrap()
}

fn refusal(text: &str) -> String {
    match variant("v5").vector_checks(text) {
        Ok(checks) => panic!("taken, with {} checks", checks.len()),
        Err(error) => error.to_string(),
    }
}

/// The project's file with one value replaced, or taken out.
fn changed(pointer: &str, value: Option<Value>) -> String {
    let mut file: Value = serde_json::from_str(VECTORS).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let object = file.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => object.insert(key.to_owned(), value),
        None => Some(object.remove(key).expect("a key of the file")),
    };
    file.to_string()
}

#[test]
fn tunnels_cover_every_row_and_the_orbit_those_of_its_bases_but_q9_1() {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let (mut rows, mut outside) = (0, 0);
    for base in file["bases"].as_array().unwrap() {
        for candidate in base["candidates"].as_array().unwrap() {
            rows += 1;
            outside += u64::from(base["orbit"] == false || candidate["q9"] == "00000001");
        }
    }
    assert!(outside > 0 && rows > outside);
    for (name, _) in VARIANTS {
        let (mut checked, mut not_covered) = (0, 0);
        for mut check in variant(name).vector_checks(VECTORS).unwrap() {
            let verdict = verdict(check.as_mut(), Isa::best()).unwrap();
            assert!(
                verdict.ok() && verdict.first.is_none(),
                "{name}: {:?}",
                verdict.first
            );
            checked += verdict.checked;
            not_covered += verdict.not_covered;
        }
        let expected = match name {
            "v5" => (rows - outside, outside),
            // No base of this file has K + m = 0 at seven steps.
            "v6" => (0, rows),
            _ => (rows, 0),
        };
        assert_eq!((checked, not_covered), expected, "{name}");
    }
}

#[test]
fn a_wrong_value_in_any_field_of_a_case_is_a_mismatch_there() {
    let mismatch = |name: &str, field: &str, wrong: &str| {
        let text = changed(&format!("/bases/1/candidates/7/{field}"), Some(json!(wrong)));
        let mut check = variant(name).vector_checks(&text).unwrap().remove(1);
        let verdict = verdict(check.as_mut(), Isa::best()).unwrap();
        let layer = verdict.first.map(|difference| difference.layer);
        assert_eq!(
            (verdict.mismatches, layer.as_deref()),
            (1, Some(field)),
            "{name} {field}"
        );
    };
    for field in ["m8", "m9", "m12", "q24", "q25", "q27", "q28", "q61"] {
        mismatch("v0", field, "0badc0de");
        mismatch("v5", field, "0badc0de");
    }
    mismatch("v3", "message", "00");
    mismatch("v3", "digest", "d41d8cd98f00b204e9800998ecf8427e");
}

#[test]
fn refusals_name_the_base_the_case_and_the_field() {
    let case = "bases[0].candidates[2]";
    for (pointer, value, expected) in [
        ("/bases/0/fixed/3", None, "bases[0].fixed.3 is missing"),
        (
            "/bases/0/fixed/3",
            Some(json!("123")),
            "bases[0].fixed.3: `123` is not eight",
        ),
        (
            "/bases/0/fixed/3",
            Some(json!("+1234567")),
            "bases[0].fixed.3: `+1234567` is not eight",
        ),
        (
            "/bases/2/fixed/10",
            Some(json!("00000001")),
            "bases[2].fixed: the tunnel needs 10 = 00000000",
        ),
        ("/bases/1/orbit", Some(json!(false)), "bases[1].orbit is false"),
        ("/bases/0/orbit", Some(json!(true)), "bases[0].orbit is true"),
        ("/bases/0/candidates/2/q9", Some(json!("0000000g")), ".q9"),
        ("/bases/0/candidates/2/q9", Some(json!("0000éé")), ".q9"),
        ("/bases/0/candidates/2/q9", None, "missing field `q9`"),
        ("/bases/0/candidates/2/digest", None, "missing field `digest`"),
        ("/bases/0/candidates/2/m8", Some(json!(17)), ".m8 is not a string"),
        (
            "/bases/0/candidates/2/q99",
            Some(json!("00000000")),
            ".q99 is not m0..m15 or q1..q64",
        ),
        (
            "/bases/0/candidates/2/é",
            Some(json!("00000000")),
            "is not m0..m15 or q1..q64",
        ),
    ] {
        let refusal = refusal(&changed(pointer, value));
        assert!(refusal.contains(expected), "{pointer}: {refusal}");
        assert!(
            !expected.starts_with('.') || refusal.contains(case),
            "{pointer}: {refusal}"
        );
    }
    for other in ["", "{}", "[]", "null", r#"{"bases": 3}"#, "x = ["] {
        assert!(refusal(other).contains("not an md5-q9 vector file"), "{other:?}");
    }
}

#[test]
fn a_file_without_one_case_proves_nothing_and_is_refused() {
    assert!(refusal(r#"{"bases": []}"#).contains("not one case"));
    let mut file: Value = serde_json::from_str(VECTORS).unwrap();
    for base in file["bases"].as_array_mut().unwrap() {
        base["candidates"] = json!([]);
    }
    assert!(refusal(&file.to_string()).contains("not one case"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_text_makes_the_vector_reader_panic(text in "\\PC*") {
        prop_assert!(variant("v5").vector_checks(&text).is_err());
    }

    #[test]
    fn no_damage_to_a_vector_file_makes_its_reader_panic(
        place in 0..VECTORS.len(),
        byte in any::<u8>(),
        cut in proptest::option::of(0..VECTORS.len()),
    ) {
        let mut bytes = VECTORS.as_bytes().to_vec();
        bytes[place] = byte;
        bytes.truncate(cut.unwrap_or(bytes.len()));
        let short = bytes.len() < VECTORS.trim_end().len();
        if let Ok(text) = String::from_utf8(bytes) {
            let taken = variant("v5").vector_checks(&text).is_ok();
            prop_assert!(!(short && taken), "cut at {cut:?}");
        }
    }
}
