//! The limits on the output of a tool, and descriptions of what they cut.
//!
//! Used by every tool. Never touches files.

use serde_json::{Value as Json, json};

/// The maximum number of lines of a result.
pub(crate) const MAX_LINES: usize = 2_000;
/// The maximum number of bytes of a result.
pub(crate) const MAX_BYTES: usize = 50 * 1024;

/// The limit that a text reached first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutBy {
    Lines,
    Bytes,
}

/// A text within the limits, and its original size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capped {
    pub(crate) text: String,
    pub(crate) cut_by: Option<CutBy>,
    pub(crate) lines: usize,
    pub(crate) total_lines: usize,
    pub(crate) total_bytes: u64,
    /// True if only a part of its only line fits.
    pub(crate) is_partial: bool,
}

impl Capped {
    /// Returns the value of `details.truncation`, with pi's field names.
    pub(crate) fn truncation(&self) -> Json {
        json!({
            "truncated": self.cut_by.is_some(),
            "truncatedBy": self.cut_by.map(|by| match by { CutBy::Lines => "lines", CutBy::Bytes => "bytes" }),
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.lines,
            "outputBytes": self.text.len(),
            "lastLinePartial": self.is_partial,
            "maxLines": MAX_LINES,
            "maxBytes": MAX_BYTES,
        })
    }
}

/// The first lines of a text that may be too long to keep.
#[derive(Debug, Default)]
pub(crate) struct Head {
    text: String,
    lines: usize,
    total_lines: usize,
    total_bytes: u64,
}

impl Head {
    /// Adds a line, including its line feed. After the first line that does not fit, lines are only counted.
    pub(crate) fn push(&mut self, line: &str) {
        let fits = self.text.len() + line.len() <= MAX_BYTES;
        if fits && self.lines == self.total_lines {
            self.text.push_str(line);
            self.lines += 1;
        }
        self.total_lines += 1;
        self.total_bytes += line.len() as u64;
    }

    /// Returns true if no line was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.total_lines == 0
    }

    /// Returns the lines within the byte limit.
    pub(crate) fn into_capped(self) -> Capped {
        let Head { text, lines, total_lines, total_bytes } = self;
        let cut_by = (lines < total_lines).then_some(CutBy::Bytes);
        Capped { text, cut_by, lines, total_lines, total_bytes, is_partial: false }
    }
}

/// The last bytes of a text that is too long to keep.
///
/// ```text
///   bytes come in -> [ forgotten | held, at least what the caps let through ]
/// ```
#[derive(Debug, Default)]
pub(crate) struct Tail {
    held: Vec<u8>,
    total_bytes: u64,
    line_feeds: usize,
}

impl Tail {
    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        self.total_bytes += bytes.len() as u64;
        self.line_feeds += memchr::memchr_iter(b'\n', bytes).count();
    }

    /// Drops the bytes that no result can contain.
    pub(crate) fn trim(&mut self) {
        if self.held.len() > 3 * MAX_BYTES {
            // One byte more than the limit shows whether the rest starts a line.
            self.held.drain(..self.held.len() - MAX_BYTES - 1);
        }
    }

    /// Returns the bytes still held: all of them until the first [`Tail::trim`].
    pub(crate) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Returns true if a result cannot contain everything.
    pub(crate) fn is_over(&self) -> bool {
        self.total_bytes > MAX_BYTES as u64 || self.total_lines() > MAX_LINES
    }

    fn total_lines(&self) -> usize {
        let open_line = self.held.last().is_some_and(|&last| last != b'\n');
        self.line_feeds + usize::from(open_line)
    }

    /// Returns the last whole lines within the limits, or the end of the last line if it is too long.
    pub(crate) fn capped(&self) -> Capped {
        let (start, cut_by) = self.start();
        let is_partial = start > 0 && self.held[start - 1] != b'\n';
        let text = String::from_utf8_lossy(&self.held[start..]).into_owned();
        Capped {
            lines: text.lines().count(),
            text,
            cut_by,
            total_lines: self.total_lines(),
            total_bytes: self.total_bytes,
            is_partial,
        }
    }

    /// Returns the offset of the result in the held bytes.
    fn start(&self) -> (usize, Option<CutBy>) {
        if !self.is_over() {
            return (0, None);
        }
        let body = self.held.strip_suffix(b"\n").unwrap_or(&self.held);
        let by_lines = memchr::memrchr_iter(b'\n', body).nth(MAX_LINES - 1).map_or(0, |at| at + 1);
        if self.held.len() - by_lines <= MAX_BYTES {
            return (by_lines, Some(CutBy::Lines));
        }
        let earliest = self.held.len() - MAX_BYTES;
        let whole_line = memchr::memchr(b'\n', &self.held[earliest - 1..body.len()]).map(|at| earliest + at);
        let start = whole_line.unwrap_or_else(|| char_start(&self.held, earliest));
        (start, Some(CutBy::Bytes))
    }
}

/// Returns the first byte from `at` on that starts a character.
fn char_start(bytes: &[u8], at: usize) -> usize {
    let inside = bytes[at..].iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count();
    at + inside
}

/// Truncates a line to `most` characters. Returns true if it was longer.
pub(crate) fn short_line(line: &str, most: usize) -> (String, bool) {
    match line.char_indices().nth(most) {
        Some((at, _)) => (format!("{}... [line cut]", &line[..at]), true),
        None => (line.to_owned(), false),
    }
}

/// Formats a number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = KB * KB;
    // One decimal, computed with integers.
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..KB => format!("{bytes} bytes"),
        KB..MB => format!("{} KB", tenths(KB)),
        MB.. => format!("{} MB", tenths(MB)),
    }
}

/// Adds a note in brackets below a text.
pub(crate) fn add_note(text: &mut String, note: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push('[');
    text.push_str(note);
    text.push(']');
}

#[cfg(test)]
mod tests;
