//! Broken CUDA text of crt-gemm on the emulated device: each fault must be found, and at the layer where it happens.

use std::path::Path;

use assay_kernels::family::{family, name_and_size};

use super::doctored::{selected, validated};
use super::report::ResultRow;

/// What `validate` says of a variant by the first check whose name contains `kind`, with `change` in its text.
pub fn outcome(name: &str, kind: &'static str, change: Option<(&'static str, &'static str)>) -> ResultRow {
    let (of_file, _) = name_and_size(name);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../variants/crt-gemm/{of_file}.toml"));
    let family = family("crt-gemm").unwrap();
    let variant = family
        .variant(name, &std::fs::read_to_string(file).unwrap())
        .unwrap();
    validated(selected(family, variant, kind, change))
}

/// A changed text is wrong at `layer` by the check `kind`.
pub fn caught_in(name: &str, kind: &'static str, layer: &str, from: &'static str, to: &'static str) {
    let row = outcome(name, kind, Some((from, to)));
    assert!(!row.ok, "{name}: `{to}` for `{from}` is not caught by {kind}");
    assert_eq!(
        row.first_bad_layer.as_deref(),
        Some(layer),
        "{name}, `{to}`: {}",
        row.message
    );
}

fn caught(kind: &'static str, layer: &str, from: &'static str, to: &'static str) {
    caught_in("naive", kind, layer, from, to);
}

#[test]
fn the_unbroken_text_passes_the_same_checks() {
    for kind in [
        "layers: edge values",
        "layers: K at its bound",
        "layers: values above one",
        "layers: NaN",
        "layers: sizes",
        "layers: a second product",
        "layers: random",
        "production build: edge values",
        "production build: random",
    ] {
        for name in ["naive", "naive-tiles"] {
            let row = outcome(name, kind, None);
            assert!(row.ok && row.checked > 20, "{name}, {kind}: {}", row.message);
        }
    }
}

#[test]
fn elements_of_the_size_that_was_asked_for_are_held_against_the_host() {
    for name in [
        "naive@48",
        "moduli-naive@48",
        "native-dgemm@48",
        "moduli-cublas@48",
    ] {
        let row = outcome(name, "edge 48", None);
        assert!(row.ok && row.checked == 48 * 48, "{name}: {}", row.message);
        assert_eq!(row.checks[0].name, "edge 48, 2304 elements");
    }
    assert_eq!(outcome("naive@80", "edge 80", None).checked, 4096);
    let change = (
        "*status == 0 ? total : refused()",
        "*status == 0 ? row == 7 && col == 9 ? 0 : total : refused()",
    );
    let row = outcome("naive@48", "edge 48", Some(change));
    assert_eq!(row.first_bad_layer.as_deref(), Some("scale"), "{}", row.message);
    assert!(
        row.mismatches == 1 && row.message.contains("C[7, 9]"),
        "{}",
        row.message
    );
}

#[test]
fn slices_cut_in_another_way_are_caught_at_the_split() {
    for (from, to) in [
        ("round(v * 0x1p17)", "(double)(i64)(v * 0x1p17)"),
        (
            "round((v - high * 0x1p-17) * 0x1p34)",
            "round((v - high * 0x1p-17) * 0x1p34 - 0x1p-2)",
        ),
        ("* 0x1p34)", "* 0x1p33)"),
        ("pair[1] = lo", "pair[1] = hi"),
    ] {
        caught("layers: edge values", "split", from, to);
    }
}

#[test]
fn a_missing_fold_of_negative_remainders_is_caught_at_the_residues() {
    let fold = "remainder < 0 ? remainder + (i32)prime : remainder";
    caught("layers: edge values", "residue", fold, "remainder");
    caught(
        "layers: edge values",
        "residue",
        fold,
        "remainder < 0 ? -remainder : remainder",
    );
    // The production build forms residues too: the multiplication reads them.
    caught("production build: edge values", "residue", fold, "remainder");
}

#[test]
fn padding_that_keeps_its_poison_is_caught_at_the_residues() {
    let (from, to) = (
        "i64 hi = 0, lo = 0;",
        "i64 hi = 0, lo = 0; if (line >= m.lines || k >= m.depth) return;",
    );
    caught_in("naive-tiles", "layers: sizes", "residue", from, to);
    caught_in("naive-tiles", "layers: values above one", "residue", from, to);
    caught_in("naive-tiles", "production build: sizes", "residue", from, to);
    // Padding in K alone, and in lines alone.
    for to in [
        "i64 hi = 0, lo = 0; if (k >= m.depth) return;",
        "i64 hi = 0, lo = 0; if (line >= m.lines) return;",
    ] {
        caught_in("naive-tiles", "layers: random", "residue", from, to);
    }
}

#[test]
fn a_tile_read_from_the_wrong_place_is_caught_at_the_accumulators() {
    // The second tile of rows, of columns and of K.
    for (from, to) in [
        (
            "(u64)row * m.padded_depth",
            "(u64)(row >= 128 ? row - 128 : row) * m.padded_depth",
        ),
        (
            "(u64)col * B_LINE(m)",
            "(u64)(col >= 64 ? col - 64 : col) * B_LINE(m)",
        ),
        ("(i32)left[k] *", "(i32)left[k >= 32 ? k - 32 : k] *"),
    ] {
        caught_in("naive-tiles", "layers: random", "accumulator", from, to);
        caught_in("naive-tiles", "layers: values above one", "accumulator", from, to);
    }
}

#[test]
fn a_wrong_offset_between_lines_or_planes_is_caught_where_it_is_written_or_read() {
    caught(
        "layers: values above one",
        "residue",
        "(u64)k * m.out_depth",
        "(u64)k * m.out_depth + (k == 36)",
    );
    caught(
        "layers: sizes",
        "residue",
        "out[(PRIMES + i) * plane]",
        "out[(PRIMES + i) * plane - (plane > 1000)]",
    );
    caught(
        "layers: random",
        "accumulator",
        "(u64)row * m.padded_depth",
        "(u64)(row ^ (row == 64)) * m.padded_depth",
    );
    caught(
        "layers: sizes",
        "split",
        "(u64)line * m.line_stride",
        "(u64)line * m.lines",
    );
}

#[test]
fn a_wrong_tail_of_k_is_caught_at_the_accumulators() {
    caught(
        "layers: random",
        "accumulator",
        "k < m.padded_depth; ++k",
        "k < (m.depth & ~31u); ++k",
    );
    caught(
        "layers: sizes",
        "accumulator",
        "k < m.padded_depth; ++k",
        "k + 1 < m.padded_depth; ++k",
    );
    caught(
        "production build: random",
        "scale",
        "k < m.padded_depth; ++k",
        "k < (m.depth & ~31u); ++k",
    );
}

#[test]
fn unsigned_bytes_or_sums_that_go_on_are_caught_at_the_accumulators() {
    caught(
        "layers: random",
        "accumulator",
        "i32 sum = 0;",
        "i32 sum = combined != 0;",
    );
    caught(
        "layers: random",
        "accumulator",
        "slice_of_a(int pass) { return pass >> 1; }",
        "slice_of_a(int pass) { return pass & 1; }",
    );
}

#[test]
fn a_remainder_by_another_prime_is_caught_at_the_remainders() {
    caught(
        "layers: random",
        "mod",
        "(u32)sum % PRIME(i)",
        "(u32)sum % PRIME(i == 3 ? 2 : i)",
    );
}

#[test]
fn a_dropped_prime_is_caught_at_the_remainder_theorem() {
    caught(
        "layers: random",
        "crt",
        "combined += remainder * CRT_FACTOR(i);",
        "if (i < 6) combined += remainder * CRT_FACTOR(i);",
    );
    caught(
        "production build: random",
        "scale",
        "combined += remainder * CRT_FACTOR(i);",
        "if (i < 6) combined += remainder * CRT_FACTOR(i);",
    );
}

#[test]
fn a_fold_at_the_product_instead_of_its_half_is_caught_at_the_remainder_theorem() {
    caught("layers: edge values", "crt", "x > MODULUS / 2", "x > MODULUS");
    caught(
        "layers: K at its bound",
        "crt",
        "x > MODULUS / 2",
        "x > MODULUS / 2 - 30000000000ull",
    );
}

#[test]
fn a_product_beyond_its_bounds_that_is_not_refused_is_caught() {
    // Formed where it must not be, at the remainder theorem; without the trace, a finite number in the result.
    caught("layers: K at its bound", "crt", "if (*status == 0) sums", "sums");
    caught(
        "production build: K at its bound",
        "scale",
        "*status == 0 ? total : refused()",
        "total",
    );
    caught(
        "layers: values above one",
        "crt",
        "fabs(v) <= 1.0",
        "fabs(v) <= 300.0",
    );
    caught(
        "production build: NaN",
        "crt",
        "!(fabs(v) <= 1.0)",
        "fabs(v) > 1.0",
    );
}

#[test]
fn swapped_scales_of_passes_are_caught_at_the_scale() {
    caught(
        "layers: edge values",
        "scale",
        "pass == 3 ? 0x1p-68 : 0x1p-51",
        "pass == 1 ? 0x1p-68 : 0x1p-51",
    );
    caught(
        "layers: edge values",
        "scale",
        "pass == 0 ? 0x1p-34",
        "pass == 3 ? 0x1p-34",
    );
}

#[test]
fn a_stale_c_is_caught_at_the_scale() {
    let (from, to) = (
        "double total = 0.0;",
        "double total = c[(u64)row * m.c_stride + col];",
    );
    // C holds a NaN before the first product, and a finite number before the second.
    caught("layers: edge values", "scale", from, to);
    let to = "double total = c[(u64)row * m.c_stride + col]; if (total != total) total = 0.0;";
    caught("layers: a second product", "scale", from, to);
    caught("production build: a second product", "scale", from, to);
}

#[test]
fn a_row_written_into_the_gap_behind_another_is_caught_at_the_scale() {
    caught(
        "layers: sizes",
        "scale",
        "c[(u64)row * m.c_stride + col] =",
        "c[(u64)row * m.cols + col] =",
    );
}
