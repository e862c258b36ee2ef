//! `assay accuracy`, and the moduli that `assay gemm` takes where values spread, on a machine without a card.

use serde_json::{Value, json};

use crate::npy::Matrix;
use crate::program::{Place, manifest};

/// One rounding, in which errors are told.
const ROUNDING: f64 = f64::EPSILON / 2.0;

fn row<'j>(json: &'j Value, variant: &str, phi: &Value) -> &'j Value {
    let rows = json["results"].as_array().unwrap();
    rows.iter()
        .find(|row| row["variant"] == format!("crt-gemm/{variant}") && row["phi"] == *phi)
        .unwrap_or_else(|| panic!("no {variant}, {phi} in {json}"))
}

fn error(row: &Value) -> f64 {
    row["error_max"].as_f64().unwrap()
}

const BASE: [&str; 10] = [
    "accuracy",
    "moduli-naive",
    "native-dgemm",
    "--edge",
    "40",
    "--device",
    "emulated",
    "--json",
    "--out",
    "r",
];

#[test]
fn moduli_of_the_file_are_near_where_values_are_and_far_where_they_spread() {
    let place = Place::new();
    let json = place.json(0, &[&BASE[..], &["--phi", "0.5,4"]].concat());
    assert_eq!(json["ok"], true);
    assert_eq!(json["results"].as_array().unwrap().len(), 6);
    for (phi, near) in [(Value::Null, true), (json!(0.5), true), (json!(4.0), false)] {
        let (moduli, native) = (row(&json, "moduli-naive", &phi), row(&json, "native-dgemm", &phi));
        assert_eq!((&moduli["moduli"], &native["moduli"]), (&json!(15), &Value::Null));
        assert_eq!(moduli["samples"], 1600, "all elements");
        assert_eq!(error(moduli) < error(native), near, "{phi}: {moduli} {native}");
        assert!(error(native) < 40.0 * ROUNDING, "K roundings: {native}");
    }
    let said = place.assay(&["check", "r"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let table = std::fs::read_to_string(place.path("r/accuracy.md")).unwrap();
    assert!(
        table.contains("phi 4") && table.contains("to native") && table.contains("uniform"),
        "{table}"
    );
    // The same seed, the same figures.
    let again = place.json(0, &[&BASE[..9], &["again", "--phi", "0.5,4"]].concat());
    assert_eq!(again["results"], json["results"]);
}

#[test]
fn as_many_moduli_as_are_needed_leave_one_rounding_or_are_refused() {
    let place = Place::new();
    let flags = ["--phi", "2,4,20", "--as-needed", "--samples", "500"];
    let json = place.json(0, &[&BASE[..], &flags].concat());
    let mut before = 14;
    for phi in [Value::Null, json!(2.0), json!(4.0)] {
        let row = row(&json, "moduli-naive", &phi);
        let moduli = row["moduli"].as_u64().unwrap();
        assert!(error(row) <= 1.0625 * ROUNDING && moduli > before, "{row}");
        assert_eq!(row["samples"], 500);
        before = moduli;
    }
    let rows = json["results"].as_array().unwrap();
    assert_eq!(rows.len(), 7, "none of moduli at phi 20: {json}");
    let notes = manifest(&place.path("r"))["notes"].to_string();
    assert!(
        notes.contains("edge 40, phi 20: crt-gemm/moduli-naive: with the most bits, 72"),
        "{notes}"
    );
    assert_eq!(place.assay(&["check", "r"]).code, 0);
}

#[test]
fn a_changed_error_is_found_by_the_check() {
    let place = Place::new();
    place.json(0, &[&BASE[..], &["--phi", "1"]].concat());
    let path = place.path("r/accuracy.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let column = header.iter().position(|name| *name == "error_max").unwrap();
    let was = text.lines().nth(1).unwrap().split(',').nth(column).unwrap();
    std::fs::write(&path, text.replace(was, "1e-20")).unwrap();
    let said = place.assay(&["check", "r"]);
    assert!(
        said.code == 1 && said.stderr.contains("accuracy.csv"),
        "{}",
        said.stderr
    );
}

#[test]
fn what_has_no_accuracy_is_refused() {
    let place = Place::new();
    for (arguments, said) in [
        (&["accuracy", "md5-q9"][..], "none of these variants multiplies"),
        (
            &["accuracy", "crt-gemm/naive"],
            "crt-gemm/naive multiplies no matrices of doubles",
        ),
        (
            &["accuracy", "moduli-naive", "--edge", "0"],
            "`0` is not an edge: use 1 to 32768",
        ),
        (
            &["accuracy", "moduli-naive", "--edge", "32769"],
            "`32769` is not an edge",
        ),
        (
            &["accuracy", "moduli-naive", "--phi", "41"],
            "`41` is not a spread: use 0 to 40",
        ),
        (&["accuracy", "moduli-naive", "--phi=-1"], "`-1` is not a spread"),
        (&["accuracy", "moduli-naive", "--phi", "NaN"], "is not a spread"),
        (&["accuracy", "moduli-naive", "--samples", "0"], "--samples"),
    ] {
        let answer = place.assay(arguments);
        assert!(
            answer.code == 2 && answer.stderr.contains(said),
            "{arguments:?}: {}",
            answer.stderr
        );
    }
    assert!(!place.path("runs").exists(), "no record of what never ran");
}

/// A matrix whose values spread over so many powers of two.
fn spread(rows: usize, cols: usize, seed: u64, powers: i32) -> Matrix {
    let mut matrix = Matrix::seeded(rows, cols, seed);
    for (place, value) in matrix.values.iter_mut().enumerate() {
        *value *= 2f64.powi((place as i32 * 37) % powers - powers / 2);
    }
    matrix
}

#[test]
fn gemm_takes_more_moduli_where_values_spread_and_refuses_where_none_suffice() {
    let gemm = |place: &Place, code: i32, further: &[&str]| {
        let base = [
            "gemm", "A.npy", "B.npy", "-o", "C.npy", "--device", "emulated", "--force", "--json",
        ];
        let said = place.assay(&[&base[..], further].concat());
        assert_eq!(said.code, code, "{}", said.stderr);
        said
    };
    let document = |said: &str| -> Value { serde_json::from_str(said).unwrap() };
    let place_of = |powers| {
        let place = Place::new();
        place.file("A.npy", spread(20, 30, 3, powers).file());
        place.file("B.npy", spread(30, 20, 4, powers).file());
        place
    };
    let place = place_of(40);
    let json = document(&gemm(&place, 0, &[]).stdout);
    assert!(
        json["moduli"].as_u64().unwrap() > 15 && json["bits"].as_u64().unwrap() > 53,
        "{json}"
    );
    assert!(
        json["sample"]["error_to_magnitude"].as_f64().unwrap() <= 1.0625 * ROUNDING,
        "{json}"
    );
    // Bits that are asked for are taken as they are.
    let json = document(&gemm(&place, 0, &["--bits", "53"]).stdout);
    assert_eq!((&json["moduli"], &json["bits"]), (&json!(15), &json!(53)));
    assert!(
        json["sample"]["error_to_magnitude"].as_f64().unwrap() > 2.0 * ROUNDING,
        "{json}"
    );
    let place = place_of(400);
    let said = gemm(&place, 2, &[]);
    assert!(
        said.stderr.contains("with the most bits, 72") && said.stderr.contains("--bits 72"),
        "{}",
        said.stderr
    );
    assert!(!place.path("C.npy").exists());
    gemm(&place, 0, &["--bits", "72"]);
}
