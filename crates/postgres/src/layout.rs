//! The places of the lines of a session: its log, and the parts of other logs that a fork shares.

use std::ops::Range;

use uuid::Uuid;

/// The places of the lines of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The log that holds the session's own lines, at their positions.
    pub(crate) log: Uuid,
    /// The lines that other logs hold, by position.
    pub(crate) shared: Vec<Part>,
}

/// A range of a session that another log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) position: u64,
    pub(crate) length: u64,
    pub(crate) log: Uuid,
    pub(crate) source_position: u64,
}

impl Part {
    fn range(&self) -> Range<u64> {
        self.position..self.position + self.length
    }
}

impl Layout {
    /// Returns the parts of logs that make up a range of the session, in order.
    pub(crate) fn parts(&self, range: Range<u64>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut position = range.start;
        for shared in
            self.shared.iter().filter(|part| part.range().end > range.start && part.position < range.end)
        {
            parts.extend(self.own(position..shared.position));
            let (start, end) = (shared.position.max(range.start), shared.range().end.min(range.end));
            let source_position = shared.source_position + (start - shared.position);
            parts.push(Part { position: start, length: end - start, log: shared.log, source_position });
            position = end;
        }
        parts.extend(self.own(position..range.end));
        parts
    }

    fn own(&self, range: Range<u64>) -> Option<Part> {
        let length = range.end.checked_sub(range.start).filter(|length| *length > 0)?;
        Some(Part { position: range.start, length, log: self.log, source_position: range.start })
    }
}

/// Ranges of logs as parameters of a statement.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) logs: Vec<Uuid>,
    pub(crate) starts: Vec<i64>,
    pub(crate) stops: Vec<i64>,
    pub(crate) shifts: Vec<i64>,
}

impl Ranges {
    pub(crate) fn of(parts: &[Part]) -> Self {
        let mut ranges = Self::default();
        for part in parts {
            ranges.logs.push(part.log);
            ranges.starts.push(part.source_position as i64);
            ranges.stops.push((part.source_position + part.length) as i64);
            ranges.shifts.push(part.position as i64 - part.source_position as i64);
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_put_together_from_logs() {
        let [own, one, two] = [1, 2, 3].map(Uuid::from_u128);
        let shared = vec![
            Part { position: 10, length: 20, log: one, source_position: 100 },
            Part { position: 40, length: 5, log: two, source_position: 0 },
        ];
        let layout = Layout { log: own, shared };
        let parts = |range: Range<u64>| -> Vec<(u64, u64, Uuid, u64)> {
            let fields = |part: &Part| (part.position, part.length, part.log, part.source_position);
            layout.parts(range).iter().map(fields).collect()
        };
        assert_eq!(parts(0..10), [(0, 10, own, 0)]);
        assert_eq!(parts(5..15), [(5, 5, own, 5), (10, 5, one, 100)]);
        assert_eq!(
            parts(15..60),
            [(15, 15, one, 105), (30, 10, own, 30), (40, 5, two, 0), (45, 15, own, 45)]
        );
        assert_eq!(parts(12..14), [(12, 2, one, 102)]);
        assert_eq!(parts(50..50), []);
    }
}
