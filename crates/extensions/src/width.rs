//! How wide text is on a terminal, and how it is cut and wrapped. Escape codes have no width and are kept.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A part of a text: something that is seen, or an escape code.
enum Piece<'t> {
    Seen(&'t str),
    Code(&'t str),
}

/// Returns how many columns a text takes.
pub(crate) fn visible(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    pieces(text).iter().map(|piece| piece.width()).sum()
}

/// Cuts a text that is wider than `columns` and puts an ellipsis at its end.
pub(crate) fn truncate(text: &str, columns: usize, ellipsis: &str) -> String {
    if visible(text) <= columns {
        return text.to_owned();
    }
    let ellipsis = if visible(ellipsis) <= columns { ellipsis } else { "" };
    let room = columns - visible(ellipsis);
    let (mut cut, mut used, mut is_full) = (String::new(), 0, false);
    for piece in pieces(text) {
        match piece {
            // Codes behind the cut are kept: they switch off what was switched on.
            Piece::Code(code) => cut.push_str(code),
            Piece::Seen(seen) if !is_full && used + piece.width() <= room => {
                cut.push_str(seen);
                used += piece.width();
            }
            Piece::Seen(_) if !is_full => {
                cut.push_str(ellipsis);
                is_full = true;
            }
            Piece::Seen(_) => {}
        }
    }
    cut
}

/// Returns at most `columns` of a text from a column on, with the codes before it. A letter that is cut apart is left out.
pub(crate) fn slice(text: &str, start: usize, columns: usize) -> String {
    let (mut cut, mut at) = (String::new(), 0);
    for piece in pieces(text) {
        let end = at + piece.width();
        match piece {
            Piece::Code(code) => cut.push_str(code),
            Piece::Seen(seen) if at >= start && end <= start.saturating_add(columns) => cut.push_str(seen),
            Piece::Seen(_) => {}
        }
        at = end;
    }
    cut
}

/// Breaks a text into lines of at most `columns`, between words where that is possible. Colours go on in the next line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut wrapped = Wrapped::default();
    for line in text.split('\n') {
        for word in line.split_inclusive(' ') {
            if wrapped.used > 0 && wrapped.used + visible(word.trim_end_matches(' ')) > columns {
                wrapped.break_line();
            }
            pieces(word).into_iter().for_each(|piece| wrapped.put(&piece, columns));
        }
        wrapped.break_line();
    }
    wrapped.lines
}

/// Lines while they are filled.
#[derive(Default)]
struct Wrapped {
    lines: Vec<String>,
    line: String,
    used: usize,
    /// The colours at the end of the line.
    codes: String,
}

impl Wrapped {
    fn put(&mut self, piece: &Piece<'_>, columns: usize) {
        match piece {
            Piece::Code(code) => {
                self.line.push_str(code);
                match *code {
                    "\u{1b}[0m" | "\u{1b}[m" => self.codes.clear(),
                    code if code.ends_with('m') => self.codes.push_str(code),
                    _ => {}
                }
            }
            // A space at the end of a full line is not needed.
            Piece::Seen(" ") if self.used >= columns => {}
            Piece::Seen(seen) => {
                if self.used > 0 && self.used + piece.width() > columns {
                    self.break_line();
                }
                self.line.push_str(seen);
                self.used += piece.width();
            }
        }
    }

    fn break_line(&mut self) {
        let mut line = std::mem::replace(&mut self.line, self.codes.clone());
        line.truncate(line.trim_end_matches(' ').len());
        if !self.codes.is_empty() {
            line.push_str("\u{1b}[0m");
        }
        self.lines.push(line);
        self.used = 0;
    }
}

impl Piece<'_> {
    fn width(&self) -> usize {
        match self {
            Piece::Code(_) => 0,
            Piece::Seen("\t") => 3,
            Piece::Seen(seen) => seen.width().min(2),
        }
    }
}

/// Takes a text apart: clusters that are seen, and escape codes.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find('\u{1b}').unwrap_or(rest.len());
        pieces.extend(rest[..plain].graphemes(true).map(Piece::Seen));
        rest = &rest[plain..];
        if !rest.is_empty() {
            let length = code_length(rest);
            pieces.push(Piece::Code(&rest[..length]));
            rest = &rest[length..];
        }
    }
    pieces
}

/// Returns the length of the escape code at the beginning of a text.
fn code_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            let last = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte));
            last.map_or(text.len(), |at| at + 3)
        }
        Some(b']' | b'_' | b'P' | b'^') => {
            let bell = text.find('\u{7}').map(|at| at + 1);
            let terminator = text[2..].find("\u{1b}\\").map(|at| at + 4);
            [bell, terminator].into_iter().flatten().min().unwrap_or(text.len())
        }
        Some(byte) if byte.is_ascii() => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
