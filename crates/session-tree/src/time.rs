//! Points in time as session files spell them: UTC with milliseconds.
//!
//! A base type. Reading the system's clock is left to a [`Clock`] that the application hands in.

use std::fmt;

/// A point in time, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Makes a timestamp from milliseconds since 1970 UTC.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970 UTC.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads an ISO 8601 time; a time without offset counts as UTC, a date alone as its midnight.
    ///
    /// ```
    /// # use session_tree::Timestamp;
    /// let t = Timestamp::parse("2025-12-09T00:52:54.397Z").unwrap();
    /// assert_eq!(t.as_millis(), 1_765_241_574_397);
    /// assert_eq!(t.to_string(), "2025-12-09T00:52:54.397Z");
    /// assert_eq!(Timestamp::parse("yesterday"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        parse_canonical(text.as_bytes()).or_else(|| parse_other(text))
    }

    /// Reads the time from the raw bytes of a line; anything that is no time gives `None`.
    pub(crate) fn parse_bytes(text: &[u8]) -> Option<Self> {
        parse_canonical(text).or_else(|| parse_other(std::str::from_utf8(text).ok()?))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => f.write_str("invalid time"),
        }
    }
}

/// Tells the time; injected so that tests and replays decide what "now" is.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// Asks the operating system for the time.
#[cfg(feature = "fs")]
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[cfg(feature = "fs")]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        Timestamp(millis)
    }
}

/// `2025-12-09T00:52:54.397Z`, the one spelling pi writes; a million of these are read per large file.
fn parse_canonical(t: &[u8]) -> Option<Timestamp> {
    let t: &[u8; 24] = t.try_into().ok()?;
    let shape = t[4] == b'-' && t[7] == b'-' && t[10] == b'T' && t[13] == b':' && t[16] == b':';
    if !shape || t[19] != b'.' || t[23] != b'Z' {
        return None;
    }
    let mut bad = false;
    let mut digits = |from: usize, to: usize| -> i64 {
        t[from..to].iter().fold(0, |n, b| {
            bad |= !b.is_ascii_digit();
            n * 10 + i64::from(b.wrapping_sub(b'0'))
        })
    };
    let (year, month, day) = (digits(0, 4), digits(5, 7), digits(8, 10));
    let (hour, minute, second, milli) = (digits(11, 13), digits(14, 16), digits(17, 19), digits(20, 23));
    let in_range = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
    if bad || !in_range || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(Timestamp(seconds * 1000 + milli))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March here, so that the leap day is the last one.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn parse_other(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(time.as_millisecond()));
    }
    let civil = text.parse::<jiff::civil::DateTime>().ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_times_agree_with_the_calendar_library() {
        for millis in [0, 951_782_399_999, 951_782_400_000, 1_765_241_574_397, 4_102_444_800_000, 1] {
            let text = Timestamp(millis).to_string();
            assert_eq!(parse_canonical(text.as_bytes()), Some(Timestamp(millis)), "{text}");
            assert_eq!(parse_other(&text), Some(Timestamp(millis)), "{text}");
        }
    }

    #[test]
    fn impossible_dates_are_no_times() {
        for text in
            ["2025-02-30T00:00:00.000Z", "2025-13-01T00:00:00.000Z", "2025-01-01T25:00:00.000Z", "x", ""]
        {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn other_spellings_are_understood() {
        assert_eq!(Timestamp::parse("1970-01-01"), Some(Timestamp(0)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01Z"), Some(Timestamp(1000)));
        assert_eq!(Timestamp::parse("1970-01-01T01:00:00+01:00"), Some(Timestamp(0)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:00.5"), Some(Timestamp(500)));
    }
}
