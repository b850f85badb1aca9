//! Brushes: how text, rules and lines of keys get onto the screen.
//!
//! Every text of others goes through [`span`], and with that through [`clean()`].

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use session_view::Charset;
use unicode_segmentation::UnicodeSegmentation;

use crate::clean::clean;
use crate::keys::{Action, Keymap};
use crate::theme::{Role, Theme};
use crate::width::{cut, first_columns, split_singles, width};

/// Makes a piece of a line from text that may hold anything.
pub fn span(text: &str, style: Style) -> Span<'static> {
    Span::styled(clean(text).into_owned(), style)
}

/// Writes a line into an area that is one row high; what does not fit is cut.
pub fn line(line: &Line<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let mut x = area.x;
    for span in line {
        let style = line.style.patch(span.style);
        let room = area.right() - x;
        if room == 0 {
            break;
        }
        let (singles, rest) = split_singles(&span.content);
        x = letters(singles, (x, area.y), room, style, buf);
        // Mostly there is nothing left.
        if !rest.is_empty() && x < area.right() {
            x = buf.set_stringn(x, area.y, rest, usize::from(area.right() - x), style).0;
        }
    }
}

/// Writes letters of one column each, one into each cell; returns the column after them.
fn letters(text: &str, (x, y): (u16, u16), room: u16, style: Style, buf: &mut Buffer) -> u16 {
    let first = buf.index_of(x, y);
    let mut end = x;
    for (cell, letter) in buf.content[first..first + usize::from(room)].iter_mut().zip(text.chars()) {
        cell.set_char(letter).set_style(style);
        end += 1;
    }
    end
}

/// Writes lines into the rows of an area; long ones are shortened.
pub(crate) fn lines<'l>(lines: impl IntoIterator<Item = Line<'l>>, area: Rect, buf: &mut Buffer) {
    for (text, row) in lines.into_iter().zip(area.rows()) {
        line(&shorten(text, usize::from(area.width)), row, buf);
    }
}

/// Draws rows that fit already; the style of each reaches to the edge.
pub(crate) fn rows<'l>(rows: impl IntoIterator<Item = &'l Line<'l>>, area: Rect, buf: &mut Buffer) {
    for (row, place) in rows.into_iter().zip(area.rows()) {
        tint(row.style, place, buf);
        line(row, place, buf);
    }
}

/// Draws the part of a list around the cursor. `row` makes one row; its second argument is true at the cursor.
pub(crate) fn list<'l>(
    theme: Theme,
    len: usize,
    cursor: usize,
    area: Rect,
    buf: &mut Buffer,
    row: impl Fn(usize, bool) -> Line<'l>,
) {
    let height = usize::from(area.height);
    let first = cursor.saturating_sub(height / 2).min(len.saturating_sub(height));
    for (number, place) in (first..len).zip(area.rows()) {
        if number == cursor {
            tint(theme.style(Role::Selection), place, buf);
        }
        line(&shorten(row(number, number == cursor), usize::from(area.width)), place, buf);
    }
}

/// Returns the mark before a row of a list.
pub(crate) fn cursor(theme: Theme, is_here: bool) -> Span<'static> {
    Span::styled(if is_here { theme.pick("› ", "> ") } else { "  " }, theme.style(Role::Accent))
}

/// Returns a query as it is typed, or a hint while it is empty.
pub(crate) fn query(theme: Theme, query: &str, hint: &'static str) -> Line<'static> {
    let accent = theme.style(Role::Accent);
    let mut spans = vec![Span::styled(theme.pick(" ⌕ ", " / "), accent)];
    if query.is_empty() {
        spans.push(Span::styled(hint, theme.style(Role::Dim)));
    } else {
        spans.push(span(query, theme.style(Role::Text)));
        spans.push(Span::styled(theme.pick("▏", "_"), accent));
    }
    Line::from(spans)
}

/// Joins one line to the left and one to the right; the left one gives way.
pub(crate) fn spread<'l>(left: Line<'l>, right: Line<'l>, columns: usize) -> Line<'l> {
    if right.width() + 4 > columns {
        return shorten(left, columns);
    }
    let free = columns - right.width();
    let left = shorten(left, free.saturating_sub(usize::from(right.width() > 0)));
    let gap = Span::raw(" ".repeat(free.saturating_sub(left.width())));
    Line::from_iter(flat(left).chain([gap]).chain(flat(right)))
}

/// Returns the spans of a line in their full styles.
fn flat(line: Line<'_>) -> impl Iterator<Item = Span<'_>> {
    let style = line.style;
    line.spans.into_iter().map(move |span| Span { style: style.patch(span.style), ..span })
}

/// Writes one line to the left and one to the right; the left one gives way.
pub(crate) fn left_and_right(left: Line<'_>, right: &Line<'_>, area: Rect, buf: &mut Buffer) {
    line(&spread(left, right.clone(), usize::from(area.width)), area, buf);
}

/// Cuts a line so that it takes at most `columns`, and shows that something is missing.
pub fn shorten(line: Line<'_>, columns: usize) -> Line<'_> {
    if line.spans.iter().map(|span| width(&span.content)).sum::<usize>() <= columns {
        return line;
    }
    let Some(mut room) = columns.checked_sub(1) else { return Line::default() };
    let mut spans = Vec::new();
    for span in line.spans {
        let wide = width(&span.content);
        if wide > room {
            let text = format!("{}…", first_columns(&span.content, room));
            spans.push(Span::styled(text, span.style));
            break;
        }
        room -= wide;
        spans.push(span);
    }
    Line { spans, ..Line::default() }.style(line.style)
}

/// Looks at everything that was drawn, as the last step: what still hides or turns text is taken out, and what a
/// terminal without UTF-8 cannot show is replaced.
///
/// Text is clean before it is drawn; but widgets of others draw text as it is, and letters may be cut apart on the way.
pub fn finish(theme: Theme, area: Rect, buf: &mut Buffer) {
    for position in area.intersection(buf.area).positions() {
        let cell = &mut buf[position];
        if is_harmless(theme.charset, cell.symbol()) {
            continue;
        }
        let cleaned = clean(cell.symbol());
        if cleaned != cell.symbol() {
            let first = cleaned.graphemes(true).next().unwrap_or(" ").to_owned();
            cell.set_symbol(&first);
        }
        if theme.charset == Charset::Ascii {
            cell.set_symbol(ascii(cell.symbol()));
        }
    }
}

/// Returns true if a symbol needs no cleaning; most do not.
fn is_harmless(charset: Charset, symbol: &str) -> bool {
    match symbol.as_bytes() {
        [byte] => (0x20..0x7f).contains(byte),
        _ => charset == Charset::Unicode && split_singles(symbol).1.is_empty(),
    }
}

/// Spells a line for the terminal: what one without UTF-8 cannot show is replaced.
pub fn spelled(theme: Theme, mut line: Line<'static>) -> Line<'static> {
    if theme.charset == Charset::Ascii {
        for span in line.spans.iter_mut().filter(|span| !span.content.is_ascii()) {
            let letters = span.content.graphemes(true);
            let letters = letters.map(|letter| if letter.is_ascii() { letter } else { ascii(letter) });
            span.content = letters.collect::<String>().into();
        }
    }
    line
}

/// Spells a letter for a terminal without UTF-8.
fn ascii(symbol: &str) -> &'static str {
    match symbol {
        "…" => "~",
        "·" | "•" => "*",
        "⇠" | "←" => "<",
        "→" => ">",
        "⚠" => "!",
        _ => "?",
    }
}

/// Draws a rule across an area that is one row high.
pub fn rule(theme: Theme, area: Rect, buf: &mut Buffer) {
    let dash = theme.pick("─", "-").repeat(usize::from(area.width));
    line(&Line::styled(dash, theme.style(Role::Border)), area, buf);
}

/// Draws a rule that names what comes below it.
pub(crate) fn titled_rule(theme: Theme, title: &str, area: Rect, buf: &mut Buffer) {
    rule(theme, area, buf);
    if area.width > 6 {
        let title = format!(" {} ", cut(&clean(title), usize::from(area.width) - 5));
        let at = Rect { x: area.x + 2, width: area.width - 2, ..area };
        line(&Line::styled(title, theme.style(Role::Muted)), at, buf);
    }
}

/// Draws a line between two panes, which meets a rule above it.
pub(crate) fn pane_rule(theme: Theme, area: Rect, above: Rect, buf: &mut Buffer) {
    let style = theme.style(Role::Border);
    for y in area.top()..area.bottom() {
        buf.set_string(area.x, y, theme.pick("│", "|"), style);
    }
    if !above.is_empty() {
        buf.set_string(area.x, above.y, theme.pick("┬", "+"), style);
    }
}

/// Wipes an area, so that nothing below it shows through.
pub(crate) fn wipe(area: Rect, buf: &mut Buffer) {
    area.intersection(buf.area).positions().for_each(|position| buf[position].reset());
}

/// Puts a style over a whole area and keeps what is written there.
pub(crate) fn tint(style: Style, area: Rect, buf: &mut Buffer) {
    buf.set_style(area.intersection(buf.area), style);
}

/// Makes a line of help: as many of the keys, in order, as fit whole. The way out is always among them.
pub(crate) fn keys_line(
    theme: Theme,
    keymap: &Keymap,
    keys: &[(Action, &str)],
    columns: usize,
) -> Line<'static> {
    let named = keys
        .iter()
        .filter_map(|(action, what)| Some((*action, ascii_arrows(theme, keymap.name(*action)?), *what)));
    let named: Vec<(Action, String, &str)> = named.collect();
    let way_out = named.iter().position(|(action, ..)| *action == Action::SelectCancel);
    let wide = |count: usize| {
        let out = way_out.filter(|at| *at >= count);
        let shown = named[..count].iter().chain(out.map(|at| &named[at]));
        shown.map(|(_, name, what)| width(name) + width(what) + 4).sum::<usize>().saturating_sub(2)
    };
    let count = (0..=named.len()).rev().find(|count| wide(*count) <= columns).unwrap_or(0);
    let out = way_out.filter(|at| *at >= count && wide(count) <= columns).map(|at| &named[at]);
    let mut spans = vec![Span::raw(" ")];
    for (_, name, what) in named[..count].iter().chain(out) {
        if spans.len() > 1 {
            spans.push(Span::styled(theme.pick(" · ", " | "), theme.style(Role::Dim)));
        }
        spans.push(Span::styled(name.clone(), theme.style(Role::Key)));
        spans.push(Span::styled(format!(" {what}"), theme.style(Role::Muted)));
    }
    Line::from(spans)
}

/// Draws a line of help, with something to the right that it gives way to.
pub(crate) fn keys_and_right(
    theme: Theme,
    keymap: &Keymap,
    keys: &[(Action, &str)],
    right: &Line<'_>,
    area: Rect,
    buf: &mut Buffer,
) {
    let room = usize::from(area.width).saturating_sub(right.width() + 1);
    left_and_right(keys_line(theme, keymap, keys, room), right, area, buf);
}

/// Spells arrows out on terminals without them.
pub(crate) fn ascii_arrows(theme: Theme, name: String) -> String {
    match theme.charset {
        Charset::Unicode => name,
        Charset::Ascii => {
            name.replace('↑', "Up").replace('↓', "Down").replace('←', "Left").replace('→', "Right")
        }
    }
}

#[cfg(test)]
mod tests;
