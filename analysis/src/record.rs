//! The folder a run leaves behind: written so that a crash leaves no half file, read back as rows.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use sha2::{Digest, Sha256};

use crate::{
    Fault, FileEntry, Manifest, REPORT_FILES, Report, ReportError, Row, SCHEMA, Status, decode_rows,
    encode_hex, encode_rows, utc_rfc3339,
};

/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";

/// Why a record cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder holds a record already.
    #[error("{} already holds a record: give a folder that does not exist yet", dir.display())]
    HoldsRecord {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder holds other files.
    #[error("{} is not empty: give an empty folder, or one that does not exist yet", dir.display())]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder cannot be made or used.
    #[error("{} cannot be made a record's folder ({source}): give a folder that can be written", dir.display())]
    Unwritable {
        /// The folder.
        dir: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no record.
    #[error("{} holds no record: no {MANIFEST} can be read there ({source})", dir.display())]
    NoRecord {
        /// The folder.
        dir: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process is writing the record.
    #[error("{} is being written by another process: wait until it has ended", dir.display())]
    Busy {
        /// The folder.
        dir: PathBuf,
    },
    /// A name that no file of a record may have.
    #[error(
        "`{name}` cannot name a file of a record: use a plain name without folders, not starting with a dot and not {MANIFEST}"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file's content is not what it should be.
    #[error(transparent)]
    Content(#[from] Fault),
}

/// A record being written.
///
/// Its manifest says `running` until [`finish`](Self::finish); if that is never reached, the record is readable and says so.
#[derive(Debug)]
pub struct RecordWriter {
    dir: PathBuf,
    manifest: Manifest,
    /// Held, where the file system has locks, as long as this lives: it goes with the process, however that ends.
    _lock: Option<File>,
}

/// The lock on a record's folder.
fn lock(dir: &Path) -> Result<Option<File>, RecordError> {
    let Ok(folder) = File::open(dir) else {
        return Ok(None);
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(RecordError::Busy { dir: dir.into() }),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

impl RecordWriter {
    /// Starts a record in a folder that is empty or does not exist yet (parents are made), and writes its manifest with status `running`.
    pub fn create(dir: impl Into<PathBuf>, manifest: Manifest) -> Result<Self, RecordError> {
        let dir = dir.into();
        let unwritable = |source| RecordError::Unwritable {
            dir: dir.clone(),
            source,
        };
        fs::create_dir_all(&dir).map_err(unwritable)?;
        if dir.join(MANIFEST).exists() {
            return Err(RecordError::HoldsRecord { dir });
        }
        if fs::read_dir(&dir).map_err(unwritable)?.next().is_some() {
            return Err(RecordError::NotEmpty { dir });
        }
        let manifest = Manifest {
            schema: SCHEMA,
            status: Status::Running,
            ..manifest
        };
        let writer = Self {
            _lock: lock(&dir)?,
            dir: dir.clone(),
            manifest,
        };
        match writer.write_manifest() {
            Err(RecordError::Write { source, .. }) => Err(RecordError::Unwritable { dir, source }),
            Err(error) => Err(error),
            Ok(()) => Ok(writer),
        }
    }

    /// Goes on with a record that was closed, or whose process was killed: its manifest says `running` again.
    pub fn reopen(record: &Record) -> Result<Self, RecordError> {
        let manifest = Manifest {
            status: Status::Running,
            finished_utc: None,
            ..record.manifest.clone()
        };
        let writer = Self {
            _lock: lock(&record.dir)?,
            dir: record.dir.clone(),
            manifest,
        };
        writer.write_manifest()?;
        Ok(writer)
    }

    /// The record's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest, to be filled in; [`write_manifest`](Self::write_manifest) and [`finish`](Self::finish) write it.
    pub fn manifest_mut(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Writes the manifest as it stands, so that a killed run leaves what is known by now.
    pub fn write_manifest(&self) -> Result<(), RecordError> {
        let mut text = serde_json::to_string_pretty(&self.manifest)
            .map_err(|error| Fault::file(MANIFEST, format!("cannot be written: {error}")))?;
        text.push('\n');
        self.replace(MANIFEST, text.as_bytes())
    }

    /// Writes a whole table under its own name; called again with more rows, it replaces the table at once.
    pub fn write_table<R: Row>(&self, rows: &[R]) -> Result<(), RecordError> {
        self.replace(R::FILE, &encode_rows(rows)?)
    }

    /// Writes any other file, such as a report. The name is plain: no folders, no leading dot, not the manifest's.
    pub fn write_file(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), RecordError> {
        if !is_plain_name(name) {
            return Err(RecordError::Name { name: name.into() });
        }
        self.replace(name, content.as_ref())
    }

    /// Writes the report of what the record holds, with the status that it will be closed with.
    pub fn write_report(&self, status: Status) -> Result<(), ReportError> {
        let record = Record {
            dir: self.dir.clone(),
            manifest: Manifest {
                status,
                ..self.manifest.clone()
            },
        };
        let report = Report::of(&record)?;
        for (name, content) in REPORT_FILES.iter().zip([report.markdown, report.html]) {
            self.write_file(name, content)?;
        }
        Ok(())
    }

    /// Closes the record now: hashes every other file in the folder and writes the manifest with the final status.
    pub fn finish(mut self, status: Status) -> Result<(), RecordError> {
        self.close(status, Some(utc_rfc3339(SystemTime::now())))
    }

    /// The same with the time at which it was finished.
    pub fn close(&mut self, status: Status, finished_utc: Option<String>) -> Result<(), RecordError> {
        self.manifest.files.clear();
        for name in file_names(&self.dir)? {
            if name != MANIFEST {
                let entry = file_entry(&self.dir.join(&name))?;
                self.manifest.files.insert(name, entry);
            }
        }
        self.manifest.status = status;
        self.manifest.finished_utc = finished_utc;
        self.write_manifest()
    }

    /// Writes to a temporary name, syncs, and renames.
    fn replace(&self, name: &str, content: &[u8]) -> Result<(), RecordError> {
        let path = self.dir.join(name);
        let temporary = self.dir.join(format!(".{name}.tmp"));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|source| RecordError::Write {
            path: path.clone(),
            source,
        })
    }
}

/// A record that was written, finished or not.
#[derive(Clone, Debug)]
pub struct Record {
    dir: PathBuf,
    manifest: Manifest,
}

impl Record {
    /// Opens a record of any status by its manifest. Nothing is verified: that is [`check`](crate::check())'s task.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let dir = dir.into();
        let text = fs::read(dir.join(MANIFEST)).map_err(|source| RecordError::NoRecord {
            dir: dir.clone(),
            source,
        })?;
        Ok(Self {
            dir,
            manifest: parse_manifest(&text)?,
        })
    }

    /// The record's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// A table's rows; `None` if the record has no such table.
    pub fn table<R: Row>(&self) -> Result<Option<Vec<R>>, RecordError> {
        match self.read_file(R::FILE)? {
            Some(text) => Ok(Some(decode_rows(&text)?)),
            None => Ok(None),
        }
    }

    /// A file's bytes; `None` if the record has no such file.
    pub fn read_file(&self, name: &str) -> Result<Option<Vec<u8>>, RecordError> {
        if !is_plain_name(name) {
            return Err(RecordError::Name { name: name.into() });
        }
        let path = self.dir.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(RecordError::Read { path, source }),
        }
    }
}

/// The schema is looked at first: of another one, no other field can be trusted.
fn parse_manifest(text: &[u8]) -> Result<Manifest, Fault> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        schema: u32,
    }
    let fault = |error: serde_json::Error| {
        Fault::line(
            MANIFEST,
            error.line() as u64,
            format!("is not a manifest of schema {SCHEMA}: {error}"),
        )
    };
    let Versioned { schema } = serde_json::from_slice(text).map_err(fault)?;
    if schema != SCHEMA {
        return Err(Fault::file(
            MANIFEST,
            format!("has schema {schema}, but this program reads schema {SCHEMA}"),
        ));
    }
    serde_json::from_slice(text).map_err(fault)
}

/// Whether a name can only mean a file in the record's own folder.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']) && name != MANIFEST
}

/// The names of everything in a record's folder, sorted.
pub(crate) fn file_names(dir: &Path) -> Result<Vec<String>, RecordError> {
    let read = |source| RecordError::Read {
        path: dir.into(),
        source,
    };
    let mut names = fs::read_dir(dir)
        .map_err(read)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(read)?;
    names.sort();
    Ok(names)
}

/// A file's hash and length.
pub(crate) fn file_entry(path: &Path) -> Result<FileEntry, RecordError> {
    let read = |source| RecordError::Read {
        path: path.into(),
        source,
    };
    let mut file = File::open(path).map_err(read)?;
    let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let n = file.read(&mut buffer).map_err(read)?;
        if n == 0 {
            return Ok(FileEntry {
                sha256: encode_hex(hash.finalize()),
                size,
            });
        }
        hash.update(&buffer[..n]);
        size += n as u64;
    }
}
