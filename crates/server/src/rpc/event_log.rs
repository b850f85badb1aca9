//! The latest events, for clients that come back.

use std::collections::VecDeque;

use super::events::WireEvent;

/// The number of events that are stored.
const MAX_EVENTS: usize = 10_000;

/// The bytes of events that are stored.
const MAX_BYTES: usize = 16 << 20;

/// An event with its number.
#[derive(Debug, Clone)]
pub(crate) struct LoggedEvent {
    /// The number, from 1 and without gaps.
    pub(crate) seq: u64,
    pub(crate) name: String,
    /// The event as JSON, without its number.
    pub(crate) text: String,
    pub(crate) is_extra: bool,
    pub(crate) is_replaced: bool,
}

/// The latest events, oldest first.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    events: VecDeque<LoggedEvent>,
    bytes: usize,
    last_seq: u64,
    /// True once a client may reconnect and request events.
    pub(crate) is_kept: bool,
}

impl EventLog {
    /// Numbers an event and stores it.
    pub(crate) fn add(&mut self, event: &WireEvent) -> LoggedEvent {
        self.last_seq += 1;
        let logged = LoggedEvent {
            seq: self.last_seq,
            name: event.name().to_owned(),
            text: event.json.to_string(),
            is_extra: event.is_extra,
            is_replaced: event.is_replaced,
        };
        if self.is_kept {
            self.bytes += logged.text.len();
            self.events.push_back(logged.clone());
        }
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            self.bytes -= self.events.pop_front().map_or(0, |event| event.text.len());
        }
        logged
    }

    /// Returns the number of the latest event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Returns the events after a number; `None` if some of them are no longer stored.
    pub(crate) fn since(&self, seq: u64) -> Option<Vec<LoggedEvent>> {
        let oldest = self.events.front().map_or(self.last_seq + 1, |event| event.seq);
        if seq > self.last_seq || seq + 1 < oldest {
            return None;
        }
        Some(self.events.iter().filter(|event| event.seq > seq).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_returned_while_all_of_them_are_stored() {
        let mut log = EventLog { is_kept: true, ..EventLog::default() };
        let text = "x".repeat(MAX_BYTES / 4);
        for _ in 0..5 {
            log.add(&WireEvent::new("a", json!({ "text": text })));
        }
        assert_eq!(log.last_seq(), 5);
        assert_eq!(log.since(5).map(|events| events.len()), Some(0));
        assert_eq!(log.since(3).map(|events| events[0].seq), Some(4));
        assert!(log.since(0).is_none() && log.since(6).is_none());
    }
}
