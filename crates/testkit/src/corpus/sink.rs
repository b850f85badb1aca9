//! The bytes on their way out: one buffer, JSON spelling, and the first failure of the writer.
//!
//! A failure is kept until the end, so that the code which spells entries reads like the lines it writes.
//! Knows nothing of entries or trees.

use std::io::{self, Write};

/// How many bytes wait before they are handed on; even one giant line is passed on in such pieces.
const SPILL: usize = 1 << 18;

/// A buffered writer of JSON pieces that remembers its first failure.
pub(super) struct Sink<'w, W> {
    out: &'w mut W,
    buffer: Vec<u8>,
    handed_on: u64,
    failure: Option<io::Error>,
}

impl<'w, W: Write> Sink<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        Self { out, buffer: Vec::with_capacity(SPILL + SPILL / 4), handed_on: 0, failure: None }
    }

    /// How many bytes were written, those still waiting included.
    pub(super) fn bytes(&self) -> u64 {
        self.handed_on + self.buffer.len() as u64
    }

    /// Whether the writer has failed, so that going on is useless.
    pub(super) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes text that is already JSON.
    pub(super) fn raw(&mut self, json: &str) {
        self.buffer.extend_from_slice(json.as_bytes());
        if self.buffer.len() >= SPILL {
            self.hand_on();
        }
    }

    /// Writes a string with its quotes and escapes.
    pub(super) fn quoted(&mut self, text: &str) {
        let spelled = serde_json::to_writer(&mut self.buffer, text);
        if let Err(error) = spelled {
            self.failure.get_or_insert(error.into());
        }
    }

    /// Writes a whole number.
    pub(super) fn number(&mut self, number: u64) {
        // Writing to a vector cannot fail.
        let _ = write!(self.buffer, "{number}");
    }

    /// Writes an amount of money given in millionths, as JavaScript spells the number.
    pub(super) fn money(&mut self, micros: u64) {
        self.number(micros / 1_000_000);
        let mut fraction = micros % 1_000_000;
        if fraction == 0 {
            return;
        }
        let mut digits = 6;
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            digits -= 1;
        }
        let _ = write!(self.buffer, ".{fraction:0digits$}");
    }

    /// Writes an entry id with its quotes.
    pub(super) fn id(&mut self, id: u32) {
        let _ = write!(self.buffer, "\"{id:08x}\"");
    }

    /// Writes a time, given in milliseconds since 1970, as a quoted ISO string.
    pub(super) fn time(&mut self, millis: u64) {
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(iso(millis).as_bytes());
        self.buffer.push(b'"');
    }

    /// Writes the rest and returns the first error.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.hand_on();
        match self.failure {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.handed_on)
            }
        }
    }

    fn hand_on(&mut self) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(&self.buffer).err();
        }
        self.handed_on += self.buffer.len() as u64;
        self.buffer.clear();
    }
}

/// Spells a time as ISO 8601 in UTC with milliseconds.
pub(super) fn iso(millis: u64) -> String {
    let (year, month, day) = civil(millis / 86_400_000);
    let (hour, minute) = (millis / 3_600_000 % 24, millis / 60_000 % 60);
    let (second, milli) = (millis / 1000 % 60, millis % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Turns a count of days since 1970 into year, month and day.
///
/// Counts years from March, so that the leap day is the last day of a year.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}
