//! The program as a user calls it, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

/// A folder to work in, which goes when this is dropped.
pub struct Place {
    folder: TempDir,
}

/// What the program said.
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file in it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("assay"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("ASSAY_VARIANTS", variants());
        command
    }

    /// Calls the program. It never panics, whatever it is told.
    pub fn assay(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().expect("the program starts"))
    }

    /// Calls it and takes its JSON document, of which there is exactly one.
    pub fn json(&self, code: i32, arguments: &[&str]) -> serde_json::Value {
        let said = self.assay(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {}", said.stderr);
        serde_json::from_str(&said.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error} in {:?}", said.stdout))
    }
}

/// Calls the program with what it must refuse: exit code `code`, nothing on stdout, every one of `words` on stderr.
pub fn refused(place: &Place, code: i32, arguments: &[&str], words: &[&str]) -> Said {
    let said = place.assay(arguments);
    assert_eq!(said.code, code, "{arguments:?}: {}", said.stderr);
    for word in words {
        assert!(
            said.stderr.contains(word),
            "{arguments:?}: no `{word}` in: {}",
            said.stderr
        );
    }
    assert_eq!(said.stdout, "", "{arguments:?}");
    said
}

pub fn said(output: Output) -> Said {
    let said = Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("stdout is text"),
        stderr: String::from_utf8(output.stderr).expect("stderr is text"),
    };
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    said
}

pub fn variants() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../variants")
}

pub fn vectors() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/md5_q9.json");
    file.display().to_string()
}

/// The manifest of a record.
pub fn manifest(record: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(record.join("manifest.json")).expect("a manifest");
    serde_json::from_str(&text).expect("the manifest is JSON")
}

/// Every table of a record is whole: each line has as many fields as the first, and the last one ends.
pub fn assert_tables_are_whole(record: &Path) {
    for entry in std::fs::read_dir(record).unwrap() {
        let path = entry.unwrap().path();
        let table = path
            .extension()
            .is_some_and(|extension| extension == "csv" || extension == "tsv");
        if !table {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let separator = if path.extension().is_some_and(|extension| extension == "tsv") {
            b'\t'
        } else {
            b','
        };
        assert!(
            text.ends_with('\n'),
            "{} ends in the middle of a line",
            path.display()
        );
        // A reader refuses a record that has not as many fields as the first.
        let rows = csv::ReaderBuilder::new()
            .delimiter(separator)
            .from_reader(text.as_bytes())
            .into_records();
        let broken: Vec<String> = rows.filter_map(|row| Some(row.err()?.to_string())).collect();
        assert_eq!(broken, [""; 0], "{}", path.display());
    }
}
