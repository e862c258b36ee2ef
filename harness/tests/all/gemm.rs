//! `assay gemm`: products of a user's own matrices, on a machine without a card.

use assay_kernels::crt_gemm::exact::{Dyadic, dot};
use serde_json::Value;

use crate::npy::{Matrix, bytes, npy, read};
use crate::program::Place;

/// Multiplies A.npy by B.npy in `place` with further arguments; the document and C.
fn multiplied(place: &Place, further: &[&str]) -> (Value, Matrix) {
    let base = [
        "gemm", "A.npy", "B.npy", "-o", "C.npy", "--force", "--device", "emulated", "--json",
    ];
    let json = place.json(0, &[&base[..], further].concat());
    let c = read(&place.path("C.npy"));
    assert_eq!(
        (&json["rows"], &json["cols"]),
        (&Value::from(c.rows), &Value::from(c.cols))
    );
    (json, c)
}

fn place_with(a: &Matrix, b: &Matrix) -> Place {
    let place = Place::new();
    place.file("A.npy", a.file());
    place.file("B.npy", b.file());
    place
}

/// The exact element (r, c) of a product.
fn exact(a: &Matrix, b: &Matrix, r: usize, c: usize) -> Dyadic {
    let row: Vec<f64> = (0..a.cols).map(|k| a.at(r, k)).collect();
    let column: Vec<f64> = (0..b.rows).map(|k| b.at(k, c)).collect();
    dot(&row, &column).unwrap()
}

/// Every element of `c` is within the printed bound of `expected`.
fn assert_within(json: &Value, c: &Matrix, expected: impl Fn(usize, usize) -> Dyadic) {
    let largest = json["error_bound"]["largest"].as_f64().unwrap();
    for (r, col) in (0..c.rows).flat_map(|r| (0..c.cols).map(move |col| (r, col))) {
        let error = (&Dyadic::of(c.at(r, col)).unwrap() - &expected(r, col)).abs();
        assert!(
            error <= Dyadic::of(largest).unwrap(),
            "C[{r}, {col}] is off by {:e}, the bound is {largest:e}",
            error.to_f64()
        );
    }
}

#[test]
fn both_orders_and_transposes_give_the_same_product_within_its_bound() {
    let (a, b) = (Matrix::seeded(13, 37, 1), Matrix::seeded(37, 9, 2));
    let place = place_with(&a, &b);
    let (json, c) = multiplied(&place, &[]);
    assert_eq!((c.rows, c.cols), (13, 9));
    assert_eq!(
        (&json["schema"], &json["ok"], &json["moduli"], &json["depth"]),
        (&1.into(), &true.into(), &15.into(), &37.into())
    );
    assert_within(&json, &c, |r, col| exact(&a, &b, r, col));
    // 53 bits of K = 37: not much is lost beside the rounding.
    assert!(json["error_bound"]["largest"].as_f64().unwrap() < 4e-15, "{json}");
    let bound = json["error_bound"].clone();
    let first = std::fs::read(place.path("C.npy")).unwrap();
    for (left, right, flags) in [
        (a.fortran_file(), b.fortran_file(), &[][..]),
        (a.fortran_file(), b.file(), &[]),
        (a.file(), b.fortran_file(), &[]),
        (a.transposed().file(), b.file(), &["--transpose-a"]),
        (
            a.transposed().fortran_file(),
            b.transposed().file(),
            &["--transpose-a", "--transpose-b"],
        ),
        // Once more the same.
        (a.file(), b.file(), &[]),
    ] {
        place.file("A.npy", left);
        place.file("B.npy", right);
        let (json, _) = multiplied(&place, flags);
        assert_eq!(std::fs::read(place.path("C.npy")).unwrap(), first, "{flags:?}");
        assert_eq!(json["error_bound"], bound, "{flags:?}");
    }
}

#[test]
fn every_scheme_that_multiplies_stays_within_its_bound() {
    let (a, b) = (Matrix::seeded(5, 20, 3), Matrix::seeded(20, 17, 4));
    let place = place_with(&a, &b);
    for name in [
        "moduli-naive-fast",
        "moduli-naive-blocks",
        "moduli-naive-norms",
        "moduli-cublas",
        "native-dgemm",
    ] {
        let variant = format!("crt-gemm/{name}");
        let (json, c) = multiplied(&place, &["--variant", &variant]);
        assert_eq!(json["variant"], variant.as_str());
        assert_eq!(json["moduli"].is_null(), name == "native-dgemm");
        assert_within(&json, &c, |r, col| exact(&a, &b, r, col));
    }
}

#[test]
fn of_the_librarys_emulation_no_bound_is_claimed() {
    let place = place_with(&Matrix::seeded(5, 20, 3), &Matrix::seeded(20, 17, 4));
    let (json, _) = multiplied(&place, &["--variant", "cublas-fixed-point", "--bits", "40"]);
    let bound = &json["error_bound"];
    assert!(
        bound["largest"].is_null() && bound["relative"].is_null(),
        "{json}"
    );
    assert_eq!((&bound["unbounded"], &bound["exact"]), (&85.into(), &0.into()));
}

#[test]
fn bits_choose_the_moduli_and_with_them_the_error() {
    let (a, b) = (Matrix::seeded(6, 50, 5), Matrix::seeded(50, 6, 6));
    let place = place_with(&a, &b);
    let bounds: Vec<f64> = ["26", "36", "72"]
        .iter()
        .map(|bits| {
            let (json, c) = multiplied(&place, &["--bits", bits]);
            assert_within(&json, &c, |r, col| exact(&a, &b, r, col));
            json["error_bound"]["largest"].as_f64().unwrap()
        })
        .collect();
    assert!(
        bounds[0] > 1e-9 && bounds[1] < 1e-9 && bounds[2] < 1e-15,
        "{bounds:?}"
    );
}

#[test]
fn whole_numbers_are_exact_and_said_to_be() {
    let a = Matrix::from_fn(7, 31, |r, c| (r * 31 + c) as f64 - 100.0);
    let b = Matrix::from_fn(31, 5, |r, c| (r as f64 - 15.0) * (c as f64 - 2.0) / 4.0);
    let c0 = Matrix::from_fn(7, 5, |r, c| (r * c) as f64);
    let place = place_with(&a, &b);
    place.file("C0.npy", c0.fortran_file());
    let (json, c) = multiplied(&place, &["--alpha", "-2", "--beta", "3", "--add", "C0.npy"]);
    assert_eq!(json["error_bound"]["largest"], 0.0);
    assert_eq!(json["error_bound"]["exact"], 35);
    assert_eq!((&json["alpha"], &json["beta"]), (&(-2.0).into(), &3.0.into()));
    for (r, col) in (0..7).flat_map(|r| (0..5).map(move |col| (r, col))) {
        let sum = exact(&a, &b, r, col).to_f64();
        assert_eq!(c.at(r, col), -2.0 * sum + 3.0 * c0.at(r, col));
    }
}

#[test]
fn alpha_and_beta_round_as_documented_within_the_bound() {
    let (a, b, c0) = (
        Matrix::seeded(4, 12, 7),
        Matrix::seeded(12, 4, 8),
        Matrix::seeded(4, 4, 9),
    );
    let place = place_with(&a, &b);
    place.file("C0.npy", c0.file());
    let (_, product) = multiplied(&place, &[]);
    let (json, c) = multiplied(&place, &["--alpha", "0.3", "--beta", "-1.7", "--add", "C0.npy"]);
    let expected = Matrix::from_fn(4, 4, |r, col| 0.3 * product.at(r, col) + -1.7 * c0.at(r, col));
    assert_eq!(c, expected);
    let of = |v: f64| Dyadic::of(v).unwrap();
    assert_within(&json, &c, |r, col| {
        &(&of(0.3) * &exact(&a, &b, r, col)) + &(&of(-1.7) * &of(c0.at(r, col)))
    });
}

#[test]
fn with_a_beta_of_zero_nothing_is_read() {
    let (a, b) = (Matrix::seeded(3, 4, 10), Matrix::seeded(4, 2, 11));
    let place = place_with(&a, &b);
    let (_, product) = multiplied(&place, &[]);
    let nan = Matrix::from_fn(3, 2, |_, _| f64::NAN);
    place.file("C0.npy", nan.file());
    for file in ["C0.npy", "nowhere.npy"] {
        for beta in ["0", "-0.0"] {
            let (_, c) = multiplied(&place, &["--beta", beta, "--add", file]);
            assert_eq!(c, product);
        }
    }
    let said = place.assay(&[
        "gemm", "A.npy", "B.npy", "-o", "D.npy", "--beta", "1", "--add", "C0.npy",
    ]);
    assert_eq!(said.code, 2);
    assert!(
        said.stderr
            .contains("C0.npy: the value in row 0, column 0 is NaN"),
        "{}",
        said.stderr
    );
}

#[test]
fn empty_sizes_give_zeros_or_an_empty_file() {
    for (rows, depth, cols) in [(3, 0, 4), (0, 5, 4), (3, 5, 0), (0, 0, 0)] {
        let place = place_with(&Matrix::seeded(rows, depth, 1), &Matrix::seeded(depth, cols, 1));
        for variant in ["moduli-naive", "native-dgemm"] {
            let (json, c) = multiplied(&place, &["--variant", variant]);
            assert_eq!(
                c,
                Matrix::from_fn(rows, cols, |_, _| 0.0),
                "{rows} {depth} {cols}"
            );
            assert_eq!(json["sample"]["elements"], rows * cols);
        }
        let said = place.assay(&["gemm", "A.npy", "B.npy", "-o", "D.npy", "--device", "emulated"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
}

#[test]
fn subnormals_are_kept_and_what_overflows_is_infinite() {
    let tiny = f64::from_bits(3);
    let a = Matrix::from_fn(3, 2, |r, c| {
        [[tiny, tiny], [f64::MAX, f64::MAX], [-f64::MAX, 1.0]][r][c]
    });
    let b = Matrix::from_fn(2, 2, |r, c| [[1.0, 0.5], [2.0, 0.25]][r][c]);
    let place = place_with(&a, &b);
    let (json, c) = multiplied(&place, &["--bits", "72"]);
    let expected = Matrix::from_fn(3, 2, |r, col| exact(&a, &b, r, col).to_f64());
    assert_eq!(c, expected);
    assert_eq!(
        c.values[..4],
        [
            f64::from_bits(9),
            f64::from_bits(2),
            f64::INFINITY,
            f64::MAX * 0.75
        ]
    );
    // The infinite one, and its row, whose sum of magnitudes is beyond the largest double.
    assert!(
        (1..=3).contains(&json["error_bound"]["unbounded"].as_u64().unwrap()),
        "{json}"
    );
    assert!(json["error_bound"]["largest"].is_number());
}

#[test]
fn what_underflows_needs_no_more_moduli_and_is_told_as_it_is() {
    let (p, q) = (2f64.powi(-537), 2f64.powi(-538));
    let a = Matrix::from_fn(1, 2, |_, k| [5.0 * q, 2f64.powi(-738)][k]);
    let place = place_with(&a, &Matrix::from_fn(2, 1, |_, _| p));
    // A little more than 5 2^-1075, which lies between two subnormals: a fifth of it is lost to the one rounding, and no moduli bring
    // it back.
    let (json, c) = multiplied(&place, &[]);
    assert_eq!(c.values, [2.0 * f64::from_bits(1)]);
    assert!(
        json["sample"]["error_to_magnitude"].as_f64().unwrap() > 0.1,
        "{json}"
    );
    // All of it is lost.
    let tiny = Matrix::from_fn(1, 1, |_, _| 2f64.powi(-600));
    let place = place_with(&tiny, &tiny);
    let (json, c) = multiplied(&place, &[]);
    assert_eq!(
        (c.values[0], &json["sample"]["error_to_magnitude"]),
        (0.0, &1.0.into())
    );
    assert!(json["sample"]["error"].as_f64().unwrap() > 0.0, "{json}");
}

#[test]
fn overflow_on_the_way_is_the_librarys_own_and_counted() {
    let a = Matrix::from_fn(1, 2, |_, k| [1e200, -1e200][k]);
    let place = place_with(&a, &Matrix::from_fn(2, 1, |_, _| 1e200));
    let (json, c) = multiplied(&place, &["--variant", "crt-gemm/native-dgemm"]);
    assert!(c.values[0].is_nan(), "{c:?}");
    assert_eq!(
        (&json["error_bound"]["unbounded"], &json["sample"]["beyond"]),
        (&1.into(), &1.into())
    );
    // The scheme adds whole numbers: nothing overflows.
    assert_eq!(multiplied(&place, &[]).1.values, [0.0]);
}

#[test]
fn factors_are_taken_however_a_number_is_written() {
    let one = Matrix::from_fn(1, 1, |_, _| 1.0);
    let place = place_with(&one, &one);
    for (alpha, value) in [("-1e-5", -1e-5), ("-.5", -0.5), ("-0", 0.0), ("+2.5E1", 25.0)] {
        let (json, c) = multiplied(&place, &["--alpha", alpha]);
        assert_eq!(
            (c.values[0].abs(), json["alpha"].as_f64()),
            (f64::abs(value), Some(value)),
            "{alpha}"
        );
    }
    let refused = place.assay(&["gemm", "A.npy", "B.npy", "-o", "C.npy", "--alpha", "-x"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("`-x` is not a finite number"),
        "{}",
        refused.stderr
    );
}

#[test]
fn single_precision_and_the_other_byte_order_are_the_same_numbers() {
    let a = Matrix::from_fn(3, 4, |r, c| f64::from((r as f32 + 0.1) * (c as f32 - 1.3)));
    let b = Matrix::seeded(4, 3, 12);
    let place = place_with(&a, &b);
    let (_, product) = multiplied(&place, &[]);
    let single: Vec<u8> = a.values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
    let single_big: Vec<u8> = a.values.iter().flat_map(|v| (*v as f32).to_be_bytes()).collect();
    let big: Vec<u8> = a.values.iter().flat_map(|v| v.to_be_bytes()).collect();
    for (descr, data) in [
        ("<f4", single),
        (">f4", single_big),
        (">f8", big),
        ("<f8", bytes(&a.values)),
    ] {
        place.file("A.npy", npy(descr, false, &a.shape(), &data));
        assert_eq!(multiplied(&place, &[]).1, product, "{descr}");
    }
}

#[test]
fn the_screen_and_the_help_explain_themselves() {
    let place = place_with(&Matrix::seeded(3, 4, 1), &Matrix::seeded(4, 2, 1));
    let said = place.assay(&["gemm", "A.npy", "B.npy", "-o", "C.npy", "--device", "emulated"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for words in [
        "crt-gemm/moduli-naive on emulated: 3 x 4 by 4 x 2, 14 moduli for 53 bits",
        "- largest bound: no element is further from the exact one",
        "6 seeded elements of A B were computed anew",
        "C.npy: 3 x 2 doubles",
    ] {
        assert!(said.stdout.contains(words), "no `{words}` in {}", said.stdout);
    }
    let help = place.assay(&["gemm", "--help"]);
    assert_eq!(help.code, 0);
    for words in [
        "Usage: assay gemm [OPTIONS] --output <C.npy> <A.npy> <B.npy>",
        "--transpose-a",
        "assay gemm A.npy B.npy -o C.npy --alpha -1 --beta 0.5 --add C0.npy",
        "Fortran order",
    ] {
        assert!(help.stdout.contains(words), "no `{words}` in {}", help.stdout);
    }
    assert!(place.assay(&["man", "gemm"]).stdout.contains("transpose"));
    assert!(
        place
            .assay(&["completions", "bash"])
            .stdout
            .contains("transpose-b")
    );
    assert!(!place.path("runs").exists(), "it leaves no record");
}
