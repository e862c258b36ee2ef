//! The processor's energy counters by RAPL, as Linux shows them.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::{NoPower, PowerSource, Reading, SourceError};

/// One package's counter, which starts again after `range_uj`.
struct Package {
    file: PathBuf,
    range_uj: u64,
    last_uj: u64,
    wrapped_uj: u64,
}

/// All packages of the machine.
pub struct Rapl {
    packages: Vec<Package>,
}

impl Rapl {
    /// Where Linux shows them.
    pub const FOLDER: &str = "/sys/class/powercap";

    /// The packages under `folder`. Zones inside a package (cores, memory) are part of it and left out.
    ///
    /// # Errors
    /// When there is none, or one of them cannot be read (the counter usually needs root).
    pub fn open(folder: &Path) -> Result<Rapl, NoPower> {
        let none = |why: String| NoPower::Rapl {
            folder: folder.display().to_string(),
            why,
        };
        let entries = fs::read_dir(folder).map_err(|error| none(error.to_string()))?;
        let mut packages = Vec::new();
        for zone in entries.flatten().map(|entry| entry.path()) {
            let name = fs::read_to_string(zone.join("name")).unwrap_or_default();
            if !name.starts_with("package-") {
                continue;
            }
            let file = zone.join("energy_uj");
            let last_uj = number(&file).map_err(|error| none(error.0))?;
            let range_uj = number(&zone.join("max_energy_range_uj")).map_err(|error| none(error.0))?;
            packages.push(Package {
                file,
                range_uj,
                last_uj,
                wrapped_uj: 0,
            });
        }
        if packages.is_empty() {
            return Err(none("it shows no package".to_owned()));
        }
        packages.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(Rapl { packages })
    }
}

impl PowerSource for Rapl {
    fn name(&self) -> String {
        format!("RAPL, {} package(s)", self.packages.len())
    }

    fn lacks(&self) -> Vec<String> {
        vec!["RAPL counts energy only: power, clocks and temperature are empty, and there is no integral to hold the counter against".to_owned()]
    }

    fn read(&mut self) -> Result<Reading, SourceError> {
        let mut total_uj = 0;
        for package in &mut self.packages {
            let now = number(&package.file)?;
            if now < package.last_uj {
                package.wrapped_uj += package.range_uj;
            }
            package.last_uj = now;
            total_uj += package.wrapped_uj + now;
        }
        Ok(Reading {
            energy_mj: Some(total_uj / 1000),
            ..Reading::default()
        })
    }
}

fn number(file: &Path) -> Result<u64, SourceError> {
    let text =
        fs::read_to_string(file).map_err(|error| SourceError(format!("{}: {error}", file.display())))?;
    text.trim()
        .parse()
        .map_err(|_| SourceError(format!("{}: not a number", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(folder: &Path, zone: &str, name: &str, energy: u64) {
        let zone = folder.join(zone);
        fs::create_dir_all(&zone).unwrap();
        fs::write(zone.join("name"), name).unwrap();
        fs::write(zone.join("energy_uj"), format!("{energy}\n")).unwrap();
        fs::write(zone.join("max_energy_range_uj"), "1000000\n").unwrap();
    }

    #[test]
    fn packages_are_added_up_and_a_counter_that_starts_again_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        zone(folder.path(), "intel-rapl:0", "package-0\n", 900_000);
        zone(folder.path(), "intel-rapl:0:0", "core\n", 500);
        zone(folder.path(), "intel-rapl:1", "package-1\n", 100_000);
        let mut rapl = Rapl::open(folder.path()).unwrap();
        assert_eq!(rapl.read().unwrap().energy_mj, Some(1000));
        zone(folder.path(), "intel-rapl:0", "package-0\n", 50_000);
        assert_eq!(rapl.read().unwrap().energy_mj, Some(1150));
    }

    #[test]
    fn a_machine_without_counters_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Rapl::open(folder.path()).err().unwrap().to_string();
        assert!(error.ends_with("it shows no package"), "{error}");
        assert!(Rapl::open(&folder.path().join("none")).is_err());
    }
}
