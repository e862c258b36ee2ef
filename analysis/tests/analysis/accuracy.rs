//! What is accepted of a table of accuracies.

use assay_analysis::{CheckError, RecordWriter, Status, check, rows::AccuracyRow};
use tempfile::tempdir;

use crate::sample;

fn right() -> AccuracyRow {
    AccuracyRow {
        variant: "f/v".into(),
        device: "cuda:0".into(),
        edge: 64,
        phi: Some(0.5),
        seed: 3,
        moduli: Some(15),
        samples: 100,
        worst_row: 1,
        worst_col: 2,
        worst_error: 3e-16,
        worst_magnitude: 2.0,
        error_mean: 1e-16,
        relative_max: 2e-13,
        ..AccuracyRow::default()
    }
    .derived()
}

fn checked(row: AccuracyRow) -> Result<usize, String> {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    writer.write_table(&[right(), row]).unwrap();
    writer.finish(Status::Complete).unwrap();
    match check(dir.path()) {
        Ok(report) => Ok(report.accuracy_rows),
        Err(CheckError::Failed(fault)) => Err(fault.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_error_follows_from_the_worst_element_and_is_no_less_than_the_mean() {
    assert_eq!(checked(right()), Ok(2));
    let exact = AccuracyRow {
        worst_error: 0.0,
        worst_magnitude: 0.0,
        error_mean: 0.0,
        relative_max: 0.0,
        ..right()
    };
    assert_eq!(checked(exact.derived()), Ok(2));
    for (row, said) in [
        (
            AccuracyRow {
                error_max: 1.6e-16,
                ..right()
            },
            "line 3, column error_max: is `1.6e-16`, but `1.5e-16` follows",
        ),
        (
            AccuracyRow {
                error_mean: 1.6e-16,
                ..right()
            },
            "line 3, column error_mean: is more than the largest",
        ),
        (
            AccuracyRow {
                worst_error: -3e-16,
                ..right()
            },
            "line 3, column worst_error: is -0.0000000000000003, which is no error",
        ),
    ] {
        let fault = checked(row).unwrap_err();
        assert!(
            fault.starts_with("accuracy.csv") && fault.contains(said),
            "{fault}"
        );
    }
}
