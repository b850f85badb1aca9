//! How much an extension may take: memory, stack, time to run, messages to send.
//!
//! The time that counts is the time that script runs; waiting for a model, a person or a timer is free, and is watched
//! in another way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much one extension may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// How long script may run for one event, for a tool, and while it is loaded.
    pub event: Duration,
    /// How long script may run for one command.
    pub command: Duration,
    /// How long script may run for what has to be on the screen at once.
    pub screen: Duration,
    /// After this long without an answer somebody is told whom everybody waits for.
    pub notice: Duration,
    /// How long an answer is waited for that nothing can bring any more.
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

/// A clock that ends script that runs too long. One thread winds it up, the engine asks it, others may stop it.
#[derive(Debug)]
pub(crate) struct Clock {
    begin: Instant,
    /// When the script that runs now has to end, in microseconds since the beginning; zero if none runs.
    deadline: AtomicU64,
    stopped: AtomicBool,
    ran_out: AtomicBool,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Clock {
            begin: Instant::now(),
            deadline: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            ran_out: AtomicBool::new(false),
        }
    }

    /// Lets script run for so long.
    pub(crate) fn wind_up(&self, budget: Duration) {
        self.deadline.store(self.now().saturating_add(micros(budget)), Ordering::Relaxed);
    }

    /// Removes the limit after script has ended.
    pub(crate) fn wind_down(&self) {
        self.deadline.store(0, Ordering::Relaxed);
    }

    /// Ends script for good, from whichever thread.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Tells whether script has been ended because it ran too long.
    pub(crate) fn has_run_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    /// Tells the engine whether to end the script that runs.
    pub(crate) fn should_end(&self) -> bool {
        let deadline = self.deadline.load(Ordering::Relaxed);
        let is_over = deadline != 0 && self.now() > deadline;
        if is_over {
            self.ran_out.store(true, Ordering::Relaxed);
        }
        is_over || self.is_stopped()
    }

    /// Returns how long script runs over its time, although it should have been ended: the engine does not ask while
    /// it works on one long operation.
    pub(crate) fn overdue(&self) -> Option<Duration> {
        let deadline = self.deadline.load(Ordering::Relaxed);
        let over = self.now().checked_sub(deadline).filter(|_| deadline != 0)?;
        Some(Duration::from_micros(over))
    }

    fn now(&self) -> u64 {
        // One more, so that zero means never.
        micros(self.begin.elapsed()).saturating_add(1)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
