//! Timestamps as in session files: UTC with milliseconds.
//!
//! A base type. The current time comes from a [`Clock`].

use std::fmt;

/// A point in time, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates a timestamp from milliseconds since 1970 UTC.
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

    /// Reads a time from the raw bytes of a line.
    pub(crate) fn parse_bytes(text: &[u8]) -> Option<Self> {
        parse_canonical(text).or_else(|| parse_other(std::str::from_utf8(text).ok()?))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millis) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        match year {
            0..=9999 => write!(f, "{year:04}")?,
            -9999..0 => write!(f, "{year:+07}")?,
            _ => return f.write_str("invalid time"),
        }
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// The source of the current time, so that tests and replays can set it.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
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

/// Reads `2025-12-09T00:52:54.397Z`, the one spelling that pi writes; a large file has a million of these.
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

/// Returns the date that is so many days after 1970-01-01, as year, month and day.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Reads the other spellings of ISO 8601: with or without dashes and colons, fractions, offset; a date alone is its midnight.
fn parse_other(text: &str) -> Option<Timestamp> {
    let mut rest = TimeReader(text.as_bytes());
    let year = match rest.sign() {
        Some(sign) => sign * rest.digits(6)?,
        None => rest.digits(4)?,
    };
    let dashes = rest.take(b'-');
    let month = rest.digits(2)?;
    if dashes != rest.take(b'-') {
        return None;
    }
    let day = rest.digits(2)?;
    let (mut millis, mut offset) = (0, 0);
    if rest.take(b'T') || rest.take(b't') || rest.take(b' ') {
        millis = rest.time()?;
        offset = rest.offset()?;
    }
    let is_date = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
    if !is_date || !rest.0.is_empty() || year.abs() > 9999 {
        return None;
    }
    Some(Timestamp(days_from_civil(year, month, day) * 86_400_000 + millis - offset))
}

/// Reads a time; holds the part that was not read yet.
struct TimeReader<'t>(&'t [u8]);

impl TimeReader<'_> {
    fn take(&mut self, byte: u8) -> bool {
        let rest = self.0.strip_prefix(&[byte]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn sign(&mut self) -> Option<i64> {
        if self.take(b'+') { Some(1) } else { self.take(b'-').then_some(-1) }
    }

    /// Reads exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |n, digit| digit.is_ascii_digit().then(|| n * 10 + i64::from(digit - b'0')))
    }

    /// Reads two digits up to `max`, after a colon if there is one.
    fn part(&mut self, max: i64) -> Option<Option<i64>> {
        let colon = self.take(b':');
        if !colon && !self.0.first().is_some_and(u8::is_ascii_digit) {
            return Some(None);
        }
        self.digits(2).filter(|part| *part <= max).map(Some)
    }

    /// Reads hours, minutes and seconds with their fraction, in milliseconds.
    fn time(&mut self) -> Option<i64> {
        let hour = self.digits(2).filter(|hour| *hour <= 23)?;
        let minute = self.part(59)?;
        let second = if minute.is_some() { self.part(60)? } else { None };
        // A leap second counts as the one before it.
        let seconds = hour * 3600 + minute.unwrap_or(0) * 60 + second.unwrap_or(0).min(59);
        let mut millis = seconds * 1000;
        if second.is_some() && (self.take(b'.') || self.take(b',')) {
            let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let fraction = &self.0[..count];
            self.0 = &self.0[count..];
            if count == 0 || count > 9 {
                return None;
            }
            let digit = |at: usize| fraction.get(at).map_or(0, |digit| i64::from(digit - b'0'));
            millis += digit(0) * 100 + digit(1) * 10 + digit(2);
        }
        Some(millis)
    }

    /// Reads an offset from UTC, in milliseconds; no offset counts as UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.take(b'Z') || self.take(b'z') {
            return Some(0);
        }
        let sign = self.sign()?;
        let hour = self.digits(2).filter(|hour| *hour <= 25)?;
        let minute = self.part(59)?;
        let second = if minute.is_some() { self.part(59)? } else { None };
        Some(sign * (hour * 3600 + minute.unwrap_or(0) * 60 + second.unwrap_or(0)) * 1000)
    }
}

#[cfg(test)]
mod tests;
