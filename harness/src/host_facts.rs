//! What the host says of itself.

use std::fs;

use assay_analysis::Host;

/// The processor's name.
pub fn cpu_name() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Everything that goes into a manifest.
pub fn host() -> Host {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let release = fs::read_to_string("/etc/os-release").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim_matches('"').to_owned())
    });
    let kernel = read("/proc/sys/kernel/osrelease");
    let os = match (release, kernel) {
        (Some(release), Some(kernel)) => Some(format!("{release}, kernel {kernel}")),
        (release, kernel) => release.or(kernel),
    };
    Host {
        name: None,
        os,
        cpu: cpu_name(),
        cpu_threads: u32::try_from(rayon::current_num_threads()).ok(),
    }
}
