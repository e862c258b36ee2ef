//! Progress on a terminal: what is being done, how far it is, and the time left.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Whether and how progress is shown. Off where stderr is no terminal.
pub struct Progress {
    shown: bool,
}

impl Progress {
    /// Shown if stderr is a terminal.
    pub fn new() -> Progress {
        Progress {
            shown: std::io::stderr().is_terminal(),
        }
    }

    /// Not shown: for what is a part of something that is.
    pub fn silent() -> Progress {
        Progress { shown: false }
    }

    /// A bar that knows its length.
    pub fn bar(&self, what: &str, length: u64) -> Bar {
        self.styled(
            what,
            Some(length),
            "{prefix} [{bar:24}] {pos}/{len}, {eta} left  {wide_msg}",
        )
    }

    /// A line without a length.
    pub fn line(&self, what: &str) -> Bar {
        self.styled(what, None, "{spinner} {prefix}  {wide_msg}")
    }

    fn styled(&self, what: &str, length: Option<u64>, template: &str) -> Bar {
        let target = if self.shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar { bar }
    }
}

/// Progress of one piece of work. It disappears when dropped.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Say what is being done.
    pub fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// So much is done altogether.
    pub fn reach(&self, steps: u64) {
        self.bar.set_position(steps);
    }

    /// So much more is done.
    pub fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
