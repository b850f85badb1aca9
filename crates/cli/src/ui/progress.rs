//! A bar that shows how far long work has come: on a terminal only, and only if it takes a while.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// How far long work has come.
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

    /// Tells how many steps are done.
    pub(crate) fn set(&mut self, done: usize, total: usize) {
        if self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            // Draws nothing if standard error is no terminal.
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
