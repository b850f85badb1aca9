//! How many columns a text takes on a terminal, and where to cut it.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns how many columns a cleaned text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
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

/// Returns the beginning of a text that takes at most `columns`; letters are never cut in parts.
pub(crate) fn first_columns(text: &str, columns: usize) -> &str {
    if text.is_ascii() {
        return &text[..columns.min(text.len())];
    }
    let mut used = 0;
    for (at, letter) in text.grapheme_indices(true) {
        used += width(letter);
        if used > columns {
            return &text[..at];
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
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_never_takes_more_than_it_may() {
        for text in [
            "hello world",
            "漢字かな交じり文",
            "ab漢c字d",
            "❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}",
            "👩\u{200d}👧👩\u{200d}👧",
            "e\u{301}e\u{301}e\u{301}",
            "",
        ] {
            for columns in 0..20 {
                let shown = cut(text, columns);
                assert!(width(&shown) <= columns, "{text:?} in {columns}: {shown:?}");
                assert_eq!(shown == text, width(text) <= columns, "{text:?} in {columns}: {shown:?}");
            }
        }
    }

    #[test]
    fn wide_letters_are_not_cut_in_half() {
        assert_eq!(cut("漢字かな", 6), "漢字…");
        assert_eq!(cut("漢字かな", 5), "漢字…");
        assert_eq!(pad("漢", 4, false), "漢  ");
        assert_eq!(pad("12", 4, true), "  12");
    }
}
