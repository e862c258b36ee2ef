//! No input makes a table's reader panic, and what is written reads back.

use assay_analysis::{
    Row, check, decode_hex, decode_rows, encode_hex, encode_rows,
    rows::{BaseRow, HitRow, PowerRow, RunRow, SassRow, SummaryRow, ValidationRow},
};
use proptest::prelude::*;

use crate::sample;

/// Reads bytes as a whole table, and as the rows below a right header.
fn read<R: Row>(bytes: &[u8]) {
    let _ = decode_rows::<R>(bytes);
    let mut below_header = encode_rows::<R>(&[]).unwrap();
    below_header.extend(bytes);
    let _ = decode_rows::<R>(&below_header);
}

fn read_all(bytes: &[u8]) {
    read::<BaseRow>(bytes);
    read::<HitRow>(bytes);
    read::<PowerRow>(bytes);
    read::<RunRow>(bytes);
    read::<SassRow>(bytes);
    read::<SummaryRow>(bytes);
    read::<ValidationRow>(bytes);
}

#[test]
fn an_empty_table_is_its_header() {
    assert_eq!(
        decode_rows::<HitRow>(&encode_rows::<HitRow>(&[]).unwrap()).unwrap(),
        []
    );
    let error = decode_rows::<HitRow>(b"").unwrap_err().to_string();
    assert!(
        error.starts_with("hits.csv, line 1: the header should be `trial,variant,base"),
        "{error}"
    );
}

#[test]
fn numbers_keep_the_form_in_which_records_hold_them() {
    // Committed records are checked character by character: a library that formats otherwise must not slip in.
    for (number, text) in [
        (10.0, "10.0"),
        (138_400_000_000.5, "138400000000.5"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (1e-5, "0.00001"),
        (1.5e-7, "1.5e-7"),
        (0.1 + 0.2, "0.30000000000000004"),
    ] {
        let row = PowerRow {
            t_host_s: number,
            ..sample::power().remove(0)
        };
        let table = String::from_utf8(encode_rows(&[row]).unwrap()).unwrap();
        assert_eq!(
            table.lines().nth(1).and_then(|line| line.split(',').nth(1)),
            Some(text)
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn any_manifest_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), json in "[{}\\[\\]:,\"0-9a-z]{0,60}") {
        let dir = tempfile::tempdir().unwrap();
        for text in [bytes, json.clone().into_bytes(), format!("{{\"schema\":1,{json}}}").into_bytes()] {
            std::fs::write(dir.path().join("manifest.json"), text).unwrap();
            prop_assert!(check(dir.path()).is_err());
        }
    }

    #[test]
    fn any_near_miss_is_read_or_refused(text in "[0-9a-fx,.\t\n\"eE+-]{0,200}") {
        read_all(text.as_bytes());
    }

    #[test]
    fn a_changed_table_is_read_or_refused(at in any::<prop::sample::Index>(), byte: u8) {
        let mut text = encode_rows(&sample::runs()).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        let _ = decode_rows::<RunRow>(&text);
    }

    #[test]
    fn a_power_row_reads_back(t_host_s in -1e300..1e300f64, w in proptest::option::of(any::<f32>().prop_filter("finite", |w| w.is_finite())), reasons: u64) {
        let row = PowerRow { t_host_s, power_instant_w: w.map(f64::from), throttle_reasons: Some(assay_analysis::ThrottleSet::from_bits(reasons)), ..sample::power().remove(0) };
        prop_assert_eq!(decode_rows::<PowerRow>(&encode_rows(std::slice::from_ref(&row)).unwrap()).unwrap(), [row]);
    }

    #[test]
    fn a_reason_reads_back(reason in "[ -~é\n]{1,12}") {
        let row = RunRow { reason: Some(reason), ..sample::runs().remove(0) };
        prop_assert_eq!(decode_rows::<RunRow>(&encode_rows(std::slice::from_ref(&row)).unwrap()).unwrap(), [row]);
    }

    #[test]
    fn hex_reads_back(bytes: Vec<u8>, text in "[0-9a-fA-F ]{0,9}") {
        prop_assert_eq!(decode_hex(&encode_hex(&bytes)).unwrap(), bytes);
        if let Ok(bytes) = decode_hex(&text) {
            prop_assert_eq!(encode_hex(bytes), text);
        }
    }
}
