//! Records of `pipes` runs that are kept beside the variants.

use std::fs;
use std::path::Path;

use assay_analysis::Record;

use crate::toolchain::Arch;

/// The table in such a record.
pub const PIPES_FILE: &str = "pipes.csv";

/// Architectures of which `results/CARD/pipes/NAME` holds a record. A folder that is no record counts for nothing.
pub fn recorded(results: &Path) -> Vec<Arch> {
    let folders = |path: &Path| -> Vec<_> {
        fs::read_dir(path)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    };
    let mut archs = Vec::new();
    for card in folders(results) {
        for folder in folders(&card.join("pipes")) {
            let Ok(record) = Record::open(&folder) else {
                continue;
            };
            let Some(capability) = record
                .manifest()
                .gpu
                .as_ref()
                .and_then(|gpu| gpu.compute_capability.clone())
            else {
                continue;
            };
            if !record.manifest().files.contains_key(PIPES_FILE) {
                continue;
            }
            if let Ok(arch) = format!("sm_{}", capability.replace('.', "")).parse::<Arch>()
                && !archs.contains(&arch)
            {
                archs.push(arch);
            }
        }
    }
    archs
}
