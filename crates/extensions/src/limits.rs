//! The limits of an extension: memory, stack, time, messages.
//!
//! Only the time in which script runs counts; waiting for a model, a person or a timer does not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The limits of one extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory in the embedded engine.
    pub memory: usize,
    /// Bytes of the heap in a child process of Node.
    pub node_memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// How long script may run for one event, for a tool, and while it is loaded.
    pub event: Duration,
    /// How long script may run for one command.
    pub command: Duration,
    /// How long script may run for what has to be on the screen at once.
    pub screen: Duration,
    /// The wait for an answer after which the user is notified.
    pub notice: Duration,
    /// The wait for an answer that nothing can produce, before the call fails.
    pub stuck: Duration,
    /// Bytes of one answer.
    pub answer: usize,
    /// Messages that one call may send, and entries that it may append.
    pub messages: usize,
    /// Timers that may wait at once.
    pub timers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: 64 << 20,
            node_memory: 512 << 20,
            stack: 1 << 20,
            event: Duration::from_secs(5),
            command: Duration::from_secs(60),
            screen: Duration::from_millis(250),
            notice: Duration::from_secs(10),
            stuck: Duration::from_secs(10),
            answer: 8 << 20,
            messages: 1_000,
            timers: 10_000,
        }
    }
}

/// The time limit of running script. The worker sets it, the engine checks it, and other threads may stop script.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The time at which the running script has to end; none if no script runs.
    deadline: Mutex<Option<Instant>>,
    stopped: AtomicBool,
    ran_out: AtomicBool,
}

impl Clock {
    /// Limits the script that runs next, or removes the limit after it has ended.
    pub(crate) fn set_budget(&self, budget: Option<Duration>) {
        *self.deadline.lock() = budget.and_then(|budget| Instant::now().checked_add(budget));
    }

    /// Ends script for good, from any thread.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns true if script was ended because it ran too long.
    pub(crate) fn has_run_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    /// Returns true if the running script has to end.
    pub(crate) fn should_end(&self) -> bool {
        let is_over = self.overdue().is_some();
        if is_over {
            self.ran_out.store(true, Ordering::Relaxed);
        }
        is_over || self.is_stopped()
    }

    /// Returns by how much script exceeds its time, which happens in one long operation of the engine.
    pub(crate) fn overdue(&self) -> Option<Duration> {
        let deadline = (*self.deadline.lock())?;
        Instant::now().checked_duration_since(deadline).filter(|over| !over.is_zero())
    }
}
