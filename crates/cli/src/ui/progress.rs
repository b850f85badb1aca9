//! A progress bar for long work, only on a terminal and only after a delay.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The delay before the bar is shown.
const DELAY: Duration = Duration::from_millis(300);

/// The progress of long work.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
    what: &'static str,
}

impl Progress {
    /// Starts work of `total` steps.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        Progress { started: Instant::now(), bar, what }
    }

    /// Sets the number of completed steps.
    pub(crate) fn set(&mut self, done: usize, total: usize) {
        if self.bar.is_hidden() && self.started.elapsed() > DELAY {
            // Draws nothing if standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.set_message(self.what);
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
