//! Notifications of one extension: shown as they come, or collapsed into one with a count if there are too many.
//!
//! script -> **limit** -> front end; those that are not shown are in the log
//!
//! Never limits what a front end without a user gets: there it is output.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::warn;

use crate::extension::Extension;
use crate::handle::Handle;
use crate::host::{HostEvent, Notice};

/// The number of notifications that may come at once.
const BURST: u32 = 20;
/// The time after which another one may come.
const REFILL: Duration = Duration::from_millis(250);
/// The time for which further ones are counted before the count is shown.
const COLLAPSE: Duration = Duration::from_secs(1);

/// The limit of one extension.
#[derive(Debug, Default)]
pub(crate) struct Notifications {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The notifications shown that have not been made up for by time.
    used: u32,
    /// The time up to which `used` is computed.
    since: Option<Instant>,
    /// The notifications that were not shown, and the most severe level among them.
    held: u64,
    level: String,
}

/// The decision about a notification.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Show,
    /// It is counted, and the count is shown later.
    HoldFirst,
    /// It is counted.
    Hold,
}

impl Inner {
    fn decide(&mut self, level: &str, now: Instant) -> Decision {
        let since = *self.since.get_or_insert(now);
        let refilled = now.saturating_duration_since(since).as_millis() / REFILL.as_millis();
        let refilled = u32::try_from(refilled).unwrap_or(u32::MAX);
        self.used = self.used.saturating_sub(refilled);
        self.since = Some(if self.used == 0 { now } else { since + REFILL * refilled });
        // One that comes later must not overtake those that are counted.
        if self.held == 0 && self.used < BURST {
            self.used += 1;
            return Decision::Show;
        }
        if self.held == 0 || severity(level) > severity(&self.level) {
            level.clone_into(&mut self.level);
        }
        self.held += 1;
        if self.held == 1 { Decision::HoldFirst } else { Decision::Hold }
    }

    /// Returns a notification with the count of those that were not shown.
    fn collapse(&mut self, extension: &str) -> Option<Notice> {
        let held = std::mem::take(&mut self.held);
        let word = if held == 1 { "notification" } else { "notifications" };
        let message = format!("{held} more {word} of the extension {extension} are in the log");
        (held > 0).then(|| Notice::Notify { message, level: self.level.clone() })
    }
}

fn severity(level: &str) -> usize {
    ["warning", "error"].iter().position(|name| *name == level).map_or(0, |place| place + 1)
}

impl Extension {
    /// Shows something, unless it is one notification too many. Called on the thread of the extension.
    pub(crate) fn show(&self, notice: Notice) {
        let host = &self.handle.host;
        if let Notice::Notify { message, level } = &notice
            && host.mode.has_ui()
        {
            let decision = self.handle.notifications.inner.lock().decide(level, Instant::now());
            if decision != Decision::Show {
                warn!(extension = self.name(), level, "notification: {message}");
                if decision == Decision::HoldFirst {
                    let handle = Arc::downgrade(&self.handle);
                    tokio::spawn(async move {
                        tokio::time::sleep(COLLAPSE).await;
                        show_held(&handle);
                    });
                }
                return;
            }
        }
        host.send(HostEvent::Show(self.clone(), notice));
    }
}

/// Shows the count of the notifications that were not shown.
fn show_held(handle: &Weak<Handle>) {
    let Some(handle) = handle.upgrade() else { return };
    let notice = handle.notifications.inner.lock().collapse(&handle.name);
    if let Some(notice) = notice {
        let host = handle.host.clone();
        host.send(HostEvent::Show(Extension { handle }, notice));
    }
}

#[cfg(test)]
mod tests;
