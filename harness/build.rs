//! Embeds the commit that the program is built from: a board may have no git.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    let dirty = git(&["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty());
    println!("cargo:rustc-env=ASSAY_COMMIT={commit}");
    println!(
        "cargo:rustc-env=ASSAY_DIRTY={}",
        dirty.map_or(String::new(), |dirty| dirty.to_string())
    );
    // The sources of every crate: the flag must not be older than what was compiled.
    for watched in [
        "../.git/HEAD",
        "../.git/index",
        "../kernels/src",
        "../analysis/src",
        "src",
    ] {
        println!("cargo:rerun-if-changed={watched}");
    }
}
