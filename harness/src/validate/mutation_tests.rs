//! Broken CUDA text of md5-q9 on the emulated device: `validate` must find it and name the right layer.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use assay_kernels::family::family;
use assay_kernels::md5_q9::{Md5Variant, Mutation, Phase};

use super::doctored::{self, PLAN, emulated, validated, validated_together};
use super::run::overflow_is_rejected;
use crate::select::Selected;

fn variant(name: &str) -> Md5Variant {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../variants/md5-q9/{name}.toml"));
    // A planted hit costs all slots of a block's threads, which the host's processor computes one after the other.
    let text = std::fs::read_to_string(file)
        .unwrap()
        .replace("inner = 32", "inner = 8");
    Md5Variant::parse(name, &text).unwrap()
}

fn selected(
    variant: Md5Variant,
    kind: &'static str,
    change: Option<(&'static str, &'static str)>,
) -> Selected {
    doctored::selected(family("md5-q9").unwrap(), Arc::new(variant), kind, change)
}

/// Breaks the printed text and reads which layer the first trace check names.
fn printed(name: &str, mutations: &[Mutation]) {
    let variant = variant(name);
    let mut layers = BTreeSet::new();
    for &mutation in mutations {
        let expected = variant.first_broken_layer(mutation);
        let row = validated(selected(variant.broken(mutation), "trace", None));
        assert!(!row.ok, "{name} {mutation:?} is not caught");
        assert_eq!(
            row.first_bad_layer, expected,
            "{name} {mutation:?}: {}",
            row.message
        );
        layers.insert(expected);
    }
    assert!(
        layers.len() > mutations.len() / 2,
        "{name}: the mutants lie close together"
    );
}

fn candidates(places: &[usize]) -> Vec<Mutation> {
    places
        .iter()
        .map(|&n| Mutation::Operation(Phase::Candidate, n))
        .collect()
}

#[test]
fn broken_operations_of_the_printed_interleaved_tunnel_are_caught_at_their_step() {
    // The later ones exist only where two candidates are interleaved.
    printed("v4", &candidates(&[1, 9, 40, 117, 260, 390]));
    printed("v9", &candidates(&[9, 700, 900]));
}

#[test]
fn broken_operations_of_the_printed_plain_tunnel_are_caught_at_their_step() {
    printed("v0", &candidates(&[12, 130, 236]));
}

#[test]
fn broken_operations_of_the_printed_orbit_are_caught_at_their_step() {
    let mut mutations = candidates(&[0, 31, 150]);
    mutations.push(Mutation::Operation(Phase::Group, 5));
    mutations.push(Mutation::Operation(Phase::Group, 20));
    mutations.push(Mutation::OrbitStep);
    printed("v5", &mutations);
}

#[test]
fn unbroken_text_passes_the_same_checks() {
    for (name, kind) in [("v4", "trace"), ("v4", "planted"), ("v5", "trace")] {
        let row = validated(selected(variant(name), kind, None));
        assert!(row.ok && row.checked > 1000, "{name} {kind}: {}", row.message);
    }
    let outcome = overflow_is_rejected(&[selected(variant("v4"), "", None)], &emulated(), &PLAN).unwrap();
    assert!(outcome[0].1, "{outcome:?}");
}

/// Changes the hand-written text around the printed functions.
fn caught(name: &str, kind: &'static str, layer: &str, from: &'static str, to: &'static str) {
    let row = validated(selected(variant(name), kind, Some((from, to))));
    assert!(
        !row.ok,
        "{name}: `{to}` for `{from}` is not caught by the {kind} check"
    );
    assert_eq!(
        row.first_bad_layer.as_deref(),
        Some(layer),
        "{name}, `{to}`: {}",
        row.message
    );
}

#[test]
fn an_interleaved_loop_that_drops_its_tail_is_caught() {
    caught(
        "v4",
        "trace",
        "q9",
        "for (; left > 0; --left)",
        "for (; left > 1; --left)",
    );
    caught(
        "v4",
        "planted",
        "hit",
        "for (; left > 0; --left)",
        "for (; left > 1; --left)",
    );
}

#[test]
fn a_block_that_starts_in_the_wrong_place_is_caught() {
    caught("v4", "trace", "q9", "blockIdx.x * blockDim.x", "blockIdx.x * 32");
    caught(
        "v4",
        "planted",
        "hit",
        "blockIdx.x * blockDim.x",
        "blockIdx.x * 32",
    );
}

#[test]
fn a_thread_that_runs_past_the_end_is_caught() {
    caught(
        "v4",
        "trace",
        "q9",
        "slots - begin < inner ? (u32)(slots - begin) : inner",
        "inner",
    );
    caught(
        "v5",
        "trace",
        "q9",
        "slots - begin < inner ? (u32)(slots - begin) : inner",
        "inner",
    );
    caught("v4", "trace", "q9", "if (begin >= slots) return;", "");
}

#[test]
fn an_interleaved_loop_that_advances_by_one_is_caught() {
    caught("v4", "trace", "q9", "q9 += INTERLEAVE;", "q9 += 1;");
}

#[test]
fn an_orbit_whose_second_group_keeps_the_first_groups_m9_is_caught() {
    caught("v5", "trace", "m9", "place.sum - g", "place.sum");
    caught("v5", "planted", "hit", "place.sum - g", "place.sum");
}

#[test]
fn an_orbit_in_the_empty_slot_of_a_short_row_is_caught() {
    caught("v5", "trace", "q9", "if (place.y0 >= ORBITS) continue;", "");
}

#[test]
fn groups_that_part_in_the_wrong_place_are_caught() {
    caught(
        "v5",
        "trace",
        "q9",
        "g == 0 ? place.last + 1",
        "g == 0 ? place.last",
    );
}

#[test]
fn an_orbit_carried_to_the_wrong_place_is_caught() {
    caught("v6", "orbits", "m9", "(1u << 12) + 1u;", "(1u << 12);");
    caught(
        "v6",
        "orbits",
        "q9",
        "place.y0 += 1u << 12;",
        "place.y0 += 1u << 13;",
    );
    caught(
        "v6",
        "orbits",
        "q9",
        "place.high == ORBIT_ROW",
        "place.high > ORBIT_ROW",
    );
    caught("v6", "orbits", "q9", "place.low + 1u, 0u", "place.low, 0u");
    caught("v6", "planted", "hit", "place.low + 1u, 0u", "place.low, 0u");
}

#[test]
fn a_right_variant_is_not_blamed_for_disagreeing_with_a_wrong_one() {
    let change = Some(("place.sum += (1u << 12) + 1u;", "place.sum += 1u << 12;"));
    let both = [
        selected(variant("v6"), "hit set", change),
        selected(variant("v5"), "hit set", None),
    ];
    let results = validated_together(&both);
    let ok: Vec<bool> = results.iter().map(|row| row.ok).collect();
    assert_eq!(ok, [false, true], "{results:?}");
}

#[test]
fn a_merged_test_that_leaves_a_member_out_is_caught() {
    let member = "| passes(base, run, group, z - 2u * ORBIT_STEP)";
    caught("v6", "planted", "hit", member, "");
    let member = "candidates_1(base, run, group, z - 2u * ORBIT_STEP ROW_ARGUMENT(2))";
    caught("v6", "planted", "hit", member, "");
    let tail = "if (passes(base, run, group, z)) candidates_1";
    caught("v6", "planted", "hit", tail, "if (false) candidates_1");
    let exact = "| passes(base, run, group, z - 1u * ORBIT_STEP)";
    caught("v7", "planted", "hit", exact, "");
    caught(
        "v6",
        "orbits",
        "q9",
        "z -= MERGED * ORBIT_STEP;",
        "z -= ORBIT_STEP;",
    );
}

#[test]
fn a_first_test_on_the_fma_pipe_that_is_too_narrow_is_caught() {
    let row = validated(selected(variant("v6"), "planted", None));
    assert!(row.ok, "{}", row.message);
    caught("v6", "planted", "hit", "run.slack <= 63u", "run.slack <= 62u");
    caught(
        "v6",
        "planted",
        "hit",
        "63u - (target | nought)",
        "62u - (target | nought)",
    );
}

#[test]
fn a_wrong_logic_function_and_a_constant_held_wrong_are_caught_at_their_step() {
    caught("v6", "trace", "q25", "row & 4u ? a : ~a", "row & 4u ? ~a : a");
    caught("v6", "trace", "q26", "given.km25 | nought", "given.km25 + 1u");
}

#[test]
fn broken_operations_of_the_printed_orbit_without_constants_are_caught_at_their_step() {
    let mut mutations = candidates(&[12, 40, 63, 110]);
    mutations.push(Mutation::OrbitStep);
    printed("v6", &mutations);
}

#[test]
fn a_record_with_its_words_in_the_wrong_order_is_caught() {
    caught("v4", "planted", "hit", "record[2] = b;", "record[2] = c;");
    caught("v4", "planted", "hit", "record[0] = q9;", "record[0] = q9 + 1u;");
}

#[test]
fn hits_that_are_not_counted_are_caught() {
    caught(
        "v4",
        "planted",
        "hit",
        "#define PASSES(q61) ((q61) == run.target)",
        "#define PASSES(q61) ((q61) == run.target + 1u)",
    );
    caught(
        "v4",
        "hit set",
        "hit",
        "(32 - ASSAY_TEST_BITS)",
        "(31 - ASSAY_TEST_BITS)",
    );
}

#[test]
fn a_hit_buffer_off_by_one_either_way_is_caught_by_the_overflow_check() {
    for to in [
        "if (place <= run.capacity) {",
        "if (place + 1u < run.capacity) {",
        "if (place != 0u && place < run.capacity) {",
    ] {
        let one = selected(variant("v4"), "", Some(("if (place < run.capacity) {", to)));
        let outcome = overflow_is_rejected(&[one], &emulated(), &PLAN).unwrap();
        let (_, rejected, message) = &outcome[0];
        assert!(!rejected, "`{to}` is not caught: {message}");
        assert!(message.contains("hit"), "`{to}`: {message}");
    }
}
