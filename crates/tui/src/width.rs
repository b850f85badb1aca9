//! How many columns a text takes on a terminal, and where to cut it.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns how many columns a cleaned text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let (singles, rest) = split_singles(text);
    singles.chars().count() + rest.width()
}

/// Returns true if a letter takes one column and joins neither what is before nor what is after it, unless that is a
/// letter of another kind: plain ones, those of most of Europe, and the lines that trees are drawn with.
fn is_single(c: char) -> bool {
    matches!(c, ' '..='~' | '·' | 'À'..='ɏ' | '•' | '…' | '‹' | '›' | '←'..='↓' | '\u{2500}'..='\u{257f}')
}

/// Parts a text after the letters that take one column each and are sure to be joined by nothing.
pub(crate) fn split_singles(text: &str) -> (&str, &str) {
    let mut last = 0;
    for (at, letter) in text.char_indices() {
        if !is_single(letter) {
            // It may be a mark on the letter before it.
            return text.split_at(last);
        }
        last = at;
    }
    (text, "")
}

/// Cuts a cleaned text so that it takes at most `columns`, and shows that something is missing.
pub fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    // Bytes are never fewer than columns.
    if text.len() <= columns || width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else { return Cow::Borrowed("") };
    Cow::Owned(format!("{}…", first_columns(text, room)))
}

/// Folds all white space and cuts a text to a number of characters, for one line.
pub fn shortened(text: &str, max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(max) {
        None => text,
        Some(_) => format!("{}…", text.chars().take(max.saturating_sub(1)).collect::<String>().trim_end()),
    }
}

/// Returns the beginning of a text that takes at most `columns`; letters are never cut in parts.
pub(crate) fn first_columns(text: &str, columns: usize) -> &str {
    if text.is_ascii() {
        return &text[..columns.min(text.len())];
    }
    let (singles, rest) = split_singles(text);
    if let Some((end, _)) = singles.char_indices().nth(columns) {
        return &text[..end];
    }
    let mut used = singles.chars().count();
    for (at, letter) in rest.grapheme_indices(true) {
        used += width(letter);
        if used > columns {
            return &text[..singles.len() + at];
        }
    }
    text
}

/// Fills a cleaned text up to `columns` with blanks.
pub fn pad(text: &str, columns: usize, to_the_right: bool) -> String {
    let blanks = " ".repeat(columns.saturating_sub(width(text)));
    if to_the_right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

#[cfg(test)]
mod tests;
