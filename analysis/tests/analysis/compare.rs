//! Two records side by side.

use assay_analysis::{Agreement, Manifest, PowerLog, Record, RecordWriter, Status, compare};
use tempfile::TempDir;

use crate::sample;

/// The sample's trials, the units of one variant scaled, under a manifest.
fn record(manifest: Manifest, variant: &str, factor: f64) -> (TempDir, Record) {
    let dir = tempfile::tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), manifest).unwrap();
    let power = sample::power();
    let runs: Vec<_> = sample::runs()
        .into_iter()
        .map(|mut run| {
            if run.variant == variant {
                run.units = (run.units as f64 * factor) as u64;
            }
            run.hits = None;
            run.derived(Some(&PowerLog::new(&power))).unwrap()
        })
        .collect();
    writer.write_table(&runs).unwrap();
    writer.write_table(&power).unwrap();
    writer.finish(Status::Complete).unwrap();
    let record = Record::open(dir.path()).unwrap();
    (dir, record)
}

#[test]
fn a_record_agrees_with_itself_and_nothing_differs() {
    let (_dir, a) = record(sample::manifest(), "none", 1.0);
    let comparison = compare(&a, &a).unwrap();
    assert!(
        comparison
            .ratios
            .iter()
            .all(|(_, agreement)| *agreement == Agreement::Agree),
        "{:?}",
        comparison.ratios
    );
    assert!(comparison.to_string().contains("The environment is the same."));
}

#[test]
fn a_variant_that_became_faster_is_found_and_so_is_what_changed() {
    let (_dir_a, a) = record(sample::manifest(), "none", 1.0);
    let mut manifest = sample::manifest();
    manifest.variants[1].cubin_sha256 = Some("ab".repeat(32));
    manifest.gpu.as_mut().unwrap().driver = Some("600.1".into());
    let (_dir_b, b) = record(manifest, "md5-q9/v5", 1.1);
    let comparison = compare(&a, &b).unwrap();
    let of_v5 = comparison
        .ratios
        .iter()
        .filter(|(variant, _)| variant == "md5-q9/v5");
    assert!(
        of_v5.clone().count() == 2
            && of_v5
                .clone()
                .all(|(_, agreement)| *agreement == Agreement::Differ)
    );
    insta::assert_snapshot!(comparison.to_string());
}

#[test]
fn two_cards_are_reported_and_one_trial_a_side_says_nothing() {
    let card = |uuid: &str| {
        let mut manifest = sample::manifest();
        manifest.gpu.as_mut().unwrap().uuid = Some(uuid.into());
        manifest
    };
    let (_dir_a, a) = record(card("GPU-a"), "none", 1.0);
    let (_dir_b, b) = record(card("GPU-b"), "none", 1.0);
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(comparison.same_card, Some(false));
    assert!(comparison.to_string().contains("of two cards"));
    let dir = tempfile::tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    let runs: Vec<_> = sample::runs()
        .into_iter()
        .filter(|run| run.round == 1)
        .map(|run| run.derived(None).unwrap())
        .collect();
    writer.write_table(&runs).unwrap();
    writer.finish(Status::Complete).unwrap();
    let short = Record::open(dir.path()).unwrap();
    let comparison = compare(&short, &short).unwrap();
    assert!(!comparison.ratios.is_empty());
    assert!(
        comparison
            .ratios
            .iter()
            .all(|(_, agreement)| *agreement == Agreement::Unknown)
    );
    // One trial beside several is compared by their scatter.
    let comparison = compare(&a, &short).unwrap();
    assert!(
        comparison
            .ratios
            .iter()
            .all(|(_, agreement)| *agreement == Agreement::Agree),
        "{comparison}"
    );
}
