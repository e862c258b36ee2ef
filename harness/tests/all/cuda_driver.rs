//! What the program does with a driver's answers: a pretended driver is compiled from `cuda_driver.c` and put in front
//! of the loader's path. It is called `libcuda.so`, without the `.1` that NVRTC looks for itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;

/// Compile `source` as the driver's library into `folder`; `None` on a machine without a C compiler.
fn driver(folder: &Path, source: &Path) -> Option<PathBuf> {
    let library = folder.join("libcuda.so");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .status()
        .ok()?;
    assert!(status.success(), "the pretended driver does not compile");
    Some(folder.to_path_buf())
}

fn pretended(folder: &Path) -> Option<PathBuf> {
    driver(
        folder,
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/cuda_driver.c"),
    )
}

fn assay(drivers: &Path, fail: &str, arguments: &[&str]) -> Output {
    let output = Command::new(cargo_bin("assay"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", drivers)
        .env("ASSAY_FAKE_FAIL", fail)
        .output()
        .expect("the program runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether there is a compiler for cards; where the test command demands one, its absence is an error.
fn can_build(drivers: &Path) -> bool {
    let output = assay(drivers, "", &["devices", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let found = json["nvrtc"]["version"].is_string() && json["nvdisasm"]["version"].is_string();
    let required = std::env::var_os("ASSAY_REQUIRE_CUDA_TOOLS").is_some_and(|value| value == "1");
    assert!(found || !required, "ASSAY_REQUIRE_CUDA_TOOLS=1 and {json}");
    found
}

#[test]
fn a_driver_that_answers_is_listed_with_its_card() {
    let folder = tempfile::tempdir().unwrap();
    let Some(drivers) = pretended(folder.path()) else {
        return;
    };
    let output = assay(&drivers, "", &["devices", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["devices"][0]["id"], "cuda:0");
    assert_eq!(json["devices"][0]["card"]["arch"], "sm_90");
    assert_eq!(json["driver"]["cuda"], "13.0");
}

#[test]
fn a_stub_and_a_driver_that_does_not_start_are_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("stub.c");
    std::fs::write(&source, "int cuInit(unsigned flags) { return flags ? 1 : 34; }\n").unwrap();
    let Some(drivers) = driver(folder.path(), &source) else {
        return;
    };
    let output = assay(&drivers, "", &["devices"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("it is a stub or too old"));
    let Some(drivers) = pretended(folder.path()) else {
        return;
    };
    let output = assay(&drivers, "cuInit:803", &["pipes", "--device", "cuda:0"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("of different versions"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_card_that_is_not_there_or_in_use_ends_in_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let Some(drivers) = pretended(folder.path()) else {
        return;
    };
    let output = assay(&drivers, "", &["pipes", "--device", "cuda:9"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("there is cuda:0 (Pretended Card)"),
        "{}",
        stderr(&output)
    );
    if can_build(&drivers) {
        let output = assay(&drivers, "cuDevicePrimaryCtxRetain:46", &["pipes"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(
            stderr(&output).contains("in use by another process"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_failed_kernel_is_reported_once_with_its_name_and_missing_memory_with_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(drivers) = pretended(folder.path()) else {
        return;
    };
    if !can_build(&drivers) {
        return;
    }
    let output = assay(&drivers, "cuEventSynchronize:700", &["pipes"]);
    assert!(!output.status.success());
    let text = stderr(&output);
    assert_eq!(
        text.matches("kernel pipe (pipe-lop3.cu) failed on cuda:0 with code 700")
            .count(),
        1,
        "{text}"
    );
    let output = assay(&drivers, "cuMemAlloc_v2:2", &["pipes"]);
    let text = stderr(&output);
    assert!(
        text.contains("allocating 40960 bytes for buffer `clocks`, 4096 bytes are free"),
        "{text}"
    );
}
