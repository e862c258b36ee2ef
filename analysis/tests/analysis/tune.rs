//! A tuner's table is derived again from the trials, and what contradicts itself is refused.

use assay_analysis::{
    CheckError, Objective, RecordWriter, Status, TunePlan, check,
    rows::{CheckRow, Fate, TuneRow},
    tune_table,
};
use tempfile::tempdir;

use crate::sample;

const START: &str = "md5-q9/v0";

fn rows() -> Vec<TuneRow> {
    let row = |candidate, variant: &str, changes: Option<&str>, fate| TuneRow {
        candidate,
        variant: variant.into(),
        changes: changes.map(Into::into),
        checked: 1000,
        rung: Some(0),
        trial_s: Some(10.0),
        round_first: Some(1),
        rounds: Some(3),
        fate,
        ..TuneRow::default()
    };
    [
        row(0, START, None, Fate::Reference),
        row(0, "md5-q9/v0@aa", None, Fate::Reference),
        row(1, "md5-q9/v5", Some("launch.block = 128"), Fate::Winner),
    ]
    .map(|row| row.derived(&sample::runs(), START).unwrap())
    .to_vec()
}

/// What a record with these rows says when it is checked: every hash in it is right.
fn checked(rows: &[TuneRow], plan: bool) -> Result<usize, String> {
    checked_with(rows, plan, None)
}

/// The same with these checks of its validations.
fn checked_with(rows: &[TuneRow], plan: bool, checks: Option<&[CheckRow]>) -> Result<usize, String> {
    let dir = tempdir().unwrap();
    let mut manifest = sample::manifest();
    manifest.tune = plan.then(|| TunePlan {
        start: START.into(),
        ..TunePlan::default()
    });
    let writer = RecordWriter::create(dir.path(), manifest).unwrap();
    writer.write_table(&sample::power()).unwrap();
    writer.write_table(&sample::runs()).unwrap();
    writer.write_table(rows).unwrap();
    if let Some(checks) = checks {
        writer.write_table(checks).unwrap();
    }
    writer.finish(Status::Complete).unwrap();
    match check(dir.path()) {
        Ok(report) => Ok(report.tune_rows),
        Err(CheckError::Failed(fault)) => Err(fault.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_tuners_record_checks() {
    assert_eq!(checked(&rows(), true), Ok(3));
    let winner = &rows()[2];
    assert_eq!(winner.n, Some(3));
    assert!(winner.ratio_to_start_mean.unwrap() > 1.3, "{winner:?}");
    assert!(winner.ratio_to_start_ci95_lo.is_some());
}

#[test]
fn what_is_called_right_has_checks_and_all_are() {
    let row = |variant: &str, mismatches| {
        let row = CheckRow {
            variant: variant.into(),
            device: "cuda:0".into(),
            check: "trace".into(),
            checked: 10,
            mismatches,
            ..CheckRow::default()
        };
        row.derived()
    };
    let winner = "md5-q9/v5";
    let with = |checks: &[CheckRow]| checked_with(&rows(), true, Some(checks));
    assert_eq!(with(&[row(START, 0), row(winner, 0)]), Ok(3));
    for checks in [
        &[row(START, 0)][..],
        &[row(START, 0), row(winner, 0), row(winner, 1)],
    ] {
        assert_eq!(
            with(checks).unwrap_err(),
            "checks.csv: has not all checks of md5-q9/v5 right, which tune.csv says it is"
        );
    }
}

#[test]
fn what_contradicts_itself_is_refused_by_its_place() {
    let changed = |change: &dyn Fn(&mut Vec<TuneRow>)| {
        let mut rows = rows();
        change(&mut rows);
        checked(&rows, true).unwrap_err()
    };
    for (change, words) in [
        (
            &(|rows: &mut Vec<TuneRow>| rows[2].ratio_to_start_mean = Some(9.0))
                as &dyn Fn(&mut Vec<TuneRow>),
            ["tune.csv", "ratio_to_start_mean"],
        ),
        (&|rows| rows[2].n = Some(2), ["tune.csv", "`2`"]),
        (&|rows| rows[2].rounds = Some(1), ["tune.csv", "follows from"]),
        (
            &|rows| rows[2].checked = 0,
            ["checked", "nothing is timed unchecked"],
        ),
        (&|rows| rows[0].fate = Fate::Winner, ["fate", "winner"]),
        (&|rows| rows.truncate(2), ["md5-q9/v5", "runs.csv"]),
        (&|rows| rows[1].candidate = 4, ["A/A control", "candidate 4"]),
    ] {
        let fault = changed(change);
        for word in words {
            assert!(fault.contains(word), "no `{word}` in: {fault}");
        }
    }
    assert!(checked(&rows(), false).unwrap_err().contains("`tune`"));
}

#[test]
fn the_table_of_the_best_marks_the_winner_and_tells_the_noise() {
    let rows = rows();
    let text = tune_table(
        &[rows[2].clone(), rows[0].clone()],
        Some(&rows[1]),
        Objective::Rate,
    )
    .to_string();
    assert!(text.contains("md5-q9/v5 *") && text.contains("start"), "{text}");
    assert!(
        text.contains("A/A control") && text.contains("- changes: "),
        "{text}"
    );
}
