//! Brushes: how text, rules and lines of keys get onto the screen.
//!
//! Every text of others goes through [`span`], and with that through [`clean()`].

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use session_tree::Charset;
use unicode_segmentation::UnicodeSegmentation;

use crate::clean::{clean, clean_lines};
use crate::keys::{Action, Keymap};
use crate::theme::{Role, Theme};
use crate::width::{cut, first_columns, width};

/// Makes a piece of a line from text that may hold anything.
pub fn span(text: &str, style: Style) -> Span<'static> {
    Span::styled(clean(text).into_owned(), style)
}

/// Writes a line into an area that is one row high; what does not fit is cut.
pub fn line(line: &Line<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if !area.is_empty() {
        buf.set_line(area.x, area.y, line, area.width);
    }
}

/// Writes one line to the left and one to the right; the left one gives way.
pub fn left_and_right(left: Line<'_>, right: &Line<'_>, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.width);
    let taken = if right.width() + 4 > room { 0 } else { right.width() };
    if taken > 0 {
        line(right, Rect { x: area.right() - taken as u16, width: taken as u16, ..area }, buf);
    }
    let free = room.saturating_sub(taken + usize::from(taken > 0));
    line(&shorten(left, free), Rect { width: free as u16, ..area }, buf);
}

/// Cuts a line so that it takes at most `columns`, and shows that something is missing.
pub fn shorten(line: Line<'_>, columns: usize) -> Line<'_> {
    if line.width() <= columns {
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
    Line::from(spans)
}

/// Looks at everything that was drawn, as the last step: what still hides or turns text is taken out, and what a
/// terminal without UTF-8 cannot show is replaced.
///
/// Text is clean before it is drawn; but widgets of others draw text as it is, and letters may be cut apart on the way.
pub fn finish(theme: Theme, area: Rect, buf: &mut Buffer) {
    for position in area.intersection(buf.area).positions() {
        let cell = &mut buf[position];
        if cell.symbol().is_ascii() && cell.symbol().bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
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
pub fn titled_rule(theme: Theme, title: &str, area: Rect, buf: &mut Buffer) {
    rule(theme, area, buf);
    if area.width > 6 {
        let title = format!(" {} ", cut(&clean(title), usize::from(area.width) - 5));
        let at = Rect { x: area.x + 2, width: area.width - 2, ..area };
        line(&Line::styled(title, theme.style(Role::Muted)), at, buf);
    }
}

/// Wipes an area, so that nothing below it shows through.
pub fn wipe(area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    for position in area.positions() {
        buf[position].reset();
    }
}

/// Puts a style over a whole area and keeps what is written there.
pub fn tint(style: Style, area: Rect, buf: &mut Buffer) {
    buf.set_style(area.intersection(buf.area), style);
}

/// Makes a line of help: as many of the keys, in order, as fit whole.
pub fn keys_line(theme: Theme, keymap: &Keymap, keys: &[(Action, &str)], columns: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 1;
    for (action, what) in keys {
        let Some(name) = keymap.name(*action) else { continue };
        let wide = width(&name) + 1 + width(what) + if spans.is_empty() { 0 } else { 3 };
        if used + wide > columns {
            break;
        }
        used += wide;
        if !spans.is_empty() {
            spans.push(Span::styled(theme.pick(" · ", " | "), theme.style(Role::Dim)));
        }
        spans.push(Span::styled(ascii_arrows(theme, name), theme.style(Role::Key)));
        spans.push(Span::styled(format!(" {what}"), theme.style(Role::Muted)));
    }
    spans.insert(0, Span::raw(" "));
    Line::from(spans)
}

/// Spells arrows out on terminals without them.
pub fn ascii_arrows(theme: Theme, name: String) -> String {
    match theme.charset {
        Charset::Unicode => name,
        Charset::Ascii => {
            name.replace('↑', "Up").replace('↓', "Down").replace('←', "Left").replace('→', "Right")
        }
    }
}

/// Breaks a text of many lines into rows of at most `columns`, between words where that is possible.
///
/// Stops after `most` rows; the result may therefore lack the end of the text.
pub fn wrap(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for text in clean_lines(text) {
        if rows.len() >= most {
            break;
        }
        wrap_line(&text, columns.max(2), most, &mut rows);
    }
    rows.truncate(most);
    rows
}

fn wrap_line(text: &str, columns: usize, most: usize, rows: &mut Vec<String>) {
    let (mut row, mut used) = (String::new(), 0);
    for word in text.split_word_bounds() {
        if rows.len() >= most {
            return;
        }
        let wide = width(word);
        if used + wide <= columns {
            row.push_str(word);
            used += wide;
            continue;
        }
        if used > 0 {
            rows.push(std::mem::take(&mut row).trim_end().to_owned());
            used = 0;
        }
        if word.trim().is_empty() {
            continue;
        }
        // A word that is longer than a row is broken between letters.
        for letter in word.graphemes(true) {
            if used + width(letter) > columns && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push_str(letter);
            used += width(letter);
        }
    }
    rows.push(row.trim_end().to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_breaks_between_words_and_long_words_between_letters() {
        assert_eq!(wrap("the quick brown fox", 10, 9), ["the quick", "brown fox"]);
        assert_eq!(wrap("abcdefghij kl", 4, 9), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("漢字かな", 5, 9), ["漢字", "かな"]);
        assert_eq!(wrap("a\n\nb", 5, 9), ["a", "", "b"]);
        assert_eq!(wrap("a b c d e f", 1, 3).len(), 3);
    }

    #[test]
    fn a_shortened_line_says_that_something_is_missing() {
        let line = || Line::from(vec![Span::raw("hello "), Span::raw("world")]);
        assert_eq!(shorten(line(), 11).to_string(), "hello world");
        assert_eq!(shorten(line(), 9).to_string(), "hello wo…");
        assert_eq!(shorten(line(), 6).to_string(), "hello…");
        assert_eq!(shorten(line(), 0).to_string(), "");
    }
}
