//! docs/record.md has a line per file and per column.

use std::{fs, path::Path};

use assay_analysis::{
    Row,
    rows::{
        AccuracyRow, BaseRow, BoundRow, CheckRow, HitRow, PowerRow, RunRow, SassRow, StageRow, SummaryRow,
        TuneRow, ValidationRow,
    },
};

/// A table's section as it should stand in the document.
fn section<R: Row>() -> String {
    let columns: String = R::COLUMNS
        .iter()
        .map(|column| format!("- `{}`: {}\n", column.name, column.description))
        .collect();
    format!("## `{}`\n\n{}\n\n{columns}", R::FILE, R::ABOUT)
}

#[test]
fn the_document_describes_every_table_as_the_program_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/record.md");
    let text = fs::read_to_string(path).unwrap();
    for section in [
        section::<BaseRow>(),
        section::<ValidationRow>(),
        section::<RunRow>(),
        section::<PowerRow>(),
        section::<SassRow>(),
        section::<BoundRow>(),
        section::<HitRow>(),
        section::<StageRow>(),
        section::<CheckRow>(),
        section::<AccuracyRow>(),
        section::<SummaryRow>(),
        section::<TuneRow>(),
    ] {
        assert!(
            text.contains(&section),
            "docs/record.md should hold:\n\n{section}"
        );
    }
}
