//! What is accepted of a table of accuracies.

use assay_analysis::{CheckError, RecordWriter, Status, check, rows::AccuracyRow};
use tempfile::tempdir;

use crate::sample;

fn right() -> AccuracyRow {
    AccuracyRow {
        variant: "md5-q9/v0".into(),
        device: "cuda:0".into(),
        edge: 64,
        phi: Some(0.5),
        seed: 7,
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
    let other = AccuracyRow {
        variant: "md5-q9/v5".into(),
        ..right()
    };
    writer.write_table(&[other, row]).unwrap();
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
                variant: "md5-q9/v5".into(),
                ..right()
            },
            "line 2, column variant: has these matrices twice",
        ),
        (
            AccuracyRow {
                variant: "f/v".into(),
                ..right()
            },
            "line 3, column variant: is none of the manifest's",
        ),
        (
            AccuracyRow {
                device: "cuda:7".into(),
                ..right()
            },
            "line 3, column device: is none of the manifest's",
        ),
        (
            AccuracyRow { seed: 8, ..right() },
            "line 3, column seed: is not the manifest's",
        ),
        (
            AccuracyRow {
                phi: Some(-3.0),
                ..right()
            },
            "line 3, column phi: is -3, which is no spread",
        ),
        (
            AccuracyRow {
                moduli: Some(0),
                ..right()
            },
            "line 3, column moduli: is 0",
        ),
        (
            AccuracyRow {
                samples: 4097,
                ..right()
            },
            "line 3, column samples: is 4097 of 4096 elements",
        ),
        (
            AccuracyRow {
                samples: 0,
                ..right()
            },
            "line 3, column samples: is 0 of",
        ),
        (
            AccuracyRow {
                worst_row: 64,
                ..right()
            },
            "line 3, column worst_row: is 64 in matrices of 64",
        ),
        (
            AccuracyRow {
                error_mean: 0.0,
                ..right()
            },
            "line 3, column error_mean: is 0 under a largest",
        ),
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
