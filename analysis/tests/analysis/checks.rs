//! Checks of a validation: what is accepted of them, and the table that they make.

use assay_analysis::{CheckError, RecordWriter, Status, check, checks_table, rows::CheckRow};
use tempfile::tempdir;

use crate::sample;

fn right(variant: &str) -> CheckRow {
    CheckRow {
        variant: variant.into(),
        device: "cuda:0".into(),
        check: "layers: random".into(),
        checked: 100,
        ..CheckRow::default()
    }
    .derived()
}

fn wrong(variant: &str) -> CheckRow {
    CheckRow {
        mismatches: 2,
        first_bad_layer: Some("crt".into()),
        message: Some("layer crt of C[0, 1] is 3, expected 4".into()),
        ..right(variant)
    }
    .derived()
}

/// Checks of all variants of the sample.
fn all() -> Vec<CheckRow> {
    let variants = sample::manifest().variants;
    variants.iter().map(|variant| right(&variant.label)).collect()
}

fn checked(rows: &[CheckRow], status: Status) -> Result<usize, String> {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    writer.write_table(rows).unwrap();
    writer.finish(status).unwrap();
    match check(dir.path()) {
        Ok(report) => Ok(report.check_rows),
        Err(CheckError::Failed(fault)) => Err(fault.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_complete_record_has_checks_of_every_variant_and_all_are_right() {
    let all = all();
    assert!(all.len() > 1);
    assert_eq!(checked(&all, Status::Complete), Ok(all.len()));
    let last = &all[all.len() - 1].variant;
    let but_one = &all[..all.len() - 1];
    assert_eq!(
        checked(but_one, Status::Complete).unwrap_err(),
        format!(
            "checks.csv: has no check of {last}, which is in manifest.json, or none that compared anything"
        )
    );
    let empty = |not_covered| CheckRow {
        checked: 0,
        not_covered,
        ..right(last)
    };
    let with = |row: CheckRow| checked(&[but_one, &[row]].concat(), Status::Complete);
    assert!(
        with(empty(0))
            .unwrap_err()
            .contains("none that compared anything")
    );
    assert_eq!(with(empty(3)), Ok(all.len()));
    assert_eq!(checked(but_one, Status::Aborted), Ok(all.len() - 1));
    let with_wrong = [but_one, &[wrong(last)]].concat();
    let line = all.len() + 1;
    assert_eq!(
        checked(&with_wrong, Status::Complete).unwrap_err(),
        format!("checks.csv, line {line}, column right: is false in a record that says that it is complete")
    );
    assert_eq!(checked(&with_wrong, Status::Failed), Ok(all.len()));
}

#[test]
fn a_row_fits_the_record_and_itself() {
    let label = all()[0].variant.clone();
    for (row, said) in [
        (right("md5-q9/none"), "column variant: is none of the manifest's"),
        (
            CheckRow {
                device: "cuda:7".into(),
                ..right(&label)
            },
            "column device: is none of the manifest's",
        ),
        (
            CheckRow {
                check: String::new(),
                ..right(&label)
            },
            "column check: is nothing",
        ),
        (
            CheckRow {
                first_bad_layer: Some("crt".into()),
                message: Some("what".into()),
                ..right(&label)
            },
            "column first_bad_layer: is given where nothing differs",
        ),
        (
            CheckRow {
                message: None,
                ..wrong(&label)
            },
            "column message: does not go with first_bad_layer",
        ),
        (
            CheckRow {
                right: true,
                first_bad_layer: None,
                message: None,
                ..wrong(&label)
            },
            "column right",
        ),
        (
            CheckRow {
                missing: 1,
                ..right(&label)
            },
            "column right",
        ),
    ] {
        let fault = checked(&[row], Status::Failed).unwrap_err();
        assert!(fault.contains(said), "{fault}");
    }
}

#[test]
fn the_table_says_what_is_wrong() {
    let text = checks_table(&[right("f/a"), wrong("f/b")]).to_string();
    assert!(text.contains("| f/a     | layers: random | right "), "{text}");
    assert!(text.contains("WRONG at crt"), "{text}");
    assert!(
        text.contains("f/b, layers: random: layer crt of C[0, 1] is 3, expected 4"),
        "{text}"
    );
}
