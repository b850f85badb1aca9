//! Times as a person reads them: the hour of a label, the age of a session. The zone comes from outside.

use jiff::civil::DateTime;
use session_tree::Timestamp;

pub use jiff::tz::TimeZone as Zone;

static UTC: Zone = Zone::UTC;

/// The current time and the time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    /// The current time.
    pub now: Timestamp,
    /// The zone that times are shown in.
    pub zone: &'static Zone,
}

impl Local {
    /// Makes a local time in UTC.
    pub fn utc(now: Timestamp) -> Self {
        Self { now, zone: &UTC }
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

    /// Returns the time that words name: `today`, `yesterday`, the last `monday`, or `3d` and `2w` for days and weeks ago.
    /// Days begin at midnight.
    pub fn named(self, words: &str) -> Option<Timestamp> {
        const WEEKDAYS: [&str; 7] =
            ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let today = self.civil(self.now)?.date();
        let days = match words {
            "today" => 0,
            "yesterday" => 1,
            words => match WEEKDAYS.iter().position(|day| *day == words) {
                Some(day) => (i64::from(today.weekday().to_monday_zero_offset()) - day as i64).rem_euclid(7),
                None => match words.strip_suffix('w') {
                    Some(weeks) => i64::from(weeks.parse::<u16>().ok()?) * 7,
                    None => i64::from(words.strip_suffix('d')?.parse::<u16>().ok()?),
                },
            },
        };
        let midnight =
            today.checked_sub(jiff::Span::new().days(days)).ok()?.to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp::from_millis(midnight.timestamp().as_millisecond()))
    }

    fn civil(self, time: Timestamp) -> Option<DateTime> {
        Some(self.zone.to_datetime(jiff::Timestamp::from_millisecond(time.as_millis()).ok()?))
    }
}

/// Returns how long ago a time was, such as `now`, `5m`, `3h`, `2d`, `3w`, `4mo` or `1y`.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    let minutes = now.as_millis().saturating_sub(then.as_millis()).max(0) / 60_000;
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

#[cfg(test)]
mod tests;
