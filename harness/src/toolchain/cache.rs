//! The cubin cache: a folder of compiled kernels that any number of processes share.
//!
//! An entry is one file, named by the SHA-256 of everything that went into the compilation. Its first line carries the
//! SHA-256 of the rest, so that an entry cut short or changed is seen when it is read. Writers write a temporary file
//! and rename it: a reader finds a whole entry or none.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_kernels::workload::Source;
use sha2::{Digest, Sha256};

use super::nvrtc::FIXED_OPTIONS;
use super::{Arch, NvrtcVersion, Resources};

/// Raised whenever the format of an entry changes.
const MAGIC: &str = "assay-cubin-1";

/// What the cache has under a key.
#[derive(Debug, PartialEq, Eq)]
pub enum CacheRead {
    /// A whole entry: resources and cubin.
    Hit(Option<Resources>, Vec<u8>),
    /// None.
    Miss,
    /// One that is not what was written, with what is wrong: it has been removed.
    Damaged(String),
}

/// A folder of cubins.
#[derive(Debug, Clone)]
pub struct CubinCache {
    folder: Option<PathBuf>,
}

impl CubinCache {
    /// The user's: `$ASSAY_CACHE`, else `$XDG_CACHE_HOME/assay`, else `~/.cache/assay`.
    pub fn of_user() -> CubinCache {
        CubinCache {
            folder: folder_from(|name| std::env::var_os(name)),
        }
    }

    /// The one in `folder`.
    #[cfg(test)]
    pub fn in_folder(folder: PathBuf) -> CubinCache {
        CubinCache { folder: Some(folder) }
    }

    /// None: every build compiles.
    #[cfg(test)]
    pub fn none() -> CubinCache {
        CubinCache { folder: None }
    }

    /// Its folder, where there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The file of the entry under `key`.
    pub fn entry(&self, key: &str) -> Option<PathBuf> {
        self.folder
            .as_ref()
            .map(|folder| folder.join(format!("{key}.cubin")))
    }

    /// Read the entry under `key`, and remove it when it is damaged.
    pub fn read(&self, key: &str) -> CacheRead {
        let Some(path) = self.entry(key) else {
            return CacheRead::Miss;
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return CacheRead::Miss,
            Err(error) => {
                return CacheRead::Damaged(format!("{} cannot be read: {error}", path.display()));
            }
        };
        match decode(&bytes) {
            Ok((resources, cubin)) => CacheRead::Hit(resources, cubin),
            Err(what) => {
                // Another process may have removed or replaced it already; either is fine.
                let _ = fs::remove_file(&path);
                CacheRead::Damaged(format!("{} {what}", path.display()))
            }
        }
    }

    /// Write an entry.
    ///
    /// # Errors
    /// When the folder cannot be written: the caller has its cubin all the same.
    pub fn write(&self, key: &str, resources: Option<Resources>, cubin: &[u8]) -> std::io::Result<()> {
        let (Some(folder), Some(path)) = (&self.folder, self.entry(key)) else {
            return Ok(());
        };
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        file.write_all(&encode(resources, cubin))?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("ASSAY_CACHE")
        .or_else(|| {
            set("XDG_CACHE_HOME")
                .filter(|path| path.is_absolute())
                .map(|path| path.join("assay"))
        })
        .or_else(|| set("HOME").map(|home| home.join(".cache/assay")))
}

fn encode(resources: Option<Resources>, cubin: &[u8]) -> Vec<u8> {
    let mut body = serde_json::to_vec(&resources).expect("two integers are JSON");
    body.push(b'\n');
    body.extend_from_slice(cubin);
    let mut bytes = format!("{MAGIC} {}\n", sha256_hex(&body)).into_bytes();
    bytes.append(&mut body);
    bytes
}

fn decode(bytes: &[u8]) -> Result<(Option<Resources>, Vec<u8>), &'static str> {
    let (head, body) = split_line(bytes).ok_or(if bytes.is_empty() {
        "is empty"
    } else {
        "is cut short"
    })?;
    let head = std::str::from_utf8(head).map_err(|_| "is not a cache entry")?;
    let hash = head
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or("is not a cache entry")?;
    if sha256_hex(body) != hash {
        return Err("does not have the hash that it was written with");
    }
    let (resources, cubin) = split_line(body).ok_or("is cut short")?;
    let resources = serde_json::from_slice(resources).map_err(|_| "is not a cache entry")?;
    if cubin.is_empty() {
        return Err("holds no cubin");
    }
    Ok((resources, cubin.to_vec()))
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// SHA-256 of the text with its definitions, options and entry, in hex: the identity of a source, whatever compiles it.
pub fn source_sha256(source: &Source) -> String {
    let mut hash = Sha256::new();
    feed(&mut hash, [source.text.as_str(), source.entry]);
    feed(&mut hash, source.defines.iter().map(String::as_str));
    feed(&mut hash, source.options.iter().map(String::as_str));
    hex(&hash.finalize())
}

/// The key of a compilation: everything that its cubin depends on.
pub(super) fn key(source: &Source, version: &NvrtcVersion, arch: Arch) -> String {
    let mut hash = Sha256::new();
    feed(
        &mut hash,
        [
            MAGIC,
            &source_sha256(source),
            &source.file,
            &version.full,
            &arch.to_string(),
        ],
    );
    feed(&mut hash, FIXED_OPTIONS);
    hex(&hash.finalize())
}

/// Add a list such that no other list gives the same bytes.
fn feed<'a>(hash: &mut Sha256, items: impl IntoIterator<Item = &'a str>) {
    let items: Vec<&str> = items.into_iter().collect();
    hash.update((items.len() as u64).to_le_bytes());
    for item in items {
        hash.update((item.len() as u64).to_le_bytes());
        hash.update(item.as_bytes());
    }
}

/// SHA-256 in hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESOURCES: Option<Resources> = Some(Resources {
        registers: 40,
        spills: 0,
    });

    fn source(text: &str, defines: &[&str]) -> Source {
        Source {
            file: "a.cu".into(),
            text: text.into(),
            defines: defines.iter().map(|define| define.to_string()).collect(),
            entry: "a",
            helpers: vec![],
            options: Vec::new(),
        }
    }

    fn written() -> (tempfile::TempDir, CubinCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CubinCache::in_folder(folder.path().join("made/on/demand"));
        cache.write("k", RESOURCES, b"\x7fELF\nbody").unwrap();
        (folder, cache)
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let (_folder, cache) = written();
        assert_eq!(
            cache.read("k"),
            CacheRead::Hit(RESOURCES, b"\x7fELF\nbody".to_vec())
        );
        assert_eq!(cache.read("other"), CacheRead::Miss);
    }

    #[test]
    fn a_damaged_entry_is_said_once_and_removed() {
        let whole = encode(RESOURCES, b"\x7fELF\nbody");
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for bad in [
            &[][..],
            &whole[..20],
            &whole[..whole.len() - 1],
            &flipped,
            b"hello\nworld",
        ] {
            let (_folder, cache) = written();
            fs::write(cache.entry("k").unwrap(), bad).unwrap();
            assert!(matches!(cache.read("k"), CacheRead::Damaged(_)), "{bad:?}");
            assert_eq!(cache.read("k"), CacheRead::Miss);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_of_the_write_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = CubinCache::in_folder(file.path().join("below"));
        assert!(cache.write("k", RESOURCES, b"x").is_err());
        assert!(!matches!(cache.read("k"), CacheRead::Hit(..)));
        CubinCache::none().write("k", RESOURCES, b"x").unwrap();
    }

    #[test]
    fn the_key_changes_with_everything_that_goes_in() {
        let version = NvrtcVersion {
            cuda: (13, 0),
            full: "13.0.88".into(),
        };
        let newer = NvrtcVersion {
            cuda: (13, 0),
            full: "13.0.89".into(),
        };
        let base = key(&source("text", &["A"]), &version, Arch::number(90));
        let others = [
            key(&source("text ", &["A"]), &version, Arch::number(90)),
            key(&source("text", &["A", ""]), &version, Arch::number(90)),
            key(&source("text", &["A"]), &newer, Arch::number(90)),
            key(&source("text", &["A"]), &version, Arch::number(75)),
        ];
        assert!(others.iter().all(|other| *other != base));
        assert_eq!(base, key(&source("text", &["A"]), &version, Arch::number(90)));
    }

    #[test]
    fn the_environment_names_the_folder() {
        let with = |set: &'static [(&str, &str)]| {
            folder_from(move |name| {
                set.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value.into())
            })
        };
        assert_eq!(with(&[("ASSAY_CACHE", "/c"), ("HOME", "/h")]), Some("/c".into()));
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]),
            Some("/x/assay".into())
        );
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]),
            Some("/h/.cache/assay".into())
        );
        assert_eq!(with(&[]), None);
    }
}
