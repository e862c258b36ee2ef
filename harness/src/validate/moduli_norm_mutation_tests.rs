//! Broken CUDA text of the norms of blocks on the emulated device: each fault must be found, and at the layer where it happens.

use super::crt_gemm_mutation_tests::{caught_in, outcome};

#[test]
fn a_norm_that_is_not_rounded_up_or_of_other_values_is_caught_at_the_magnitudes() {
    let caught = |kind, from, to| caught_in("moduli-naive-norms", kind, "magnitude", from, to);
    // Of a value, of a root, of a byte.
    for (from, to) in [
        (
            "__fma_ru(magnitudes[i], power, 0x1p52)",
            "-__fma_ru(-magnitudes[i], power, -0x1p52)",
        ),
        ("return root + (root * root < sum);", "return root;"),
        ("(root + ((1u << down) - 1)) >> down", "root >> down"),
    ] {
        caught("layers: random", from, to);
        caught("production build: random", from, to);
    }
    // Of a whole number.
    caught(
        "layers: edge values",
        "return root + (root * root < sum);",
        "return root + 1;",
    );
    // Of a block below the least value with a leading one.
    caught(
        "layers: edge values",
        "if (BITS - top > LARGEST_POWER)",
        "if (false)",
    );
    // The edges of blocks: one value off, one block off, a last block that is short and left out or filled.
    for (from, to) in [
        ("const u32 k = run.k + i;", "const u32 k = run.k + i + 1;"),
        (
            "const u32 blocks = (m.depth + RUN - 1) / RUN;",
            "const u32 blocks = m.depth / RUN;",
        ),
        ("run.k / RUN] =", "(run.k / RUN ^ 1) % blocks] ="),
        (
            "run.line >= m.lines || run.k >= m.depth",
            "run.line >= m.lines || run.k + RUN > m.depth",
        ),
        (
            "const bool given = run.line < m.lines && k < m.depth;\n        of_run[i] = given ? values[(u64)run.line * m.line_stride + (u64)k *",
            "const bool given = run.line < m.lines && run.k < m.depth;\n        of_run[i] = given ? values[(u64)run.line * m.line_stride + (u64)min(k, m.depth - 1) *",
        ),
    ] {
        caught("layers: random", from, to);
    }
    // The top of the block and that of the line.
    caught(
        "layers: wide",
        "top - norm % (1u << STORED_TOP_BITS) + NORM_BITS",
        "0u + NORM_BITS",
    );
    caught(
        "layers: wide",
        "rounded_up<NORM_BITS>(v, top_of(top), of_run)",
        "rounded_up<NORM_BITS>(v, top_of(top) + 1, of_run)",
    );
    caught(
        "production build: wide",
        "atomicMax(tops + run.line, top)",
        "tops[run.line] = top",
    );
    caught("layers: NaN", "if (!finite) atomicOr", "if (false) atomicOr");
}

#[test]
fn bytes_of_norms_in_the_wrong_place_or_padding_with_poison_are_caught_at_the_magnitudes() {
    for (kind, from, to) in [
        (
            "layers: sizes",
            "line >= m.padded_lines || k >= m.padded_depth",
            "line >= m.lines || k >= m.padded_depth",
        ),
        (
            "layers: sizes",
            "line >= m.padded_lines || k >= m.padded_depth",
            "line >= m.padded_lines || k >= m.depth",
        ),
        (
            "layers: sizes",
            "line < m.lines && k + i < m.depth",
            "line < m.lines && k < m.depth && i == 0",
        ),
        (
            "layers: random",
            "norms[(u64)line * m.line_stride + k + i]",
            "norms[(u64)line * m.line_stride + k]",
        ),
        (
            "layers: random",
            "tops[line]) << i * 8",
            "tops[line]) << (i ^ 1) * 8",
        ),
        (
            "production build: sizes",
            "threadIdx.x / 32;\n    const u32 k",
            "threadIdx.x % 8;\n    const u32 k",
        ),
    ] {
        caught_in("moduli-naive-norms", kind, "magnitude", from, to);
    }
    // What the bytes are multiplied to.
    caught_in(
        "moduli-naive-norms",
        "layers: random",
        "bound",
        "for (u32 k = 0; k < m.padded_depth; ++k)\n        sum += (i32)",
        "for (u32 k = 0; k + 32 < m.padded_depth; ++k)\n        sum += (i32)",
    );
}

#[test]
fn the_largest_k_whose_last_block_is_short_is_right() {
    let row = outcome("moduli-naive-norms", "layers: the largest K", None);
    assert!(row.ok, "{}", row.message);
}
