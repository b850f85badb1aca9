//! The process group of a command.

#[cfg(target_os = "linux")]
use std::fs;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;

/// A process group that ends when this value is dropped.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// Returns the group led by `child`, which must be started in a new process group.
    pub fn of(child: &Child) -> Self {
        child.id().map_or(Group(None), Self::led_by)
    }

    /// Returns the group led by the process of this id, which must be started in a new process group.
    pub fn led_by(id: u32) -> Self {
        Group(i32::try_from(id).ok().and_then(Pid::from_raw))
    }

    /// Returns true if a process of the group is running.
    pub fn is_alive(&self) -> bool {
        self.0.is_some_and(|id| test_kill_process_group(id).is_ok() && has_running(id))
    }

    /// Sends TERM to all processes.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends KILL to all processes.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Releases the group, because its id may be reused.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.0 {
            // The group may already be gone.
            kill_process_group(id, signal).ok();
        }
    }
}

/// Returns true if the group has a process that is not a zombie. In a container whose first process reaps no children,
/// zombies stay forever.
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

/// Parses `id (name) state parent group ...`; the name may contain any characters.
#[cfg(target_os = "linux")]
fn is_running_in(stat: &str, group: Pid) -> Option<bool> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let found: i32 = fields.nth(1)?.parse().ok()?;
    Some(found == group.as_raw_nonzero().get() && !matches!(state, "Z" | "X"))
}

/// On other systems zombies are reaped soon.
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
