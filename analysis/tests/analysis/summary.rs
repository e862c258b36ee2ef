//! What trials come to, and how it is printed.

use assay_analysis::{
    Summary,
    rows::{RunRow, SummaryRow, Verdict},
    summarise, summary_table,
};

use crate::sample;

fn summary(runs: &[RunRow]) -> Summary {
    summarise(runs, &["md5-q9/v0".into()]).unwrap()
}

fn row<'a>(summary: &'a Summary, label: &str) -> &'a SummaryRow {
    summary.rows.iter().find(|row| row.variant == label).unwrap()
}

#[test]
fn the_table_explains_itself() {
    insta::assert_snapshot!(summary_table(&summary(&sample::runs())).to_string());
}

#[test]
fn only_valid_trials_count_and_the_others_are_listed() {
    let runs = sample::runs();
    let summary = summary(&runs);
    let invalid = &summary.invalid[0];
    assert_eq!(
        (invalid.trial, invalid.reason.as_str()),
        (5, "clocks slowed down by sw_thermal_slowdown")
    );
    let left_out = row(&summary, &invalid.variant);
    assert_eq!((left_out.n, left_out.n_invalid), (2, 1));
    let rates: Vec<f64> = runs
        .iter()
        .filter(|run| run.variant == invalid.variant && run.verdict == Verdict::Valid)
        .map(|run| run.rate_units_per_s)
        .collect();
    assert_eq!(left_out.rate_units_per_s_mean, Some((rates[0] + rates[1]) / 2.0));
}

#[test]
fn a_baseline_has_ratio_one_and_no_interval() {
    let summary = summary(&sample::runs());
    let baseline = row(&summary, "md5-q9/v0");
    assert_eq!(summary.rows[0], *baseline);
    assert_eq!(
        (
            baseline.ratio_to_baseline_mean,
            baseline.ratio_to_baseline_ci95_lo
        ),
        (Some(1.0), None)
    );
    let v5 = row(&summary, "md5-q9/v5");
    assert!(
        (v5.ratio_to_baseline_mean.unwrap() - 1.329).abs() < 0.002,
        "{v5:?}"
    );
}

#[test]
fn another_family_has_no_ratio_to_this_baseline() {
    let mut runs = sample::runs();
    runs.push(RunRow {
        variant: "crt-gemm/a".into(),
        ..runs[0].clone()
    });
    let summary = summary(&runs);
    let other = row(&summary, "crt-gemm/a");
    assert_eq!(
        (&other.baseline, other.ratio_rounds, other.ratio_to_baseline_mean),
        (&None, 0, None)
    );
}

#[test]
fn an_aa_control_is_never_marked_the_fastest() {
    let mut runs = sample::runs();
    for run in runs.iter_mut().filter(|run| run.variant.ends_with("@aa")) {
        run.units *= 10;
        *run = run.clone().derived(None).unwrap();
    }
    let text = summary_table(&summary(&runs)).to_string();
    assert!(
        text.contains("md5-q9/v5 *") && text.contains("md5-q9/v0@aa (A/A control)"),
        "{text}"
    );
}

#[test]
fn a_simpler_product_is_never_marked_the_fastest() {
    let mut summary = summary(&sample::runs());
    assert!(summary_table(&summary).to_string().contains("md5-q9/v5 *"));
    summary.simple = vec!["md5-q9/v5".into()];
    let text = summary_table(&summary).to_string();
    assert!(!text.contains("md5-q9/v5 *"), "{text}");
}

#[test]
fn no_trial_and_one_trial_are_said_in_words() {
    assert_eq!(summary(&[]), Summary::default());
    let mut runs = sample::runs();
    runs.truncate(2);
    runs[1].verdict = Verdict::Invalid;
    let summary = summary(&runs);
    let none = row(&summary, "md5-q9/v5");
    assert_eq!((none.n, none.rate_units_per_s_mean, none.hits), (0, None, None));
    let text = summary_table(&summary).to_string();
    assert!(
        text.contains("No valid trial: md5-q9/v5.") && text.contains("One trial, so no interval: md5-q9/v0."),
        "{text}"
    );
    assert!(!text.contains("NaN"));
}

#[test]
fn variants_are_summarised_in_the_order_in_which_people_count() {
    let mut runs = sample::runs();
    let mut more = runs[0].clone();
    let family = more.variant.split_once('/').unwrap().0.to_owned();
    for (trial, name) in [(101, "v10"), (102, "v2-block128"), (103, "v2"), (104, "v9")] {
        more.trial = trial;
        more.variant = format!("{family}/{name}");
        runs.push(more.clone());
    }
    let summary = summarise(&runs, &[format!("{family}/v0")]).unwrap();
    let names: Vec<&str> = summary
        .rows
        .iter()
        .map(|row| row.variant.split_once('/').unwrap().1)
        .filter(|name| ["v10", "v2-block128", "v2", "v9"].contains(name))
        .collect();
    assert_eq!(names, ["v2", "v2-block128", "v9", "v10"]);
}
