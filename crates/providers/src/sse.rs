//! The event-stream decoder: bytes in any pieces -> frames.
//!
//! Lines end in LF, CRLF or CR, also when the pieces cut them in two. Bytes are turned into text line by line, so a
//! character that was cut is whole again; bytes that are no UTF-8 become replacement characters. Never touches a
//! network.

use std::ops::Range;

use memchr::memchr2;

/// An event is larger than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Turns bytes into frames: the data of an event each, lines joined by line feeds.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// The end of the part that was searched for the end of that line.
    seen: usize,
    /// The last line ended in CR at the end of a piece; a LF that follows belongs to it.
    after_cr: bool,
    is_first_line: bool,
    data: Option<String>,
}

impl Decoder {
    /// Makes a decoder that takes no event larger than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, bytes: Vec::new(), start: 0, seen: 0, after_cr: false, is_first_line: true, data: None }
    }

    /// Takes the next bytes in.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next frame that is complete.
    pub(crate) fn next(&mut self) -> Result<Option<String>, TooLarge> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                if let Some(frame) = self.flush() {
                    return Ok(Some(frame));
                }
            } else {
                self.field(line)?;
            }
        }
        let waiting = self.bytes.len() - self.start;
        if waiting + self.data.as_ref().map_or(0, String::len) > self.limit {
            Err(TooLarge)
        } else {
            Ok(None)
        }
    }

    /// Returns what is left when the stream is over: the lines that are complete, though no empty line came.
    pub(crate) fn flush(&mut self) -> Option<String> {
        self.data.take()
    }

    /// Returns the range of the next complete line.
    fn line(&mut self) -> Option<Range<usize>> {
        if self.after_cr {
            let next = *self.bytes.get(self.start)?;
            self.start += usize::from(next == b'\n');
            self.seen = self.seen.max(self.start);
            self.after_cr = false;
        }
        let Some(length) = memchr2(b'\n', b'\r', &self.bytes[self.seen..]) else {
            self.seen = self.bytes.len();
            return None;
        };
        let end = self.seen + length;
        self.after_cr = self.bytes[end] == b'\r';
        let mut line = self.start..end;
        if std::mem::take(&mut self.is_first_line) && self.bytes[line.clone()].starts_with(MARK) {
            line.start += MARK.len();
        }
        self.start = end + 1;
        self.seen = self.start;
        Some(line)
    }

    /// Takes one line in: only data counts for us, the services repeat the name of the event in it.
    fn field(&mut self, line: Range<usize>) -> Result<(), TooLarge> {
        let line = String::from_utf8_lossy(&self.bytes[line]);
        let Some(rest) = line.strip_prefix("data") else { return Ok(()) };
        let value = match rest.strip_prefix(':') {
            Some(value) => value.strip_prefix(' ').unwrap_or(value),
            None if rest.is_empty() => "",
            None => return Ok(()),
        };
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
        if self.data.as_ref().is_some_and(|data| data.len() > self.limit) { Err(TooLarge) } else { Ok(()) }
    }
}

/// The byte order mark that some servers send first.
const MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests;
