//! Broken CUDA text of crt-gemm's scheme of N moduli on the emulated device: each fault must be found, and at the layer where
//! it happens.

use super::crt_gemm_mutation_tests::{caught_in, outcome};

fn caught(kind: &'static str, layer: &str, from: &'static str, to: &'static str) {
    caught_in("moduli-naive", kind, layer, from, to);
}

#[test]
fn the_unbroken_text_passes_the_same_checks() {
    for kind in [
        "layers: edge values",
        "layers: K where",
        "layers: wide",
        "layers: NaN",
        "layers: sizes",
        "layers: a second product",
        "layers: random",
        "production build: edge values",
        "production build: wide",
        "production build: a second product",
        "production build: random",
    ] {
        for name in ["moduli-naive", "moduli-naive-fast", "moduli-naive-norms"] {
            let row = outcome(name, kind, None);
            assert!(row.ok && row.checked > 20, "{name}, {kind}: {}", row.message);
            assert!(row.not_formed.is_empty(), "{name}, {kind}: {:?}", row.not_formed);
        }
    }
}

#[test]
fn sums_cut_to_31_bits_are_caught_by_the_largest_k_alone() {
    let change = Some((
        "(u8)remainder_of((i32)sum, moduli, i)",
        "(u8)remainder_of((i32)(sum << 1) >> 1, moduli, i)",
    ));
    for kind in [
        "layers: random",
        "layers: K where",
        "production build: edge values",
    ] {
        let row = outcome("moduli-naive", kind, change);
        assert!(row.ok, "{kind}: {}", row.message);
    }
    assert!(outcome("moduli-naive", "layers: the largest K", None).ok);
    let row = outcome("moduli-naive", "layers: the largest K", change);
    assert_eq!(row.first_bad_layer.as_deref(), Some("mod"), "{}", row.message);
}

#[test]
fn magnitudes_that_are_not_rounded_up_or_a_wrong_top_are_caught_at_the_magnitudes() {
    caught(
        "layers: random",
        "magnitude",
        "__fma_ru(magnitudes[i], power, 0x1p52)",
        "-__fma_ru(-magnitudes[i], power, -0x1p52)",
    );
    caught(
        "layers: random",
        "magnitude",
        "most / LEAST_ORDINARY + FRACTION + 1",
        "most / LEAST_ORDINARY + FRACTION + 2",
    );
    // Of a line below the least value with a leading one, and of one so small that the power of two is no double.
    for (from, to) in [
        ("64 - __clzll((i64)bits) + 1", "64 - __clzll((i64)bits)"),
        ("if (BITS - top > LARGEST_POWER)", "if (false)"),
        ("top += 128;", "top += 127;"),
    ] {
        caught("layers: edge values", "magnitude", from, to);
    }
    // Of zeros, and of what is not finite.
    for (from, to) in [
        ("bits == 0 ? 0 : ", ""),
        (
            "if (first_word(v[i]) >= INFINITE) v[i] = 0;",
            "if (first_word(v[i]) > INFINITE) v[i] = 0;",
        ),
        ("if (first_word(v[i]) >= INFINITE) v[i] = 0;", "v[i] = 0;"),
    ] {
        caught("layers: NaN", "magnitude", from, to);
    }
    caught(
        "production build: wide",
        "magnitude",
        "atomicMax(tops + run.line, top)",
        "tops[run.line] = top",
    );
}

#[test]
fn a_bound_that_is_too_small_is_caught_at_the_bounds() {
    caught(
        "layers: random",
        "bound",
        "atomicMax(cols + col, (u64)sum);",
        "cols[col] = (u64)sum;",
    );
    caught(
        "layers: random",
        "bound",
        "for (u32 k = 0; k < m.padded_depth; ++k)\n        sum += (i32)",
        "for (u32 k = 0; k + 32 < m.padded_depth; ++k)\n        sum += (i32)",
    );
    caught_in(
        "moduli-naive-fast",
        "layers: random",
        "bound",
        "sum += (u64)of_run[i] * of_run[i]",
        "sum += of_run[i]",
    );
    caught_in(
        "moduli-naive-fast",
        "production build: random",
        "bound",
        "atomicAdd(bounds + run.line, sum)",
        "bounds[run.line] = sum",
    );
}

#[test]
fn an_exponent_one_too_large_or_too_small_is_caught_at_the_exponents() {
    for (from, to) in [
        ("&& u > leading >> (64 - length)) --q;", "&& u == 0) --q;"),
        ("half.bits - length) >> 1;", "half.bits - length) / 2 - 1;"),
        ("i32 exponent = -top;", "i32 exponent = 0;"),
    ] {
        let kind = if to.ends_with("0) --q;") {
            "layers: random"
        } else {
            "layers: NaN"
        };
        caught(kind, "exponent", from, to);
    }
}

#[test]
fn a_value_rounded_in_another_way_is_caught_at_the_split() {
    // Without a leading one.
    for (from, to) in [
        (
            "field == 0 ? fraction : fraction | 1ull << FRACTION",
            "fraction | 1ull << FRACTION",
        ),
        ("(field == 0 ? 1 : field)", "field"),
    ] {
        caught("layers: edge values", "split", from, to);
    }
    // In two words, and where they are not enough.
    for (kind, from, to) in [
        ("layers: wide", "rest + NEAREST(0)", "rest - 0.25 + NEAREST(0)"),
        (
            "layers: wide",
            "left > half || (left == half && (low & 1))",
            "left > half",
        ),
        (
            "layers: wide",
            "left > half || (left == half && (low & 1))",
            "left >= half",
        ),
        (
            "layers: wide",
            "parts.negative ? -integer.word[i]",
            "parts.negative && i < 2 ? -integer.word[i]",
        ),
        ("layers: random", "NEAREST(WORD_BITS) - high", "0.0"),
        (
            "layers: random",
            "power_of_two(exponent)",
            "power_of_two(exponent - 1)",
        ),
    ] {
        caught(kind, "split", from, to);
    }
    for (from, to) in [
        ("left > half || (left == half && (low & 1))", "false"),
        ("high = low >> (64 - shift);", "high = 0;"),
        ("<= TWO_WORDS &&", "<= 90 &&"),
    ] {
        caught("layers: K where", "split", from, to);
    }
    // Lines of the least doubles have a power of two that is no double; what is not finite is none.
    caught(
        "layers: edge values",
        "split",
        " && exponent <= LARGEST_POWER",
        "",
    );
    caught("layers: NaN", "split", "*status == 0 && ", "");
}

#[test]
fn a_missing_sign_or_a_wrong_fold_is_caught_at_the_residues() {
    for kind in ["layers: edge values", "production build: random"] {
        caught(kind, "residue", "^ 0x80808080u", "");
    }
    caught(
        "layers: random",
        "residue",
        "(u32)word + 0x80808080u",
        "(u32)word + 0x00808080u",
    );
    caught(
        "layers: random",
        "residue",
        "moduli.offset[i])",
        "moduli.offset[i] + 1)",
    );
    caught(
        "layers: K where",
        "residue",
        "word < WORDS; ++word) sum = dot_digits",
        "word < 2; ++word) sum = dot_digits",
    );
    caught_in(
        "moduli-naive-blocks",
        "production build: random",
        "residue",
        "moduli.base[i];",
        "moduli.base[i] - 1;",
    );
}

#[test]
fn sums_of_least_residues_that_are_not_folded_are_caught_by_the_largest_k_alone() {
    let change = Some(("if (k % FOLD_DEPTH == 0) sum", "if (false) sum"));
    let of = |kind| outcome("moduli-naive-blocks", kind, change);
    for kind in ["layers: random", "layers: K where"] {
        let row = of(kind);
        assert!(row.ok, "{kind}: {}", row.message);
    }
    let row = of("layers: the largest K");
    assert_eq!(
        row.first_bad_layer.as_deref(),
        Some("accumulator"),
        "{}",
        row.message
    );
    // A sign where there is none.
    let change = Some(("typedef u8 Residue;", "typedef i8 Residue;"));
    let row = outcome("moduli-naive-blocks", "layers: random", change);
    assert_eq!(
        row.first_bad_layer.as_deref(),
        Some("accumulator"),
        "{}",
        row.message
    );
}

#[test]
fn padding_that_keeps_its_poison_is_caught_at_the_residues() {
    for to in [
        "if (!run.exists || run.line >= m.lines) return;\n    const bool given",
        "if (!run.exists || run.k >= m.depth) return;\n    const bool given",
    ] {
        for kind in ["layers: sizes", "production build: sizes"] {
            caught(
                kind,
                "residue",
                "if (!run.exists) return;\n    const bool given",
                to,
            );
        }
    }
    caught(
        "layers: sizes",
        "magnitude",
        "if (!run.exists) return;\n    const i32 top",
        "if (!run.exists || run.line >= m.lines) return;\n    const i32 top",
    );
}

#[test]
fn a_wrong_place_of_a_line_a_plane_or_a_tile_is_caught_where_it_is_read_or_written() {
    caught(
        "layers: sizes",
        "magnitude",
        "(u64)run.line * m.line_stride",
        "(u64)run.line * m.depth",
    );
    caught("layers: sizes", "residue", "out += plane;", "out += plane - RUN;");
    // The second tile of rows, of columns and of K.
    for (from, to) in [
        (
            "left[place_of(m.a_lines, m.padded_depth, row, k)]",
            "left[place_of(m.a_lines, m.padded_depth, row >= 32 ? row - 32 : row, k)]",
        ),
        (
            "right[place_of(m.b_lines, m.padded_depth, col, k)]",
            "right[place_of(m.b_lines, m.padded_depth, col >= 32 ? col - 32 : col, k)]",
        ),
        (
            "left[place_of(m.a_lines, m.padded_depth, row, k)]",
            "left[place_of(m.a_lines, m.padded_depth, row, k >= 32 ? k - 32 : k)]",
        ),
    ] {
        caught("layers: random", "accumulator", from, to);
        caught("production build: random", "mod", from, to);
    }
}

#[test]
fn a_wrong_tail_of_k_is_caught_at_the_accumulators() {
    let (from, to) = (
        "for (u32 k = 0; k < m.padded_depth; ++k) {",
        "for (u32 k = 0; k + 32 < m.padded_depth; ++k) {",
    );
    caught("layers: random", "accumulator", from, to);
    caught("production build: random", "mod", from, to);
}

#[test]
fn a_remainder_that_is_not_folded_into_its_range_is_caught_at_the_remainders() {
    caught(
        "layers: random",
        "mod",
        "return min(rest, rest + moduli.negated[i]);",
        "return rest;",
    );
    caught(
        "layers: random",
        "mod",
        "(u32)sum + moduli.positive[i]",
        "(u32)sum",
    );
}

#[test]
fn a_dropped_modulus_is_caught_at_the_remainder_theorem() {
    let (from, to) = ("i < theorem.count ? *(const", "i + 1 < theorem.count ? *(const");
    caught("layers: random", "crt", from, to);
    caught("production build: random", "scale", from, to);
    // Or where it is multiplied.
    caught(
        "layers: random",
        "residue",
        "for (u32 i = 0; i < moduli.count; ++i)",
        "for (u32 i = 0; i + 1 < moduli.count; ++i)",
    );
}

#[test]
fn a_missing_signed_fold_and_one_at_the_whole_product_are_caught_at_the_remainder_theorem() {
    caught(
        "layers: edge values",
        "crt",
        "const u32 sign = (u32)((i32)x[j][WORDS - 1] >> 31);",
        "const u32 sign = 0;",
    );
    caught("layers: random", "crt", "SLACK + unit / 2;", "SLACK;");
    // Sums so near to half of P that a quotient to 17 bits does not tell.
    for (from, to) in [
        ("if (!subtract(rest, magnitude)) return;", "return;"),
        ("rest[i] = m.half[i];", "rest[i] = m.product[i];"),
        ("rest[i] = m.half[i];", "rest[i] = m.half[i] >> (i == WORDS - 1);"),
        ("negative = (i32)x[WORDS - 1] < 0;", "negative = false;"),
        ("(negative ? m.product[i] : ~m.product[i])", "~m.product[i]"),
        ("% unit < QUOTIENT_SLACK", "% unit < 0"),
    ] {
        caught("layers: K where", "crt", from, to);
    }
}

#[test]
fn a_rounding_that_is_not_the_nearest_even_is_caught_at_the_scale() {
    for (from, to) in [
        ("(double)window.bits", "(double)(window.bits >> 10 << 10)"),
        ("(double)window.bits", "(double)(window.bits | 1)"),
        ("second |= 1;", ";"),
        ("rest > half ||", "rest >= half ||"),
        ("(rest == half && (kept & 1))", "false"),
        (
            "(u32)(window.power + LEADING_BIT - SMALLEST) <= LARGEST - SMALLEST",
            "window.power + LEADING_BIT <= LARGEST",
        ),
        ("bits = 0x7ffull << FRACTION;", "bits = 0;"),
        ("dropped < 64", "dropped < 63"),
        ("negative ? bits | 1ull << 63 : bits", "bits"),
        ("beside_sign(x[j]) == 0 || ", ""),
        ("exponent -= 31;", "exponent -= 32;"),
    ] {
        caught("layers: wide", "scale", from, to);
        caught("production build: wide", "scale", from, to);
    }
    caught(
        "layers: wide",
        "scale",
        "(exists ? col_exponents[col + j] : 0)",
        "col_exponents[col]",
    );
}

#[test]
fn a_product_of_what_is_not_finite_that_is_not_refused_is_caught() {
    caught(
        "layers: NaN",
        "magnitude",
        "if (!finite) atomicOr",
        "if (false) atomicOr",
    );
    let (from, to) = ("*status == 0 ? theorem.words : 0", "theorem.words");
    caught("production build: NaN", "scale", from, to);
    caught("layers: NaN", "crt", from, to);
}

#[test]
fn a_stale_c_is_caught_at_the_scale() {
    let from = "at[j] = out[j];";
    caught("layers: edge values", "scale", from, "at[j] = at[j] + out[j];");
    let to = "at[j] = at[j] != at[j] ? out[j] : at[j] + out[j];";
    caught("layers: a second product", "scale", from, to);
    caught("production build: a second product", "scale", from, to);
}

#[test]
fn a_row_written_into_the_gap_behind_another_is_caught_at_the_scale() {
    caught(
        "layers: sizes",
        "scale",
        "c + (u64)row * m.c_stride + col",
        // Even, as two doubles at a time must start.
        "c + (u64)row * (m.c_stride % 2 == 0 ? m.cols + m.cols % 2 : m.cols) + col",
    );
}

#[test]
fn what_is_made_of_the_librarys_sums_is_caught_where_it_is_wrong() {
    let caught = |kind, layer, from, to| caught_in("moduli-cublas", kind, layer, from, to);
    let row = outcome("moduli-cublas", "layers: sizes", None);
    assert!(row.ok && row.checked > 20, "{}", row.message);
    caught(
        "layers: random",
        "bound",
        "of_col[j] = max(of_col[j], sum);",
        "of_col[j] = sum;",
    );
    caught(
        "production build: random",
        "mod",
        "remainder_of(word_of(four, j), moduli, i)",
        "remainder_of(word_of(four, j ^ 1), moduli, i)",
    );
    caught(
        "layers: sizes",
        "mod",
        "const u32 i = (u32)(index / fours);",
        "const u32 i = (u32)(index % moduli.count);",
    );
}

#[test]
fn a_chunk_in_the_wrong_place_of_a_block_is_caught_at_the_bytes() {
    for (from, to) in [
        ("((k / 16 ^ line) & 7) * 16", "(k / 16 & 7) * 16"),
        (
            "(u64)(k / 128) * padded_lines + line",
            "(u64)line * (padded_depth / 128) + k / 128",
        ),
    ] {
        caught_in("moduli-naive-blocks", "layers: random", "magnitude", from, to);
        caught_in(
            "moduli-naive-blocks",
            "production build: random",
            "magnitude",
            from,
            to,
        );
    }
}
