//! Every listed file and no other, byte for byte.

use crate::{
    Fault, MANIFEST, Record,
    record::{RecordError, file_entry, file_names},
};

/// Returns the number of files, the manifest not counted.
pub(super) fn check(record: &Record) -> Result<usize, RecordError> {
    let listed = &record.manifest().files;
    let found = file_names(record.dir())?;
    if let Some(name) = found
        .iter()
        .find(|name| *name != MANIFEST && !listed.contains_key(*name))
    {
        let problem = format!("is not listed in {MANIFEST}, so it is not part of the record");
        return Err(Fault::file(name, problem).into());
    }
    for (name, expected) in listed {
        // Only names found in the folder itself are opened: a listed `../x` is missing, whatever lies there.
        if !found.contains(name) {
            return Err(Fault::file(name, format!("is listed in {MANIFEST} but missing")).into());
        }
        let path = record.dir().join(name);
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(Fault::file(name, "should be a plain file").into());
        }
        let got = file_entry(&path)?;
        if got.size != expected.size {
            let problem = format!("has {} bytes, but {MANIFEST} lists {}", got.size, expected.size);
            return Err(Fault::file(name, problem).into());
        }
        if got.sha256 != expected.sha256 {
            let problem = format!(
                "has SHA-256 {}, but {MANIFEST} lists {}",
                got.sha256, expected.sha256
            );
            return Err(Fault::file(name, problem).into());
        }
    }
    Ok(listed.len())
}
