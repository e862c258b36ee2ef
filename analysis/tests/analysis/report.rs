//! The report of the sample record.

use assay_analysis::{Manifest, Record, RecordWriter, Report, Status, check};

use crate::sample;

fn report() -> Report {
    let dir = tempfile::tempdir().unwrap();
    sample::write(dir.path(), Status::Complete);
    Report::of(&Record::open(dir.path()).unwrap()).unwrap()
}

#[test]
fn the_report_reads_as_it_should() {
    insta::assert_snapshot!(report().markdown);
}

#[test]
fn it_is_the_same_text_whenever_it_is_made_and_counts_no_report_among_its_files() {
    let dir = tempfile::tempdir().unwrap();
    sample::write(dir.path(), Status::Complete);
    let record = Record::open(dir.path()).unwrap();
    let report = Report::of(&record).unwrap();
    std::fs::write(dir.path().join("report.html"), "another").unwrap();
    assert_eq!(Report::of(&record).unwrap(), report);
    assert!(!report.html.contains("report.html</td>"));
    // The report reads; it does not write.
    std::fs::remove_file(dir.path().join("report.html")).unwrap();
    check(dir.path()).unwrap();
}

#[test]
fn the_page_needs_nothing_else_and_its_figures_have_text() {
    let html = report().html;
    // A rate, an energy, instructions, and a trace of each of three rounds.
    assert_eq!(html.matches("<svg ").count(), 6);
    for figure in html.split("<svg ").skip(1) {
        assert!(figure.split("</svg>").next().unwrap().contains("<text "));
    }
    for outside in ["<script", "http-equiv", "src=", "@import", "url(", "NaN", "inf\""] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn what_was_not_measured_is_a_dash_or_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RecordWriter::create(
        dir.path(),
        Manifest {
            power: None,
            notes: vec!["power was not sampled: NVML cannot be used".into()],
            ..sample::manifest()
        },
    )
    .unwrap();
    let runs: Vec<_> = sample::runs()
        .into_iter()
        .map(|run| run.derived(None).unwrap())
        .collect();
    writer.write_table(&runs).unwrap();
    writer.finish(Status::Aborted).unwrap();
    let Report { markdown, html } = Report::of(&Record::open(dir.path()).unwrap()).unwrap();
    for text in [&markdown, &html] {
        assert!(text.contains("No energy was measured; the notes say why."));
        assert!(text.contains("power was not sampled: NVML cannot be used"));
        assert!(text.contains("The run was interrupted"));
        assert!(!text.contains("NaN") && !text.contains("Power and clock over time"));
    }
}

#[test]
fn a_record_without_trials_has_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    writer.finish(Status::Failed).unwrap();
    let report = Report::of(&Record::open(dir.path()).unwrap()).unwrap();
    assert!(report.markdown.contains("Nothing was timed."));
    assert!(report.markdown.contains("The run failed"));
}

/// With `scripts/check-report`: skipped where there is no Chromium.
#[test]
fn it_reads_well_in_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("report.html");
    std::fs::write(&page, report().html).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/check-report");
    let run = std::process::Command::new("python3")
        .arg(script)
        .arg(&page)
        .args(["--figures", "6"])
        .output();
    match run {
        Err(why) => eprintln!("skipped: report in a browser (no Python: {why})"),
        Ok(run) if run.status.code() == Some(77) => eprintln!("{}", String::from_utf8_lossy(&run.stdout)),
        Ok(run) => assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout)),
    }
}
