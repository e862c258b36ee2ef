//! A whole record is accepted; any change to it is refused, and the refusal names the place.

use std::{fs, path::Path};

use assay_analysis::{
    CheckError, Fault, FileEntry, Manifest, Record, RecordError, RecordWriter, Row, Status, check,
    encode_hex, rederive,
    rows::{BaseRow, HitRow, RunRow, SummaryRow, ValidationRow},
};
use sha2::{Digest, Sha256};
use tempfile::{TempDir, tempdir};

use crate::sample;

fn whole() -> TempDir {
    let dir = tempdir().unwrap();
    sample::write(dir.path(), Status::Complete);
    dir
}

fn fault(dir: &Path) -> Fault {
    match check(dir) {
        Err(CheckError::Failed(fault)) => fault,
        other => panic!("check should fail, but gives {other:?}"),
    }
}

fn write_manifest(dir: &Path, change: impl FnOnce(&mut Manifest)) {
    let path = dir.join("manifest.json");
    let mut manifest: Manifest = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(path, serde_json::to_vec(&manifest).unwrap()).unwrap();
}

/// Writes a file and lists its new hash, as a forger would.
fn forge(dir: &Path, file: &str, content: &[u8]) {
    fs::write(dir.join(file), content).unwrap();
    let entry = FileEntry {
        sha256: encode_hex(Sha256::digest(content)),
        size: content.len() as u64,
    };
    write_manifest(dir, |manifest| {
        manifest.files.insert(file.into(), entry);
    });
}

/// Forges one field of a table: `row` counts from 0, without the header.
fn forge_field<R: Row>(dir: &Path, row: usize, column: &str, change: impl Fn(&str) -> String) {
    let separator = if R::FILE.ends_with(".tsv") { "\t" } else { "," };
    let text = fs::read_to_string(dir.join(R::FILE)).unwrap();
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let at = R::COLUMNS
        .iter()
        .position(|described| described.name == column)
        .unwrap();
    let mut fields: Vec<String> = lines[row + 1].split(separator).map(Into::into).collect();
    fields[at] = change(&fields[at]);
    lines[row + 1] = fields.join(separator);
    forge(dir, R::FILE, (lines.join("\n") + "\n").as_bytes());
}

/// Another value of the same kind.
fn other(field: &str) -> String {
    match field.as_bytes().last() {
        None => "7".into(),
        Some(b'1') => format!("{}2", &field[..field.len() - 1]),
        Some(_) => format!("{}1", &field[..field.len() - 1]),
    }
}

#[test]
fn a_whole_record_checks() {
    let dir = whole();
    let report = check(dir.path()).unwrap();
    assert_eq!(report.status, Status::Complete);
    assert_eq!((report.files, report.hits, report.candidates), (9, 3, 4));
    assert_eq!((report.trials, report.summary_rows), (9, 3));
    let record = Record::open(dir.path()).unwrap();
    assert_eq!(record.table().unwrap(), Some(sample::runs()));
    assert_eq!(record.table().unwrap(), Some(sample::hits()));
    assert_eq!(record.table().unwrap(), Some(sample::power()));
    assert_eq!(record.table().unwrap(), Some(sample::sass()));
    assert_eq!(record.table().unwrap(), Some(sample::bases()));
    assert_eq!(record.manifest().command, sample::manifest().command);
}

#[test]
fn any_changed_byte_is_found_in_its_file() {
    let dir = whole();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "manifest.json" {
            continue;
        }
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len().div_ceil(20)) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert_eq!(fault(dir.path()).file, name, "byte {at}");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(fault(dir.path()).to_string().contains("bytes"), "{name}");
        fs::write(&path, &whole).unwrap();
    }
    check(dir.path()).unwrap();
}

#[test]
fn a_missing_and_an_extra_file_are_named() {
    let dir = whole();
    fs::write(dir.path().join("notes.txt"), "x").unwrap();
    assert_eq!(
        fault(dir.path()).to_string(),
        "notes.txt: is not listed in manifest.json, so it is not part of the record"
    );
    fs::remove_file(dir.path().join("notes.txt")).unwrap();
    fs::remove_file(dir.path().join("report.md")).unwrap();
    assert_eq!(
        fault(dir.path()).to_string(),
        "report.md: is listed in manifest.json but missing"
    );
    fs::create_dir(dir.path().join("report.md")).unwrap();
    assert_eq!(fault(dir.path()).to_string(), "report.md: should be a plain file");
}

#[test]
fn a_listed_name_never_leads_out_of_the_folder() {
    let dir = whole();
    write_manifest(dir.path(), |manifest| {
        manifest
            .files
            .insert("../manifest.json".into(), FileEntry::default());
    });
    assert!(fault(dir.path()).to_string().contains("missing"));
}

#[test]
fn every_derived_column_of_the_trials_is_held_against_its_sources() {
    let derived: Vec<_> = RunRow::COLUMNS
        .iter()
        .filter(|column| column.description.starts_with('='))
        .collect();
    assert_eq!(derived.len(), 7);
    for column in derived {
        let dir = whole();
        forge_field::<RunRow>(dir.path(), 3, column.name, other);
        let fault = fault(dir.path());
        assert_eq!(
            (fault.file.as_str(), fault.line),
            ("runs.csv", Some(5)),
            "{fault}"
        );
        assert_eq!(fault.column.as_deref(), Some(column.name), "{fault}");
    }
}

#[test]
fn every_source_of_a_derived_column_is_held_against_it() {
    for column in [
        "units",
        "seconds",
        "hit_bits",
        "energy_j",
        "energy_integral_j",
        "energy_s",
        "idle_w",
        "in_kernel_clock_mhz",
        "sms",
    ] {
        let dir = whole();
        forge_field::<RunRow>(dir.path(), 0, column, |field| format!("1{field}"));
        let fault = fault(dir.path());
        assert_eq!(
            (fault.file.as_str(), fault.line),
            ("runs.csv", Some(2)),
            "{column}: {fault}"
        );
    }
}

#[test]
fn every_column_of_the_summary_is_held_against_the_trials() {
    for column in SummaryRow::COLUMNS {
        let dir = whole();
        forge_field::<SummaryRow>(dir.path(), 1, column.name, other);
        let fault = fault(dir.path());
        assert_eq!(
            (fault.file.as_str(), fault.line),
            ("summary.csv", Some(3)),
            "{fault}"
        );
        assert_eq!(fault.column.as_deref(), Some(column.name), "{fault}");
    }
}

#[test]
fn an_invalid_trial_cannot_be_made_valid() {
    let dir = whole();
    forge_field::<RunRow>(dir.path(), 4, "verdict", |_| "valid".into());
    assert_eq!(fault(dir.path()).column.as_deref(), Some("verdict"));
    let dir = whole();
    forge_field::<RunRow>(dir.path(), 4, "reason", |_| String::new());
    assert_eq!(fault(dir.path()).column.as_deref(), Some("reason"));
}

#[test]
fn every_claim_about_a_hit_is_held_against_its_message() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 9] = [
        ("trial", |_| "99".into()),
        ("trial", |_| "3".into()),
        ("base", |_| "9".into()),
        ("message_hex", other),
        ("message_hex", |field| field[2..].into()),
        ("message_hex", |field| field.to_uppercase()),
        ("digest", other),
        ("zeros_hex", |_| "8".into()),
        ("zeros_bits", |_| "32".into()),
    ];
    for row in 0..3 {
        for (column, change) in changes {
            let dir = whole();
            forge_field::<HitRow>(dir.path(), row, column, change);
            // Zeros have no upper case.
            if check(dir.path()).is_ok() && row == 2 {
                continue;
            }
            let fault = fault(dir.path());
            assert_eq!(
                (fault.file.as_str(), fault.line),
                ("hits.csv", Some(row as u64 + 2)),
                "{fault}"
            );
            assert!(
                [Some(column), Some("digest"), Some("variant")].contains(&fault.column.as_deref()),
                "{fault}"
            );
        }
    }
}

#[test]
fn every_claim_about_a_candidate_is_held_against_its_base() {
    for row in 0..4 {
        for column in ValidationRow::COLUMNS {
            let dir = whole();
            forge_field::<ValidationRow>(dir.path(), row, column.name, other);
            let fault = fault(dir.path());
            assert_eq!(
                (fault.file.as_str(), fault.line),
                ("validation.tsv", Some(row as u64 + 2)),
                "{fault}"
            );
        }
    }
}

#[test]
fn every_word_of_a_base_is_held_against_what_was_made_from_it() {
    for row in 0..2 {
        for column in BaseRow::COLUMNS {
            let dir = whole();
            forge_field::<BaseRow>(dir.path(), row, column.name, other);
            fault(dir.path());
        }
    }
    let dir = whole();
    forge_field::<BaseRow>(dir.path(), 1, "prefix_file", |_| "../prefix.bin".into());
    assert_eq!(fault(dir.path()).column.as_deref(), Some("prefix_file"));
    let dir = whole();
    forge(dir.path(), "prefix.bin", &sample::PREFIX.as_bytes()[1..]);
    assert_eq!(fault(dir.path()).file, "prefix.bin");
}

#[test]
fn a_prefix_that_is_not_kept_is_taken_by_its_chaining_value() {
    let dir = whole();
    forge_field::<BaseRow>(dir.path(), 1, "prefix_file", |_| String::new());
    check(dir.path()).unwrap();
}

#[test]
fn the_end_of_the_run_is_told() {
    let dir = tempdir().unwrap();
    sample::write(dir.path(), Status::Aborted);
    assert_eq!(check(dir.path()).unwrap().status, Status::Aborted);

    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path().join("a/b"), sample::manifest()).unwrap();
    writer.write_table(&sample::runs()[..2]).unwrap();
    let record = Record::open(writer.dir()).unwrap();
    assert_eq!(record.manifest().status, Status::Running);
    assert_eq!(record.table::<RunRow>().unwrap().unwrap().len(), 2);
    assert_eq!(record.table::<HitRow>().unwrap(), None);
    assert!(fault(writer.dir()).to_string().contains("never finished"));
}

#[test]
fn what_is_no_record_is_told_apart_from_a_bad_one() {
    let dir = tempdir().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("none")] {
        assert!(matches!(
            check(&path),
            Err(CheckError::NotARecord(RecordError::NoRecord { .. }))
        ));
    }
    for (text, words) in [
        ("{", "schema 1"),
        ("{\"schema\":2}", "schema 2"),
        ("{\"schema\":1}", "missing field"),
    ] {
        fs::write(dir.path().join("manifest.json"), text).unwrap();
        let fault = fault(dir.path());
        assert!(
            fault.file == "manifest.json" && fault.to_string().contains(words),
            "{fault}"
        );
    }
}

#[test]
fn a_record_starts_only_in_a_fresh_folder() {
    let dir = whole();
    let create = |path: &Path| RecordWriter::create(path, sample::manifest()).map(|_| ());
    assert!(matches!(create(dir.path()), Err(RecordError::HoldsRecord { .. })));
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("x"), "").unwrap();
    assert!(matches!(create(dir.path()), Err(RecordError::NotEmpty { .. })));
    assert!(matches!(
        create(&dir.path().join("x")),
        Err(RecordError::Unwritable { .. })
    ));
    assert!(matches!(
        create(Path::new("/proc/nope")),
        Err(RecordError::Unwritable { .. })
    ));
}

#[test]
fn a_file_keeps_to_the_record() {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    for name in ["", ".", "..", "../x", "a/b", ".hidden", "manifest.json"] {
        assert!(
            matches!(writer.write_file(name, "x"), Err(RecordError::Name { .. })),
            "{name}"
        );
    }
}

#[test]
fn a_number_that_is_not_finite_is_neither_written_nor_read() {
    let dir = tempdir().unwrap();
    let writer = RecordWriter::create(dir.path(), sample::manifest()).unwrap();
    let mut runs = sample::runs();
    runs[1].idle_w = Some(f64::NAN);
    let error = writer.write_table(&runs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "runs.csv, line 3, column idle_w: should be a finite number"
    );
    for bad in ["NaN", "inf", "1e999"] {
        let dir = whole();
        forge_field::<RunRow>(dir.path(), 1, "idle_w", |_| bad.into());
        assert_eq!(fault(dir.path()).column.as_deref(), Some("idle_w"));
    }
}

#[test]
fn a_field_of_the_wrong_kind_is_named() {
    let dir = whole();
    forge_field::<RunRow>(dir.path(), 2, "units", |_| "many".into());
    let fault = fault(dir.path());
    assert_eq!(
        (fault.line, fault.column.as_deref()),
        (Some(4), Some("units")),
        "{fault}"
    );
}

#[test]
fn a_record_is_derived_anew_from_what_was_measured_alone() {
    let (dir, outside) = (whole(), tempdir().unwrap());
    let path = outside.path().join("again");
    let record = Record::open(dir.path()).unwrap();
    // A derived column as another version would have it, in a record that is otherwise whole.
    let mut rows: Vec<RunRow> = record.table().unwrap().unwrap();
    rows[0].rate_units_per_s *= 2.0;
    let writer = RecordWriter::reopen(&record).unwrap();
    writer.write_table(&rows).unwrap();
    writer.finish(Status::Complete).unwrap();
    let odd = Record::open(record.dir()).unwrap();
    assert!(check(odd.dir()).is_err());
    rederive(&odd, &path, "made anew".to_owned()).unwrap();
    assert!(check(&path).is_ok());
    let again = Record::open(&path).unwrap();
    assert_eq!(again.manifest().notes.last().unwrap(), "made anew");
    assert_eq!(again.manifest().finished_utc, odd.manifest().finished_utc);
    // It does not write over anything, and takes nothing from a record whose files are not those listed.
    assert!(rederive(&odd, &path, String::new()).is_err());
    fs::write(odd.dir().join("power.csv"), "x").unwrap();
    assert!(rederive(&odd, outside.path().join("other"), String::new()).is_err());
}
