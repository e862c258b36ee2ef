//! The report of the sample record.

use assay_analysis::{Record, Report, Status, check};

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
