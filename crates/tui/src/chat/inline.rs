//! The live part at the bottom of a terminal, as bytes: finished rows go above it and stay in the scrollback.
//!
//! ```text
//!   flowing                            anchored, after the live part became smaller
//!     printed rows                       recent rows, which are in the scrollback too
//!     the live part                      rows that are not in the scrollback yet
//!                                        the live part
//! ```
//!
//! A tall live part pushes printed rows into the scrollback, and a terminal does not bring them back. When it becomes
//! smaller, the rest of the screen therefore shows the most recent rows again. The region that is drawn is then
//! *anchored* to the top of the screen. New rows replace the repeated ones first and are printed only when none is left,
//! so each row is in the scrollback once and in order.
//!
//! The terminal is never asked where the cursor is: a flowing region moves relative to the cursor, an anchored one is
//! drawn from the top of the screen. This module makes bytes; its caller writes them.

use std::collections::VecDeque;
use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use crate::clean::clean;
use crate::wrap::{Margin, wrap};

const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?2026l";
const HOME: &str = "\x1b[H";
/// Erases all rows below that of the cursor. Erasing from the top of the screen would make tmux copy it into the
/// scrollback.
const ERASE_BELOW: &str = "\x1b7\x1b[1B\r\x1b[J\x1b8";
const ERASE_ROW: &str = "\r\x1b[2K";
/// How many printed rows are remembered at least; no terminal is higher.
const MIN_RECENT: usize = 300;

/// The part of the terminal that is drawn again and again.
#[derive(Debug, Default)]
pub struct Inline {
    /// The rows of the region as the terminal shows them.
    rows: Vec<Row>,
    /// The row of the region that the cursor is in.
    cursor_row: usize,
    /// True if the terminal may show something else than `rows`.
    is_stale: bool,
    /// The last rows that were printed, oldest first.
    recent: VecDeque<Line<'static>>,
    /// How many rows were printed above the region.
    above: usize,
    /// Set while the region is anchored.
    anchored: Option<Anchored>,
    /// The row of the region where the live part begins.
    live_row: usize,
    /// Columns and rows of the screen when the last frame was drawn.
    screen: (u16, usize),
    /// How many rows of the screen are below the cursor, if the region reaches the last row.
    below_cursor: usize,
}

/// The state of a region that begins at the top of the screen.
#[derive(Debug, Clone, Copy, Default)]
struct Anchored {
    /// How many of the recent rows are not in the scrollback.
    unprinted: usize,
    /// How many rows at the top repeat rows of the scrollback.
    repeated: usize,
    /// Rows that a lower screen moved into the scrollback: repeated ones, and after them unprinted ones.
    moved_repeated: usize,
    moved_unprinted: usize,
}

impl Anchored {
    /// Follows a terminal that became lower: it drops rows below the cursor, then moves rows from the top into the
    /// scrollback. Returns how many unprinted rows are there now.
    fn shrink(&mut self, by: usize, below_cursor: usize) -> usize {
        let moved = by.saturating_sub(below_cursor);
        let repeated = moved.min(self.repeated);
        let unprinted = (moved - repeated).min(self.unprinted);
        self.moved_repeated += repeated;
        self.moved_unprinted += unprinted;
        self.unprinted -= unprinted;
        unprinted
    }

    /// Follows a terminal that became higher: it takes rows out of the scrollback, and we draw over them. Returns how
    /// many of the `above` printed rows are on the screen again.
    fn grow(&mut self, by: usize, above: usize) -> usize {
        let unprinted = by.min(self.moved_unprinted);
        let repeated = (by - unprinted).min(self.moved_repeated);
        self.moved_unprinted -= unprinted;
        self.moved_repeated -= repeated;
        let back = unprinted + (by - unprinted - repeated).min(above.saturating_sub(unprinted));
        self.unprinted += back;
        back
    }
}

/// A row as bytes, and how many columns it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    bytes: String,
    columns: usize,
}

impl Inline {
    /// Makes the bytes that print rows above the live part and draw the live part, on a screen with this many rows.
    pub fn frame(
        &mut self,
        printed: &[Line<'static>],
        live: &Buffer,
        cursor: Option<Position>,
        screen_rows: u16,
    ) -> String {
        let screen_rows = usize::from(screen_rows);
        let live_rows: Vec<Row> =
            (live.area.top()..live.area.bottom()).map(|y| buffer_row(live, y)).collect();
        let mut out = String::from(BEGIN);
        self.remember(printed, screen_rows);
        let screen = (live.area.width, screen_rows);
        self.is_stale |= !self.rows.is_empty() && self.screen != screen;
        if self.is_stale || printed.len() + live_rows.len() < self.rows.len() {
            self.anchor();
        }
        if self.anchored.is_some() {
            self.follow_height(printed.len(), screen_rows);
        }
        self.screen = screen;
        self.live_row = match self.anchored {
            Some(anchored) => self.draw_anchored(&mut out, anchored, live_rows, live.area.width),
            None => self.draw_flowing(&mut out, printed, live_rows, live.area.width),
        };
        self.place(&mut out, live.area, cursor);
        self.below_cursor = match self.anchored {
            Some(_) => screen_rows.saturating_sub(self.cursor_row + 1),
            None => self.rows.len().saturating_sub(self.cursor_row + 1),
        };
        out.push_str(END);
        out
    }

    /// Makes the bytes that wipe the live part, so that something else can use the terminal.
    pub fn leave(&mut self) -> String {
        let mut out = String::from("\x1b[?25h");
        self.to_top(&mut out);
        if let Some(anchored) = self.anchored.take() {
            // The conversation stays on the screen.
            let _ = write!(out, "\x1b[{};1H", self.live_row + 1);
            self.above += anchored.unprinted;
        }
        out.push_str(ERASE_BELOW);
        out.push_str(ERASE_ROW);
        self.rows.clear();
        self.cursor_row = 0;
        self.live_row = 0;
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
        *self = Inline { recent: std::mem::take(&mut self.recent), screen: self.screen, ..Inline::default() };
    }

    fn remember(&mut self, printed: &[Line<'static>], screen_rows: usize) {
        self.recent.extend(printed.iter().cloned());
        let unprinted = self.anchored.map_or(printed.len(), |anchored| anchored.unprinted + printed.len());
        let kept = unprinted.saturating_add(screen_rows.max(MIN_RECENT));
        self.recent.drain(..self.recent.len().saturating_sub(kept));
    }

    /// Anchors the region if all rows of the screen are certainly ours.
    fn anchor(&mut self) {
        // The region then reaches the last row of the screen, wherever it began.
        let is_at_bottom = self.above + self.rows.len() >= self.screen.1;
        if self.anchored.is_some() || self.rows.is_empty() || !is_at_bottom {
            return;
        }
        let on_screen = self.screen.1.saturating_sub(self.rows.len());
        self.above -= on_screen;
        self.anchored = Some(Anchored { unprinted: on_screen, ..Anchored::default() });
        self.is_stale = true;
    }

    /// Counts the new rows of an anchored region, and those that another height of the screen moves.
    fn follow_height(&mut self, printed: usize, screen_rows: usize) {
        let Some(anchored) = &mut self.anchored else { return };
        let before = self.screen.1;
        self.above += anchored.shrink(before.saturating_sub(screen_rows), self.below_cursor);
        self.above -= anchored.grow(screen_rows.saturating_sub(before), self.above);
        anchored.unprinted = (anchored.unprinted + printed).min(self.recent.len());
    }

    /// Draws recent rows and the live part from the top of the screen; returns where the live part begins.
    fn draw_anchored(&mut self, out: &mut String, anchored: Anchored, live: Vec<Row>, columns: u16) -> usize {
        let room = self.screen.1.saturating_sub(live.len());
        let mut rows: VecDeque<Row> = VecDeque::new();
        let mut unprinted = 0;
        for (nth, line) in self.recent.iter().rev().enumerate() {
            let is_unprinted = nth < anchored.unprinted;
            if !is_unprinted && rows.len() >= room {
                break;
            }
            for row in line_rows(line, columns).into_iter().rev() {
                rows.push_front(row);
            }
            if is_unprinted {
                unprinted = rows.len();
            }
        }
        // Repeated rows give way, the others do not.
        rows.drain(..rows.len().saturating_sub(room.max(unprinted)));
        let offset = rows.len();
        out.push_str(HOME);
        if std::mem::take(&mut self.is_stale) {
            out.push_str(ERASE_BELOW);
            self.rows.clear();
        }
        let is_full = unprinted >= room;
        self.draw(out, rows.into_iter().chain(live).collect());
        if !is_full {
            self.anchored = Some(Anchored { repeated: offset - unprinted, ..anchored });
            return offset;
        }
        // No repeated row is left, and rows that did not fit have moved into the scrollback.
        self.anchored = None;
        self.above += anchored.unprinted;
        self.rows.drain(..offset);
        0
    }

    /// Prints rows where the region begins and draws the live part below them.
    fn draw_flowing(
        &mut self,
        out: &mut String,
        printed: &[Line<'static>],
        live: Vec<Row>,
        columns: u16,
    ) -> usize {
        self.to_top(out);
        if !printed.is_empty() || self.is_stale {
            out.push_str(ERASE_BELOW);
            self.rows.clear();
            self.is_stale = false;
        }
        for line in printed {
            let _ = write!(out, "{ERASE_ROW}{}\r\n", line_row(line, columns).bytes);
        }
        self.above += printed.len();
        self.draw(out, live);
        0
    }

    fn to_top(&self, out: &mut String) {
        if self.anchored.is_some() {
            return out.push_str(HOME);
        }
        if self.cursor_row > 0 {
            let _ = write!(out, "\x1b[{}A", self.cursor_row);
        }
        out.push('\r');
    }

    /// Draws the rows that changed, beginning in the row of the cursor.
    fn draw(&mut self, out: &mut String, rows: Vec<Row>) {
        for (nth, row) in rows.iter().enumerate() {
            if nth > 0 {
                out.push_str("\r\n");
            }
            if self.rows.get(nth) != Some(row) {
                out.push_str(ERASE_ROW);
                out.push_str(&row.bytes);
            }
        }
        if self.rows.len() > rows.len() && !rows.is_empty() {
            // There is a row below, so going there moves nothing.
            out.push_str("\r\n\x1b[J\x1b[1A");
        }
        self.rows = rows;
    }

    /// Puts the cursor into the live part.
    fn place(&mut self, out: &mut String, area: Rect, cursor: Option<Position>) {
        let last = self.rows.len().saturating_sub(1);
        out.push('\r');
        let Some(cursor) = cursor else {
            self.cursor_row = last;
            return;
        };
        self.cursor_row = (self.live_row + usize::from(cursor.y.saturating_sub(area.y))).min(last);
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

/// Returns the rows that a line takes on a terminal that may be narrower than the one it was made for.
fn line_rows(line: &Line<'static>, columns: u16) -> Vec<Row> {
    if line.width() <= usize::from(columns) {
        return vec![line_row(line, columns)];
    }
    let mut lines = Vec::new();
    wrap(&line.spans, usize::from(columns), &Margin::default(), &mut lines);
    lines.into_iter().map(|part| line_row(&part.style(line.style), columns)).collect()
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
    colour(out, wanted.fg, 30);
    colour(out, wanted.bg, 40);
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

/// Themes and texts of programs name colours by their numbers only; the first sixteen have short codes.
fn colour(out: &mut String, colour: Option<Color>, base: u8) {
    let extended = base + 8;
    // Writing into a string does not fail.
    let _ = match colour {
        Some(Color::Rgb(red, green, blue)) => write!(out, ";{extended};2;{red};{green};{blue}"),
        Some(Color::Indexed(number @ 0..8)) => write!(out, ";{}", base + number),
        Some(Color::Indexed(number @ 8..16)) => write!(out, ";{}", base + 60 + number - 8),
        Some(Color::Indexed(number)) => write!(out, ";{extended};5;{number}"),
        _ => Ok(()),
    };
}

#[cfg(test)]
mod tests;
