//! Streams the lines of a text file.

use std::io::{self, BufRead, BufReader, Read, Seek};

use serde_json::json;

use super::Range;
use crate::tool::{ToolOutput, ToolPlace};
use crate::tools::files;
use crate::tools::output::{self, Capped, CutBy, MAX_BYTES, MAX_LINES};
use crate::tools::work::{self, Cancellable};

/// The maximum size of a file whose lines are all counted.
const COUNTED: u64 = 64 * 1024 * 1024;
/// The size of one read.
const BUFFER: usize = 64 * 1024;

/// The lines that were read.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// The number of lines in the result.
    taken: usize,
    /// The number of lines seen, including skipped ones.
    seen: usize,
    cut_by: Option<CutBy>,
    is_partial: bool,
    /// True if the lines after the result were counted too.
    is_counted: bool,
}

/// Reads the requested lines and describes the omitted ones.
pub(super) fn read(
    mut file: impl Read + Seek,
    size: u64,
    range: Range,
    place: &ToolPlace,
) -> io::Result<ToolOutput> {
    skip_mark(&mut file)?;
    let file = Cancellable { file, cancel: &place.cancel };
    let lines = take(BufReader::with_capacity(BUFFER, file), size, range);
    if place.cancel.is_cancelled() {
        return Ok(work::cancelled());
    }
    let lines = lines?;
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

/// Skips a byte order mark.
fn skip_mark(file: &mut (impl Read + Seek)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(8, &mut *file);
    let skipped = if reader.fill_buf()?.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    file.seek(io::SeekFrom::Start(skipped)).map(drop)
}

/// Reads the file line by line. Keeps no more of a line than the result can contain.
fn take(mut reader: impl BufRead, size: u64, range: Range) -> io::Result<Lines> {
    let end = range.offset.saturating_add(range.limit.unwrap_or(MAX_LINES).min(MAX_LINES));
    let mut lines = Lines { is_counted: size <= COUNTED, ..Lines::default() };
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(MAX_BYTES as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            lines.is_counted = true;
            return Ok(lines);
        }
        lines.seen += 1;
        if (range.offset..end).contains(&lines.seen) && lines.cut_by.is_none() {
            lines.push(&line);
        }
        if !lines.is_counted && (lines.cut_by.is_some() || lines.seen >= end) {
            return Ok(lines);
        }
        if !line.ends_with(b"\n") {
            reader.skip_until(b'\n')?;
        }
    }
}

impl Lines {
    fn push(&mut self, line: &[u8]) {
        if self.bytes.len() + line.len() <= MAX_BYTES {
            self.bytes.extend_from_slice(line);
            self.taken += 1;
            return;
        }
        self.cut_by = Some(CutBy::Bytes);
        if self.taken == 0 {
            // A part of a line that is too long is better than nothing.
            self.bytes.extend_from_slice(&line[..MAX_BYTES]);
            files::drop_cut_character(&mut self.bytes);
            (self.taken, self.is_partial) = (1, true);
        }
    }
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
    /// Returns the number of the last line of the result, from 1.
    fn last(&self, range: Range) -> usize {
        range.offset + self.taken - 1
    }

    /// Describes the missing lines and how to get them.
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

    /// Returns the truncation for the details. A limit given in the call does not count.
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
