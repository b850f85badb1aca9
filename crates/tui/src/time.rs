//! Times as a person reads them: the hour of a label, the age of a session. The zone comes from outside.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use session_tree::Timestamp;

/// What time it is, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    /// The current time.
    pub now: Timestamp,
    /// How many seconds local time is ahead of UTC.
    pub offset_seconds: i32,
}

impl Local {
    /// Makes a local time in UTC.
    pub fn utc(now: Timestamp) -> Self {
        Self { now, offset_seconds: 0 }
    }

    /// Returns the time of a label: `HH:MM` today, `M/D HH:MM` this year, else `YY/M/D HH:MM`.
    pub fn stamp(self, time: Timestamp) -> String {
        let (Some(time), Some(now)) = (self.civil(time), self.civil(self.now)) else { return String::new() };
        let clock = format!("{:02}:{:02}", time.hour(), time.minute());
        let (month, day) = (time.month(), time.day());
        match (time.date() == now.date(), time.year() == now.year()) {
            (true, _) => clock,
            (false, true) => format!("{month}/{day} {clock}"),
            (false, false) => format!("{:02}/{month}/{day} {clock}", time.year().rem_euclid(100)),
        }
    }

    /// Returns how long ago a time was, such as `now`, `5m`, `3h`, `2d`, `3w`, `4mo` or `1y`.
    pub fn age(self, time: Timestamp) -> String {
        let minutes = self.now.as_millis().saturating_sub(time.as_millis()).max(0) / 60_000;
        let (hours, days) = (minutes / 60, minutes / (24 * 60));
        match days {
            0 if minutes == 0 => "now".to_owned(),
            0 if hours == 0 => format!("{minutes}m"),
            0 => format!("{hours}h"),
            1..=6 => format!("{days}d"),
            7..=29 => format!("{}w", days / 7),
            30..=364 => format!("{}mo", days / 30),
            _ => format!("{}y", days / 365),
        }
    }

    fn civil(self, time: Timestamp) -> Option<DateTime> {
        let offset = Offset::from_seconds(self.offset_seconds).ok()?;
        Some(offset.to_datetime(jiff::Timestamp::from_millisecond(time.as_millis()).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_stamp_is_as_short_as_it_can_be() {
        let local = Local { now: at("2026-03-05T12:00:00Z"), offset_seconds: 3600 };
        assert_eq!(local.stamp(at("2026-03-05T08:05:00Z")), "09:05");
        assert_eq!(local.stamp(at("2026-03-04T23:30:00Z")), "00:30");
        assert_eq!(local.stamp(at("2026-01-02T08:05:00Z")), "1/2 09:05");
        assert_eq!(local.stamp(at("2025-12-31T10:00:00Z")), "25/12/31 11:00");
    }

    #[test]
    fn an_age_has_one_unit() {
        let local = Local::utc(at("2026-03-05T12:00:00Z"));
        let ages =
            ["2026-03-05T12:00:30Z", "2026-03-05T11:55:00Z", "2026-03-05T01:00:00Z", "2026-03-01T12:00:00Z"];
        assert_eq!(ages.map(|time| local.age(at(time))), ["now", "5m", "11h", "4d"]);
        let ages = ["2026-02-20T12:00:00Z", "2025-12-05T12:00:00Z", "2020-01-01T00:00:00Z"];
        assert_eq!(ages.map(|time| local.age(at(time))), ["1w", "3mo", "6y"]);
    }
}
