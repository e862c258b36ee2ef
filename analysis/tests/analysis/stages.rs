//! Stages of trials: what is accepted of them, and the table that they make.

use assay_analysis::{
    CheckError, RecordWriter, Status, check,
    rows::{RunRow, StageRow, Verdict},
    stage_table,
};
use tempfile::tempdir;

use crate::sample;

fn stage(trial: u32, name: &str, launches: u64, seconds: f64) -> StageRow {
    StageRow {
        trial,
        stage: name.into(),
        launches,
        seconds,
    }
}

/// What checking a record with these stages gives: the rows that fit, or the fault.
fn checked(stages: &[StageRow]) -> Result<usize, String> {
    // The other trials of the same variant have the same stages.
    let first = sample::runs()[0].variant.clone();
    let others = sample::runs()
        .into_iter()
        .filter(|run| run.variant == first && run.trial != 1);
    let mut all = stages.to_vec();
    for run in others {
        let of_first: Vec<&StageRow> = stages.iter().filter(|row| row.trial == 1).collect();
        all.extend(of_first.iter().map(|row| StageRow {
            trial: run.trial,
            seconds: 0.1,
            ..(*row).clone()
        }));
    }
    checked_as_they_are(&all)
}

fn checked_as_they_are(stages: &[StageRow]) -> Result<usize, String> {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    writer.write_table(&sample::runs()).unwrap();
    writer.write_table(&sample::power()).unwrap();
    writer.write_table(stages).unwrap();
    writer.finish(Status::Complete).unwrap();
    match check(dir.path()) {
        Ok(report) => Ok(report.stage_rows),
        Err(CheckError::Failed(fault)) => Err(fault.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn stages_fit_into_their_trials() {
    let seconds = sample::runs()[0].seconds;
    let half = seconds / 2.0;
    assert_eq!(
        checked(&[stage(1, "split", 3, half), stage(1, "multiply", 3, half)]),
        Ok(6)
    );
    // A hundredth more is the clocks', no more than that.
    assert_eq!(checked(&[stage(1, "split", 3, 1.0099 * seconds)]), Ok(3));
    for (stages, said) in [
        (
            vec![stage(1, "split", 3, 1.0101 * seconds)],
            "line 2, column seconds: brings the stages of trial 1 to",
        ),
        (
            vec![
                stage(1, "split", 3, half),
                stage(1, "multiply", 3, half),
                stage(1, "join", 3, half),
            ],
            "line 4, column seconds: brings the stages of trial 1 to",
        ),
        (
            vec![stage(77, "split", 3, half)],
            "column trial: is 77, which runs.csv does not have",
        ),
        (
            vec![stage(1, "split", 3, 0.1), stage(1, "split", 3, 0.1)],
            "line 3, column stage: is given twice for trial 1",
        ),
        (
            vec![stage(1, "split", 3, -0.1)],
            "column seconds: is -0.1, which is no time",
        ),
    ] {
        let fault = checked(&stages).unwrap_err();
        assert!(fault.starts_with("stages.csv") && fault.contains(said), "{fault}");
    }
}

#[test]
fn trials_of_a_variant_have_the_same_stages() {
    let runs = sample::runs();
    let of_v0 = runs.iter().filter(|run| run.variant == runs[0].variant);
    let whole: Vec<StageRow> = of_v0
        .flat_map(|run| {
            [
                stage(run.trial, "split", 3, 0.5),
                stage(run.trial, "multiply", 3, 0.5),
            ]
        })
        .collect();
    assert_eq!(checked_as_they_are(&whole), Ok(whole.len()));
    let mut turned = whole.clone();
    turned.swap(0, 1);
    let mut moved = whole.clone();
    moved[0].stage = "made up".into();
    for (stages, said) in [
        (whole[1..].to_vec(), "has other stages for trial"),
        (whole[2..].to_vec(), "has other stages for trial"),
        (turned, "has other stages for trial"),
        (moved, "has other stages for trial"),
        (
            [
                &whole[..],
                &[StageRow {
                    launches: 0,
                    ..stage(1, "join", 1, 0.1)
                }],
            ]
            .concat(),
            "column launches: is nothing",
        ),
        (
            [&whole[..], &[stage(1, "", 1, 0.1)]].concat(),
            "column stage: is nothing",
        ),
    ] {
        let fault = checked_as_they_are(&stages).unwrap_err();
        assert!(fault.contains(said), "{fault}");
    }
}

#[test]
fn the_table_adds_up_valid_trials_and_shows_what_lies_between() {
    let run = |trial, verdict| RunRow {
        trial,
        variant: "f/v".into(),
        seconds: 10.0,
        verdict,
        ..RunRow::default()
    };
    let runs = [
        run(1, Verdict::Valid),
        run(2, Verdict::Valid),
        run(3, Verdict::Invalid),
    ];
    let stages = [
        stage(1, "split", 10, 1.0),
        stage(1, "multiply", 5, 7.0),
        stage(2, "split", 10, 1.5),
        stage(2, "multiply", 5, 7.5),
        stage(3, "split", 1000, 9.0),
    ];
    let rows = stage_table(&stages, &runs).unwrap().rows;
    let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
    assert_eq!(
        rows,
        [
            row(["f/v", "split", "20", "125.0000", "12.50"]),
            row(["f/v", "multiply", "10", "1450.0000", "72.50"]),
            row(["f/v", "between", "-", "-", "15.00"]),
        ]
    );
    assert!(
        stage_table(&stages[4..], &runs).is_none(),
        "of invalid trials only"
    );
    assert!(stage_table(&[], &runs).is_none());
}
