//! A clock that advances only when it is read, so that every run has the same times.

use std::sync::atomic::{AtomicI64, Ordering};

use session_tree::{Clock, Timestamp};

/// A clock that starts at a given time and goes on by one step per question.
///
/// ```
/// use session_tree::{Clock, Timestamp};
/// use testkit::clock::TickingClock;
///
/// let clock = TickingClock::new(Timestamp::from_millis(1_000), 5);
/// assert_eq!(clock.now().as_millis(), 1_000);
/// assert_eq!(clock.now().as_millis(), 1_005);
/// ```
#[derive(Debug)]
pub struct TickingClock {
    next: AtomicI64,
    step: i64,
}

impl TickingClock {
    /// Makes a clock that returns `start` first and advances by `step` milliseconds per call.
    pub fn new(start: Timestamp, step: i64) -> Self {
        Self { next: AtomicI64::new(start.as_millis()), step }
    }
}

impl Default for TickingClock {
    /// Starts on 2025-01-01 and goes on by one second per call.
    fn default() -> Self {
        Self::new(Timestamp::from_millis(1_735_689_600_000), 1_000)
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.next.fetch_add(self.step, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_takes_one_step() {
        let clock = TickingClock::default();
        let times: Vec<String> = (0..3).map(|_| clock.now().to_string()).collect();
        assert_eq!(
            times,
            ["2025-01-01T00:00:00.000Z", "2025-01-01T00:00:01.000Z", "2025-01-01T00:00:02.000Z"]
        );
    }
}
