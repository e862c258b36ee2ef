//! Output files: whole, or not there at all.

use std::fs::File;
use std::io;
use std::path::Path;

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and writing fails.
    Kept,
    /// It is replaced once the new one is whole.
    Replaced,
}

/// The folder that `path` lies in.
fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A name that is given to a new file is taken from what had it: devices, folders and links keep theirs.
fn check_plain(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no plain file")),
        _ => Ok(()),
    }
}

/// Find out whether a file can be written at `path`, without leaving a trace.
///
/// # Errors
/// Why not.
pub fn probe(path: &Path) -> io::Result<()> {
    check_plain(path)?;
    tempfile::tempfile_in(folder(path)).map(drop)
}

/// Write a file under a temporary name and give it its own when it is whole.
///
/// # Errors
/// When it cannot be written, or there is one that is to be kept. Nothing is left behind then.
pub fn write_whole(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    check_plain(path)?;
    let mut builder = tempfile::Builder::new();
    // As other programs' files have them: a temporary one would be its owner's alone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder(path))?;
    write(file.as_file_mut())?;
    match existing {
        Existing::Kept => file.persist_noclobber(path),
        Existing::Replaced => file.persist(path),
    }
    .map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there_and_one_that_is_to_be_kept_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let failing = |file: &mut File| {
            file.write_all(b"half")?;
            Err(io::Error::other("full"))
        };
        assert!(write_whole(&path, Existing::Replaced, failing).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write_whole(&path, Existing::Kept, |file| file.write_all(b"one")).unwrap();
        assert!(write_whole(&path, Existing::Kept, |file| file.write_all(b"two")).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_whole(&path, Existing::Replaced, |file| file.write_all(b"two")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for odd in [&link, folder.path(), Path::new("/dev/null")] {
            assert!(probe(odd).is_err() && write_whole(odd, Existing::Replaced, |_| Ok(())).is_err());
        }
        assert!(probe(&folder.path().join("nowhere/x")).is_err());
        probe(&path).unwrap();
    }
}
