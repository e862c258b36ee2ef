//! Variant files that are none, and how the options of one are told.

use super::options::VariantFile;

const NAIVE: &str = include_str!("../../../variants/crt-gemm/naive.toml");

fn refusal(from: &str, to: &str) -> String {
    assert!(NAIVE.contains(from), "{from}");
    VariantFile::parse(&NAIVE.replace(from, to))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_file_that_is_none_is_refused_with_its_key_and_what_is_allowed() {
    assert!(VariantFile::parse(NAIVE).is_ok());
    let refused = refusal("block = 256", "blocks = 256");
    assert!(
        refused.contains("`blocks`") && refused.contains("`block`"),
        "{refused}"
    );
    assert!(
        refusal("\"naive\"", "\"fast\"").contains("expected"),
        "{}",
        refusal("\"naive\"", "\"fast\"")
    );
    assert!(refusal("\"split2\"", "\"split3\"").contains("`split2`"));
    assert_eq!(
        refusal("\"split2\"", "2"),
        "line 4: `scheme`: wanted a word in quotes"
    );
    assert_eq!(
        refusal("block = 256", "block = 48"),
        "key `launch.block`: 48 is not a multiple of 32, the threads of a warp"
    );
    assert_eq!(
        refusal("block = 256", "block = 2048"),
        "key `launch.block`: 2048 is outside 32 to 1024"
    );
    assert!(refusal("block = 256", "").contains("naive needs it"));
    let edge = NAIVE.lines().find(|line| line.starts_with("edge")).unwrap();
    assert_eq!(
        refusal(edge, "edge = 4916"),
        "key `trial.edge`: 4916 is outside 16 to 4915"
    );
}

#[test]
fn the_edge_behind_a_name_takes_the_place_of_the_files() {
    let file = VariantFile::parse(NAIVE).unwrap();
    let at = |edge: &str| file.clone().at(edge);
    assert!(!file.trial.fixed);
    for edge in ["16", "4915"] {
        let trial = at(edge).unwrap().trial;
        assert!(trial.fixed && trial.edge.to_string() == edge);
    }
    for (edge, said) in [
        ("15", "15 is outside"),
        ("4916", "4916 is outside"),
        ("", "`` is outside 16 to 4915"),
        ("+32", "`+32` is outside"),
        ("4294967296", "`4294967296` is outside"),
    ] {
        let refused = at(edge).unwrap_err().to_string();
        assert!(
            refused.starts_with("key `@SIZE`:") && refused.contains(said),
            "{refused}"
        );
    }
}

#[test]
fn bits_are_of_the_schemes_that_cut_and_default_to_theirs() {
    let fixed = include_str!("../../../variants/crt-gemm/cublas-fixed-point.toml");
    let native = include_str!("../../../variants/crt-gemm/native-dgemm.toml");
    assert_eq!(VariantFile::parse(fixed).unwrap().bits(), 55);
    let without = VariantFile::parse(&fixed.replace("bits = 55\n", "")).unwrap();
    assert_eq!(without.bits(), 55);
    assert!(without.described().contains(&("options.bits", "55".to_owned())));
    let with = native.replace("kernel = \"cublas\"", "kernel = \"cublas\"\nbits = 53");
    let refused = VariantFile::parse(&with).unwrap_err().to_string();
    assert_eq!(
        refused,
        "key `options.bits`: `native` has none to choose: it is of `moduli` and `fixed-point`"
    );
}

#[test]
fn options_of_another_scheme_are_refused() {
    let moduli = include_str!("../../../variants/crt-gemm/moduli-naive.toml");
    let refusal = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        VariantFile::parse(&text.replace(from, to))
            .unwrap_err()
            .to_string()
    };
    let mma = include_str!("../../../variants/crt-gemm/moduli-mma.toml");
    for (text, from, to, said) in [
        (
            NAIVE,
            "kernel = \"naive\"",
            "kernel = \"naive\"\nbits = 53",
            "key `options.bits`: `split2` has none",
        ),
        (
            NAIVE,
            "kernel = \"naive\"",
            "kernel = \"naive\"\nbound = \"fast\"",
            "key `options.bound`: `split2` has none",
        ),
        (
            NAIVE,
            "kernel = \"naive\"",
            "kernel = \"naive\"\nresidues = \"least\"",
            "key `options.residues`: naive with `split2` has none",
        ),
        (
            mma,
            "kernel = \"mma\"",
            "kernel = \"mma\"\nresidues = \"least\"",
            "key `options.residues`: mma with `moduli` has none",
        ),
        (
            NAIVE,
            "split2",
            "int8",
            "naive computes `split2` or `moduli` only",
        ),
        (
            moduli,
            "bits = 53",
            "bits = 73",
            "key `options.bits`: 73 is outside 26 to 72",
        ),
        (
            moduli,
            "bits = 53",
            "bits = 25",
            "key `options.bits`: 25 is outside 26 to 72",
        ),
        (
            moduli,
            "\"accurate\"",
            "\"exact\"",
            "`fast`, `accurate`, `blocks`",
        ),
        (
            moduli,
            "layout = \"tiles\"",
            "",
            "key `options.layout`: naive reads `tiles` or `blocks` only, with `moduli`",
        ),
    ] {
        let refused = refusal(text, from, to);
        assert!(refused.contains(said), "{refused}");
    }
    let described = VariantFile::parse(moduli).unwrap().described();
    assert!(described.contains(&("options.bits", "53".to_owned())));
    assert!(described.contains(&("options.bound", "accurate".to_owned())));
}

#[test]
fn the_library_has_nothing_to_choose_of_a_launch() {
    let cublas = include_str!("../../../variants/crt-gemm/moduli-cublas.toml");
    let native = include_str!("../../../variants/crt-gemm/native-dgemm.toml");
    assert!(VariantFile::parse(cublas).is_ok() && VariantFile::parse(native).is_ok());
    let said = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        VariantFile::parse(&text.replace(from, to))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said(cublas, "[trial]", "[launch]\nblock = 256\n[trial]"),
        "key `launch.block`: cublas has none to choose"
    );
    assert!(
        said(cublas, "\"moduli\"", "\"split2\"")
            .contains("cublas computes `moduli` or `native` or `fixed-point` or `int8` only")
    );
    assert_eq!(
        said(native, "kernel =", "layout = \"tiles\"\nkernel ="),
        "key `options.layout`: cublas reads `plain` only, with `native`"
    );
}

#[test]
fn the_options_are_described_as_the_file_spells_them() {
    let described = VariantFile::parse(NAIVE).unwrap().described();
    assert_eq!(
        described[..2],
        [
            ("options.scheme", "split2".to_owned()),
            ("options.kernel", "naive".to_owned())
        ]
    );
}
