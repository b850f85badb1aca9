//! The live part at the bottom of a terminal, as bytes: rows that are done go above it and stay in the scrollback.
//!
//! ```text
//!   rows that were printed      <- never touched again
//!   the live part               <- drawn anew, only the rows that changed
//! ```
//!
//! Moves relative to the cursor only, so the terminal is never asked where the cursor is. Makes bytes; who owns the
//! terminal writes them.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use crate::clean::clean;

const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?2026l";

/// What the terminal shows of the live part.
#[derive(Debug, Default)]
pub struct Inline {
    rows: Vec<Row>,
    /// The row of the live part that the cursor is in.
    cursor_row: usize,
    /// Whether what is shown can no longer be relied on.
    is_stale: bool,
}

/// A row as bytes, and how many columns it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    bytes: String,
    columns: usize,
}

impl Inline {
    /// Makes the bytes that print rows above the live part and draw the live part.
    pub fn frame(&mut self, printed: &[Line<'_>], live: &Buffer, cursor: Option<Position>) -> String {
        let mut out = String::from(BEGIN);
        self.to_top(&mut out);
        if !printed.is_empty() || self.is_stale {
            out.push_str("\x1b[J");
            self.rows.clear();
            self.is_stale = false;
        }
        for line in printed {
            out.push_str(&line_row(line, live.area.width).bytes);
            out.push_str("\r\n");
        }
        self.draw(&mut out, live);
        self.place(&mut out, live.area, cursor);
        out.push_str(END);
        out
    }

    /// Makes the bytes that wipe the live part, so that something else can use the terminal.
    pub fn leave(&mut self) -> String {
        let mut out = String::from("\x1b[?25h");
        self.to_top(&mut out);
        out.push_str("\x1b[J");
        self.rows.clear();
        self.cursor_row = 0;
        out
    }

    /// Notes that the terminal has another width: rows that became too long now take several.
    pub fn resized(&mut self, columns: u16) {
        let columns = usize::from(columns.max(1));
        let above = self.rows.iter().take(self.cursor_row);
        self.cursor_row = above.map(|row| row.columns.div_ceil(columns).max(1)).sum();
        self.is_stale = true;
    }

    /// Notes that something else wrote to the terminal: drawing begins where the cursor is.
    pub fn forget(&mut self) {
        *self = Inline::default();
    }

    fn to_top(&self, out: &mut String) {
        if self.cursor_row > 0 {
            let _ = write!(out, "\x1b[{}A", self.cursor_row);
        }
        out.push('\r');
    }

    fn draw(&mut self, out: &mut String, live: &Buffer) {
        let rows: Vec<Row> = (live.area.top()..live.area.bottom()).map(|y| buffer_row(live, y)).collect();
        for (nth, row) in rows.iter().enumerate() {
            if nth > 0 {
                out.push_str("\r\n");
            }
            if self.rows.get(nth) != Some(row) {
                out.push_str("\r\x1b[2K");
                out.push_str(&row.bytes);
            }
        }
        if self.rows.len() > rows.len() && !rows.is_empty() {
            // There is a row below, so going there moves nothing.
            out.push_str("\r\n\x1b[J\x1b[1A");
        }
        self.rows = rows;
    }

    fn place(&mut self, out: &mut String, area: Rect, cursor: Option<Position>) {
        let last = self.rows.len().saturating_sub(1);
        out.push('\r');
        let Some(cursor) = cursor else {
            self.cursor_row = last;
            return;
        };
        self.cursor_row = usize::from(cursor.y.saturating_sub(area.y)).min(last);
        if last > self.cursor_row {
            let _ = write!(out, "\x1b[{}A", last - self.cursor_row);
        }
        let column = cursor.x.saturating_sub(area.x);
        if column > 0 {
            let _ = write!(out, "\x1b[{column}C");
        }
        out.push_str("\x1b[?25h");
    }
}

/// Makes the bytes that draw a whole screen.
pub fn screen(buffer: &Buffer) -> String {
    let mut out = String::from(BEGIN);
    for y in buffer.area.top()..buffer.area.bottom() {
        let _ = write!(out, "\x1b[{};1H\x1b[2K", y + 1);
        out.push_str(&buffer_row(buffer, y).bytes);
    }
    out.push_str(END);
    out
}

/// Makes the bytes that put a text into the clipboard, also over a network.
pub fn to_clipboard(text: &str) -> String {
    use crossterm::Command;
    let mut out = String::new();
    // Writing into a string does not fail.
    let _ = crossterm::clipboard::CopyToClipboard::to_clipboard_from(text).write_ansi(&mut out);
    out
}

fn line_row(line: &Line<'_>, columns: u16) -> Row {
    let area = Rect::new(0, 0, columns, 1);
    let mut buffer = Buffer::empty(area);
    buffer.set_style(area, line.style);
    buffer.set_line(0, 0, line, columns);
    buffer_row(&buffer, 0)
}

/// Spells a row of cells as bytes, without blanks at its end; a background reaches to the edge without being written.
fn buffer_row(buffer: &Buffer, y: u16) -> Row {
    let cells: Vec<&Cell> = (buffer.area.left()..buffer.area.right()).map(|x| &buffer[(x, y)]).collect();
    let tail = cells.last().map(|cell| cell.style()).unwrap_or_default();
    let is_tail = |cell: &&Cell| cell.symbol() == " " && cell.style() == tail && tail.add_modifier.is_empty();
    let end = cells.len() - cells.iter().rev().take_while(|cell| is_tail(cell)).count();
    let mut row = Row { bytes: String::new(), columns: end };
    let mut style = Style::new();
    let mut at = 0;
    while let Some(cell) = cells.get(at).filter(|_| at < end) {
        set_style(&mut row.bytes, &mut style, cell.style());
        push_symbol(&mut row.bytes, cell.symbol());
        at += cell.symbol().width().max(1);
    }
    if tail.bg.is_some_and(|bg| bg != Color::Reset) && end < cells.len() {
        set_style(&mut row.bytes, &mut style, tail);
        row.bytes.push_str("\x1b[K");
    }
    if style != Style::new() {
        row.bytes.push_str("\x1b[0m");
    }
    row
}

/// The last look at what goes to the terminal: what hides or steers takes no column here, and goes nowhere.
fn push_symbol(out: &mut String, symbol: &str) {
    let cleaned = clean(symbol);
    if cleaned == symbol {
        return out.push_str(symbol);
    }
    let substitutes = |c: &char| *c == char::REPLACEMENT_CHARACTER || ('\u{2400}'..='\u{2421}').contains(c);
    out.extend(cleaned.chars().filter(|c| !substitutes(c)));
}

fn set_style(out: &mut String, current: &mut Style, wanted: Style) {
    let wanted = spelled(wanted);
    if *current == wanted {
        return;
    }
    *current = wanted;
    out.push_str("\x1b[0");
    for (modifier, code) in MODIFIERS {
        if wanted.add_modifier.contains(modifier) {
            let _ = write!(out, ";{code}");
        }
    }
    colour(out, wanted.fg, 30, 38);
    colour(out, wanted.bg, 40, 48);
    out.push('m');
}

/// The usual colours need no words.
fn spelled(style: Style) -> Style {
    let unusual = |colour: Option<Color>| colour.filter(|colour| *colour != Color::Reset);
    Style { fg: unusual(style.fg), bg: unusual(style.bg), add_modifier: style.add_modifier, ..Style::new() }
}

const MODIFIERS: [(Modifier, u8); 7] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

fn colour(out: &mut String, colour: Option<Color>, base: u8, extended: u8) {
    let number = match colour {
        None | Some(Color::Reset) => return,
        Some(Color::Rgb(red, green, blue)) => {
            let _ = write!(out, ";{extended};2;{red};{green};{blue}");
            return;
        }
        Some(Color::Indexed(number)) => {
            let _ = write!(out, ";{extended};5;{number}");
            return;
        }
        Some(Color::Black) => 0,
        Some(Color::Red) => 1,
        Some(Color::Green) => 2,
        Some(Color::Yellow) => 3,
        Some(Color::Blue) => 4,
        Some(Color::Magenta) => 5,
        Some(Color::Cyan) => 6,
        Some(Color::Gray) => 7,
        Some(Color::DarkGray) => 60,
        Some(Color::LightRed) => 61,
        Some(Color::LightGreen) => 62,
        Some(Color::LightYellow) => 63,
        Some(Color::LightBlue) => 64,
        Some(Color::LightMagenta) => 65,
        Some(Color::LightCyan) => 66,
        Some(Color::White) => 67,
    };
    let _ = write!(out, ";{}", base + number);
}

#[cfg(test)]
mod tests;
