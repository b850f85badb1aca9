//! Draws a part of the screen into text, without a terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

/// The sizes that every part of the screen is tested at: an ordinary terminal, a large one, a tiny one.
pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// Draws into a screen of this size and returns its lines without trailing blanks.
pub(crate) fn text(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> String {
    lines(&buffer(width, height, draw))
}

/// Draws at every size of [`SIZES`], one screen below the other, each with its size above it.
pub(crate) fn at_all_sizes(mut draw: impl FnMut(u16, u16) -> String) -> String {
    let screens = SIZES.map(|(width, height)| format!("{width}x{height}\n{}\n", draw(width, height)));
    screens.concat()
}

/// Draws into a screen of this size and returns its cells.
pub(crate) fn buffer(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(area, &mut buffer);
    buffer
}

/// Returns the lines of a screen without trailing blanks.
pub(crate) fn lines(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let line = line(buffer, y);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns one line of a screen; the second column of a wide letter holds nothing.
pub(crate) fn line(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut x = buffer.area.left();
    while x < buffer.area.right() {
        let symbol = buffer[(x, y)].symbol();
        out.push_str(symbol);
        x += symbol.width().max(1) as u16;
    }
    out
}

/// Returns what is drawn with all of these modifiers, joined.
pub(crate) fn with_modifier(buffer: &Buffer, modifier: Modifier) -> String {
    with_style(buffer, |style| style.add_modifier.contains(modifier))
}

/// Returns what is drawn in styles that are wanted, joined.
pub(crate) fn with_style(buffer: &Buffer, is_wanted: impl Fn(Style) -> bool) -> String {
    buffer.content().iter().filter(|cell| is_wanted(cell.style())).map(|cell| cell.symbol()).collect()
}

#[cfg(test)]
mod tests;
