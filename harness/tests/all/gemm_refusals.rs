//! What `assay gemm` cannot multiply is refused by one sentence, and leaves no file.

use std::fs::File;

use crate::npy::{Matrix, bytes, npy, with_header};
use crate::program::Place;

/// A folder with A.npy of 3 x 4 and B.npy of 4 x 2.
fn place() -> Place {
    let place = Place::new();
    place.file("A.npy", Matrix::seeded(3, 4, 1).file());
    place.file("B.npy", Matrix::seeded(4, 2, 2).file());
    place
}

/// Calls the program in `place` with what it must refuse: one line on stderr with every one of `words`, and no C.npy.
fn refused(place: &Place, code: i32, further: &[&str], words: &[&str]) {
    let base = ["gemm", "A.npy", "B.npy", "-o", "C.npy"];
    let said = place.assay(&[&base[..], further].concat());
    assert_eq!(said.code, code, "{further:?}: {}", said.stderr);
    for word in words {
        assert!(
            said.stderr.contains(word),
            "{further:?}: no `{word}` in: {}",
            said.stderr
        );
    }
    assert_eq!(said.stdout, "", "{further:?}");
    assert!(!place.path("C.npy").exists(), "{further:?}");
    assert!(
        !place.path(".").read_dir().unwrap().any(|entry| entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".tmp")),
        "{further:?}"
    );
}

#[test]
fn files_that_hold_no_matrix_of_numbers_are_named() {
    let ones = bytes(&[1.0; 12]);
    let long = format!("{{{}'x': 1}}", " ".repeat(20_000));
    let nested = "(".repeat(9_000);
    let version = |version: u8| {
        let mut file = npy("<f8", false, "(3, 4)", &ones);
        file[6] = version;
        file
    };
    for (file, words) in [
        (b"".to_vec(), &["no .npy file"][..]),
        (b"PK\x03\x04 and more bytes".to_vec(), &["no .npy file"]),
        (b"\x93NUMPY\x01\x00\x76".to_vec(), &["no .npy file"]),
        (
            b"\x93NUMPY\x01\x00\x76\x00{".to_vec(),
            &["ends in its header", "118"],
        ),
        (version(9), &["header"]),
        (npy("<f8", false, "(12,)", &ones), &["(12,)", "two dimensions"]),
        (
            npy("<f8", false, "(3, 2, 2)", &ones),
            &["(3, 2, 2)", "two dimensions"],
        ),
        (npy("<f8", false, "()", &ones[..8]), &["()", "two dimensions"]),
        (npy("<i8", false, "(3, 4)", &ones), &["<i8", "float64"]),
        (npy("<c16", false, "(3, 2)", &ones), &["<c16", "float64"]),
        (npy("|O", false, "(3, 4)", &ones), &["|O", "float64"]),
        (
            with_header(
                "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (3, 4), }",
                &ones,
            ),
            &["'x'", "float64"],
        ),
        (
            with_header("{'descr': '<f8', 'shape': (3, 4)}", &ones),
            &["fortran_order"],
        ),
        (with_header("nonsense", &ones), &["no Python dictionary"]),
        (with_header("[1, 2]", &ones), &["not a dict"]),
        (npy("<f8", false, "(-3, 4)", &ones), &["shape"]),
        (with_header(&long, &ones), &["header", "10000"]),
        (with_header(&nested, &ones), &["opening brackets"]),
        // What would take the reader longer than anybody waits.
        (with_header(&"{".repeat(64), &ones), &["more than one `{`"]),
        (with_header(&"(".repeat(8), &ones), &["no Python dictionary"]),
        (with_header(&"[".repeat(8), &ones), &["no Python dictionary"]),
        (
            with_header(&format!("{{{}", "[".repeat(7)), &ones),
            &["no Python dictionary"],
        ),
        (
            npy("<f8", false, "(3, 4)", &ones[..95]),
            &["3 x 4 values, 96 bytes, and 95 bytes"],
        ),
        (
            npy("<f8", true, "(3, 4)", &[&ones[..], b"x"].concat()),
            &["96 bytes, and 97 bytes"],
        ),
    ] {
        let place = place();
        place.file("A.npy", file);
        refused(&place, 2, &[], &[&["A.npy: "][..], words].concat());
    }
}

#[test]
fn a_header_that_lies_about_its_shape_is_held_against_the_file() {
    let place = place();
    for (shape, words) in [
        (
            "(2147483647, 2147483647)",
            &["36893488113059364872 bytes", "0 bytes follow"][..],
        ),
        ("(2147483648, 1)", &["at most 2147483647"]),
        (
            "(18446744073709551615, 18446744073709551615)",
            &["at most 2147483647"],
        ),
        ("(9223372036854775808, 0)", &["at most 2147483647"]),
        ("(99999999999999999999999, 1)", &["shape"]),
    ] {
        place.file("A.npy", npy("<f8", false, shape, &[]));
        let words = [&["A.npy: "][..], words].concat();
        refused(&place, 2, &[], &words);
    }
    // A file that has so many bytes, none of which is on the disk.
    let header = npy("<f8", false, "(1000000, 1000000)", &[]);
    let path = place.file("A.npy", &header);
    let file = File::options().write(true).open(path).unwrap();
    if file.set_len(header.len() as u64 + 8_000_000_000_000).is_ok() {
        refused(&place, 3, &[], &["A.npy: ", "bytes of memory are needed"]);
    }
}

#[test]
fn a_product_that_no_memory_holds_is_refused_with_its_bytes() {
    let place = place();
    // Both files are empty; C would have 10^12 / 4 elements.
    place.file("A.npy", npy("<f8", false, "(500000, 0)", &[]));
    place.file("B.npy", npy("<f8", false, "(0, 500000)", &[]));
    for (variant, bytes) in [
        ("moduli-naive", 2_250_016_000_004_u64),
        ("native-dgemm", 2_000_000_000_000),
    ] {
        let needs = format!("{variant} needs {bytes} bytes on emulated");
        let words = ["bytes of memory are needed", &needs];
        refused(&place, 3, &["--device", "emulated", "--variant", variant], &words);
    }
    // And more than any launch or number holds.
    place.file("A.npy", npy("<f8", false, "(2147483647, 0)", &[]));
    place.file("B.npy", npy("<f8", false, "(0, 2147483647)", &[]));
    for variant in ["moduli-naive", "native-dgemm"] {
        let words = ["2147483647 x 0 by 0 x 2147483647", "split it"];
        refused(&place, 2, &["--device", "emulated", "--variant", variant], &words);
    }
}

#[test]
fn what_is_not_finite_is_named_by_its_place_in_the_file() {
    for (name, value, word) in [
        ("A.npy", f64::NAN, "NaN"),
        ("A.npy", f64::INFINITY, "inf"),
        ("B.npy", f64::NEG_INFINITY, "-inf"),
    ] {
        for flags in [&[][..], &["--transpose-a", "--transpose-b"]] {
            let place = place();
            let (rows, cols) = if name == "A.npy" { (3, 4) } else { (4, 2) };
            let matrix = Matrix::from_fn(rows, cols, |r, c| if (r, c) == (2, 1) { value } else { 1.0 });
            for file in [matrix.file(), matrix.fortran_file()] {
                place.file(name, file);
                let sentence = format!("{name}: the value in row 2, column 1 is {word}:");
                // Before any device is looked for.
                let device = [flags, &["--device", "cuda:99"]].concat();
                refused(&place, 2, &device, &[&sentence]);
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_both_told() {
    let place = place();
    refused(
        &place,
        2,
        &["--transpose-a"],
        &["A.npy transposed is 4 x 3", "B.npy is 4 x 2", "as many columns"],
    );
    place.file("C0.npy", Matrix::seeded(2, 3, 1).file());
    refused(
        &place,
        2,
        &["--beta", "1", "--add", "C0.npy"],
        &["C0.npy is 2 x 3", "the product is 3 x 2"],
    );
    place.file("A.npy", Matrix::from_fn(1, 133_145, |_, _| 1.0).file());
    place.file("B.npy", Matrix::from_fn(133_145, 1, |_, _| 1.0).file());
    let words = ["crt-gemm/moduli-naive: K = 133145", "133144", "split K"];
    refused(&place, 2, &["--device", "emulated"], &words);
}

#[test]
fn outputs_that_are_there_or_inputs_or_nowhere_are_refused() {
    let place = place();
    let gemm = |output: &str, further: &[&str]| {
        let said = place.assay(&[&["gemm", "A.npy", "B.npy", "-o", output], further].concat());
        (said.code, said.stderr)
    };
    place.file("mine.npy", "mine");
    place.file("C0.npy", Matrix::seeded(3, 2, 1).file());
    std::os::unix::fs::symlink(place.path("A.npy"), place.path("link.npy")).unwrap();
    std::os::unix::fs::symlink(place.path("nothing"), place.path("other-link.npy")).unwrap();
    std::fs::create_dir(place.path("folder")).unwrap();
    for (output, further, word) in [
        (
            "mine.npy",
            &[][..],
            "already exists: name a file that does not exist yet, or use --force",
        ),
        ("A.npy", &[], "it is the input A.npy"),
        ("A.npy", &["--force"], "it is the input A.npy"),
        ("./B.npy", &["--force"], "it is the input B.npy"),
        ("link.npy", &["--force"], "it is the input A.npy"),
        (
            "C0.npy",
            &["--force", "--beta", "1", "--add", "C0.npy"],
            "it is the input C0.npy",
        ),
        ("folder", &["--force"], "it is no plain file"),
        ("other-link.npy", &["--force"], "it is no plain file"),
        ("/dev/null", &["--force"], "it is no plain file"),
        ("nowhere/C.npy", &[], "cannot be written"),
        ("A.npy/C.npy", &[], "cannot be written"),
    ] {
        let (code, said) = gemm(output, &[&["--device", "emulated"], further].concat());
        assert!(
            code == 2 && said.contains(output) && said.contains(word),
            "{output}: {code}, {said}"
        );
    }
    assert_eq!(std::fs::read(place.path("mine.npy")).unwrap(), b"mine");
    assert_eq!(
        std::fs::read(place.path("A.npy")).unwrap(),
        Matrix::seeded(3, 4, 1).file()
    );
    let (code, said) = gemm("mine.npy", &["--device", "emulated", "--force"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(crate::npy::read(&place.path("mine.npy")).rows, 3);
}

#[test]
fn flags_and_variants_that_do_not_apply_are_refused() {
    let place = place();
    for (code, further, words) in [
        (2, &["--alpha", "nan"][..], &["--alpha", "finite"][..]),
        (2, &["--beta", "1"], &["--add"]),
        (2, &["--add", "C0.npy"], &["--beta"]),
        (2, &["--beta", "inf", "--add", "C0.npy"], &["--beta", "finite"]),
        (
            2,
            &["--device", "emulated", "--bits", "25"],
            &["bits = 25", "26 to 72"],
        ),
        (
            2,
            &["--device", "emulated", "--bits", "73"],
            &["bits = 73", "26 to 72"],
        ),
        (
            2,
            &[
                "--device",
                "emulated",
                "--variant",
                "native-dgemm",
                "--bits",
                "20",
            ],
            &["bits = 20", "nothing to choose"],
        ),
        (
            2,
            &["--device", "emulated", "--variant", "md5-q9/v4"],
            &[
                "md5-q9/v4: it multiplies no matrices of doubles",
                "crt-gemm/moduli-naive",
            ],
        ),
        (
            2,
            &["--device", "emulated", "--variant", "crt-gemm/naive"],
            &["crt-gemm/naive: it multiplies no", "crt-gemm/moduli-naive"],
        ),
        (
            2,
            &["--variant", "crt-gemm/moduli-naive@512"],
            &["@512", "use crt-gemm/moduli-naive"],
        ),
        (
            2,
            &["--variant", "crt-gemm"],
            &["--variant crt-gemm", "one variant"],
        ),
        (2, &["--variant", "crt-gemm/none"], &["crt-gemm has"]),
        (3, &["--device", "cpu"], &["no native kernel for cpu", "emulated"]),
        (
            3,
            &["--device", "emulated", "--variant", "moduli-mma"],
            &["moduli-mma cannot run on emulated"],
        ),
        (3, &["--device", "cuda:99"], &["cuda:99"]),
    ] {
        refused(&place, code, further, words);
    }
    std::fs::remove_file(place.path("B.npy")).unwrap();
    refused(&place, 2, &[], &["B.npy: No such file"]);
    std::fs::create_dir(place.path("B.npy")).unwrap();
    refused(&place, 2, &[], &["B.npy: it should be a plain file"]);
}
