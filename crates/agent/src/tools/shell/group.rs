//! The process group of a command.

#[cfg(target_os = "linux")]
use std::fs;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;

/// A process group that does not outlive this value.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// Returns the group that `child` leads: it has to be started with a process group of its own.
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(Pid::from_raw))
    }

    /// Tells whether a process of the group still runs.
    pub fn is_alive(&self) -> bool {
        self.0.is_some_and(|id| test_kill_process_group(id).is_ok() && has_running(id))
    }

    /// Asks all of its processes to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of its processes.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Forgets the group: its id may soon belong to somebody else.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.0 {
            // A group that is gone needs no signal.
            kill_process_group(id, signal).ok();
        }
    }
}

/// Tells whether a group has more than processes that ended and wait for their parent. Where the first process of a
/// container reaps nobody, those stay for ever.
#[cfg(target_os = "linux")]
fn has_running(group: Pid) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let mut stats =
        processes.flatten().filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    let mut is_any_seen = false;
    let is_running = stats.any(|stat| {
        is_any_seen = true;
        is_running_in(&stat, group).unwrap_or(false)
    });
    is_running || !is_any_seen
}

/// Reads `id (name) state parent group ...`; a name may hold anything.
#[cfg(target_os = "linux")]
fn is_running_in(stat: &str, group: Pid) -> Option<bool> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let found: i32 = fields.nth(1)?.parse().ok()?;
    Some(found == group.as_raw_nonzero().get() && !matches!(state, "Z" | "X"))
}

/// Elsewhere processes that ended are reaped soon.
#[cfg(not(target_os = "linux"))]
fn has_running(_group: Pid) -> bool {
    true
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
