//! Lines of a text file, read as a stream.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};

use serde_json::json;

use super::Range;
use crate::tool::{ToolOutput, ToolPlace};
use crate::tools::output::{self, Capped, CutBy, MAX_BYTES, MAX_LINES};
use crate::tools::work;

/// Up to this size the lines of a file are counted to the end.
const COUNTED: u64 = 64 * 1024 * 1024;
/// How much is read at once.
const BUFFER: usize = 64 * 1024;

/// What came of reading some lines.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// How many lines were taken.
    taken: usize,
    /// How many lines were seen, taken or not.
    seen: usize,
    cut_by: Option<CutBy>,
    is_partial: bool,
    /// Whether the lines after the taken ones were counted too.
    is_counted: bool,
}

/// Reads the wanted lines and says what is left out.
pub(super) fn read(mut file: File, size: u64, range: Range, place: &ToolPlace) -> io::Result<ToolOutput> {
    skip_mark(&mut file)?;
    let lines = take(BufReader::with_capacity(BUFFER, file), size, range, place)?;
    if place.cancel.is_cancelled() {
        return Ok(work::cancelled());
    }
    if lines.seen == 0 {
        return Ok(ToolOutput::text("[The file is empty.]"));
    }
    if lines.taken == 0 {
        let (offset, seen) = (range.offset, lines.seen);
        return Ok(ToolOutput::error(format!(
            "line {offset} is beyond the end of the file, which has {seen} lines"
        )));
    }
    Ok(shown(&lines, size, range))
}

/// Skips a byte order mark: it is no part of the text.
fn skip_mark(file: &mut File) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(8, &mut *file);
    let skipped = if reader.fill_buf()?.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    file.seek(io::SeekFrom::Start(skipped)).map(drop)
}

/// Goes through the file line by line, in pieces of the buffer: a line may be longer than memory.
fn take(mut reader: impl BufRead, size: u64, range: Range, place: &ToolPlace) -> io::Result<Lines> {
    let most = range.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
    let mut lines = Lines { is_counted: size <= COUNTED, ..Lines::default() };
    let mut in_line = false;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            lines.is_counted = true;
            return Ok(lines);
        }
        let end = memchr::memchr(b'\n', buffer).map(|at| at + 1);
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        if !in_line {
            lines.seen += 1;
        }
        let wanted = lines.seen >= range.offset && lines.seen - range.offset < most;
        if wanted && lines.cut_by.is_none() {
            lines.take_piece(piece, !in_line);
        }
        let done =
            !lines.is_counted && (lines.cut_by.is_some() || lines.seen >= range.offset.saturating_add(most));
        in_line = end.is_none();
        let used = piece.len();
        reader.consume(used);
        if done || place.cancel.is_cancelled() {
            return Ok(lines);
        }
    }
}

impl Lines {
    fn take_piece(&mut self, piece: &[u8], begins: bool) {
        let room = MAX_BYTES - self.bytes.len();
        if piece.len() <= room {
            self.bytes.extend_from_slice(piece);
            self.taken += usize::from(begins);
            return;
        }
        self.cut_by = Some(CutBy::Bytes);
        let first = self.taken == 0 || (self.taken == 1 && !begins);
        if first {
            // A first line that is too long alone is better than nothing.
            self.bytes.extend_from_slice(&piece[..char_end(piece, room)]);
            self.taken = 1;
            self.is_partial = true;
        } else if !begins {
            // The line was begun with earlier pieces: give it back.
            let start = memchr::memrchr(b'\n', &self.bytes).map_or(0, |at| at + 1);
            self.bytes.truncate(start);
            self.taken -= 1;
        }
    }
}

/// The last place up to `at` where a character begins.
fn char_end(bytes: &[u8], at: usize) -> usize {
    let inside = bytes[..=at.min(bytes.len() - 1)].iter().rev().take(4);
    at - inside.take_while(|&&byte| byte & 0xC0 == 0x80).count().min(at)
}

fn shown(lines: &Lines, size: u64, range: Range) -> ToolOutput {
    let mut text = String::from_utf8_lossy(&lines.bytes).into_owned();
    let is_lossy = std::str::from_utf8(&lines.bytes).is_err();
    if let Some(note) = lines.left_out(range) {
        output::add_note(&mut text, &note);
    }
    if is_lossy {
        output::add_note(
            &mut text,
            "The file is not valid UTF-8; bytes that cannot be shown are replaced by \u{fffd}.",
        );
    }
    match lines.capped(size, range) {
        capped if capped.cut_by.is_some() => {
            let mut truncation = capped.truncation();
            truncation["outputBytes"] = json!(lines.bytes.len());
            ToolOutput::text(text).with_details(json!({ "truncation": truncation }))
        }
        _ => ToolOutput::text(text),
    }
}

impl Lines {
    /// The last line that was taken, counted from 1.
    fn last(&self, range: Range) -> usize {
        range.offset + self.taken - 1
    }

    /// Says which lines are missing and how to get them.
    fn left_out(&self, range: Range) -> Option<String> {
        let (first, last) = (range.offset, self.last(range));
        let next = last + 1;
        let of = if self.is_counted { format!(" of {}", self.seen) } else { String::new() };
        if self.is_partial {
            let kept = output::size(self.bytes.len() as u64);
            return Some(format!(
                "Line {first}{of} is too long: its first {kept} are shown. Read on with offset={next}, or see the \
                 rest of the line with bash."
            ));
        }
        (self.seen > last).then(|| format!("Lines {first}-{last}{of} are shown. Read on with offset={next}."))
    }

    /// The caps as details tell them; a limit of the call is no cap.
    fn capped(&self, size: u64, range: Range) -> Capped {
        let is_own_cap = range.limit.is_none_or(|limit| limit > MAX_LINES);
        let by_lines = is_own_cap && self.taken == MAX_LINES && self.seen > self.last(range);
        Capped {
            text: String::new(),
            cut_by: self.cut_by.or(by_lines.then_some(CutBy::Lines)),
            lines: self.taken,
            total_lines: self.seen,
            total_bytes: size,
            is_partial: self.is_partial,
        }
    }
}
