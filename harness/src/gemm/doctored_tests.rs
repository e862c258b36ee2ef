//! Products by broken CUDA text on the emulated device: none is confirmed, and none leaves a file.

use std::path::Path;
use std::sync::Arc;

use assay_kernels::family::family;
use assay_kernels::multiply::{Dense, Order, Product};

use super::multiply::Precision;
use super::run::{Request, Target, run};
use crate::device::Emulated;
use crate::exit;
use crate::output::Existing;
use crate::progress::Progress;
use crate::select::Selected;
use crate::validate::Doctored;

/// A product of 7 x 40 by 40 x 8, of which every element is looked at, with `change` in the text of `name`; its exit code, what
/// is said, and whether there is a file.
fn product(name: &str, change: Option<(&'static str, &'static str)>) -> (u8, String, bool) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../variants/crt-gemm/{name}.toml"));
    let family = family("crt-gemm").unwrap();
    let variant = family
        .variant(name, &std::fs::read_to_string(file).unwrap())
        .unwrap();
    let selected = Selected {
        family,
        variant: Arc::new(Doctored {
            variant,
            kind: "",
            change,
        }),
    };
    let dense = |rows: usize, cols: usize| {
        let value = |place: usize| ((place * 37 + 11) % 101) as f64 / 7.0 - 6.0;
        Dense::new(rows, cols, Order::Columns, (0..rows * cols).map(value).collect()).unwrap()
    };
    let request = Request {
        product: Product::new(dense(7, 40), dense(40, 8)).unwrap(),
        precision: Precision::AsNeeded,
        alpha: 1.0,
        addition: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let target = Target {
        path: &folder.path().join("C.npy"),
        existing: Existing::Kept,
    };
    let device = Emulated::new().expect("the tests need a C++ compiler");
    let bar = Progress::silent().line("test");
    let done = run(&selected, &device, request, &target, &bar);
    let (code, said) = match done {
        Ok(done) => (0, format!("{:?}", done.unwrap().sample)),
        Err(error) => (exit::code(&error), error.to_string()),
    };
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    (code, said, left > 0)
}

#[test]
fn the_unbroken_text_is_confirmed_and_leaves_its_file() {
    for name in ["moduli-naive", "moduli-cublas", "native-dgemm"] {
        let (code, said, file) = product(name, None);
        assert!(
            code == 0 && file && said.contains("elements: 56"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_broken_text_is_not_confirmed_and_leaves_no_file() {
    let place = "double *const at = c + (u64)row * m.c_stride + col;";
    let one_bit = "if (row == 5 && col == 4) out[2] = __longlong_as_double(__double_as_longlong(out[2]) ^ 1); \
                   double *const at = c + (u64)row * m.c_stride + col;";
    for (from, to, word) in [
        // One bit of one element.
        (place, one_bit, "C[5, 6]"),
        (
            "i < theorem.count ? *(const u32 *)next",
            "i + 1 < theorem.count ? *(const u32 *)next",
            "C[0, 0]",
        ),
        // Exponents that are too large for the moduli, and that are no exponents at all.
        (
            "exponents[line] = exponent;",
            "exponents[line] = exponent + 60;",
            "do not fit",
        ),
        (
            "exponents[line] = exponent;",
            "exponents[line] = exponent ^ (i32)(line == 3) << 31;",
            "the scaling of row 3",
        ),
        // A product that the device refuses.
        ("if (!finite) atomicOr", "if (true) atomicOr", "status 1"),
    ] {
        let (code, said, file) = product("moduli-naive", Some((from, to)));
        assert!(code == 1 && said.contains(word), "{to}: {code}, {said}");
        assert!(!file, "{to}");
    }
}
