//! Ctrl-C: the first one asks for an orderly end, the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listen for SIGINT and SIGTERM.
pub fn listen() {
    let listening = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("assay: ending after the current launch; once more ends it at once");
    });
    if let Err(error) = listening {
        eprintln!("assay: Ctrl-C will end the program without closing its record: {error}");
    }
}

/// Whether an orderly end was asked for.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
