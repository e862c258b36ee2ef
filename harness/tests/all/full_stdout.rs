//! Nothing can be written on stdout: the program says so, and its record is closed all the same.

use std::fs::File;
use std::process::Stdio;

use assay_analysis::{CheckReport, Record, Status, check};

use crate::program::{Place, Said, said};

/// Calls the program with a stdout on which there is no room.
fn without_room(place: &Place, arguments: &[&str]) -> Said {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = place.command(arguments);
    command.stdout(Stdio::from(full)).stderr(Stdio::piped());
    said(command.output().expect("the program starts"))
}

fn checked(place: &Place, record: &str) -> CheckReport {
    check(place.path(record)).expect("the record checks")
}

#[test]
fn completions_and_the_manual_end_with_a_sentence() {
    let place = Place::new();
    for arguments in [
        ["completions", "bash"].as_slice(),
        &["completions", "zsh"],
        &["man"],
    ] {
        let said = without_room(&place, arguments);
        assert_eq!(said.code, 1, "{arguments:?}: {}", said.stderr);
        assert!(
            said.stderr.contains("No space left"),
            "{arguments:?}: {}",
            said.stderr
        );
    }
}

#[test]
fn a_run_that_cannot_print_leaves_a_record_that_can_be_gone_on_with() {
    let place = Place::new();
    let run = [
        "run",
        "v5",
        "--device",
        "cpu",
        "--seconds",
        "50ms",
        "--rounds",
        "1",
        "--warmup",
        "10ms",
    ];
    let fresh = without_room(&place, &[run.as_slice(), &["--out", "fresh"]].concat());
    assert_eq!(fresh.code, 1, "{}", fresh.stderr);
    assert_eq!(checked(&place, "fresh").status, Status::Aborted);

    let done = place.assay(&[run.as_slice(), &["--out", "record"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let trials = checked(&place, "record").trials;
    let resume = ["run", "--resume", "record", "--rounds", "1"];
    assert_eq!(without_room(&place, &resume).code, 1);
    let after = checked(&place, "record");
    assert_eq!((after.status, after.trials), (Status::Aborted, trials));
    let again = place.assay(&resume);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(checked(&place, "record").trials, 2 * trials);
    assert_eq!(
        Record::open(place.path("record")).unwrap().manifest().status,
        Status::Complete
    );
}
