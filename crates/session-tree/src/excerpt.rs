//! Excerpts: the beginning of a text on one line, for names and quotes.
//!
//! A base type.

use std::borrow::Cow;

/// Returns the first `limit` characters of a text on one line, without white space at its ends.
///
/// ```
/// assert_eq!(session_tree::excerpt(" first\nsecond", 8), "first se");
/// ```
pub fn excerpt(text: &str, limit: usize) -> String {
    // The rest of a long text is not looked at.
    single_line(clip(text.trim_start(), limit).trim_end()).into_owned()
}

/// Replaces control characters, so that a text stays on one line: line breaks and tabs become blanks, others become
/// symbols such as `␀`.
pub(crate) fn single_line(text: &str) -> Cow<'_, str> {
    // 0xc2 begins the control characters that take two bytes.
    let may_be_control = |byte: u8| byte < b' ' || byte == 0x7f || byte == 0xc2;
    // No early exit, so that the compiler can check many bytes at once.
    if !text.bytes().fold(false, |found, byte| found | may_be_control(byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.bytes().position(may_be_control) {
        let (plain, odd) = rest.split_at(at);
        let mut after = odd.chars();
        out.push_str(plain);
        out.extend(after.next().map(visible));
        rest = after.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn visible(c: char) -> char {
    match c {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Returns the first `limit` characters of a text.
pub(crate) fn clip(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    if text.as_bytes()[..=limit].is_ascii() {
        return &text[..limit];
    }
    text.char_indices().nth(limit).map_or(text, |(at, _)| &text[..at])
}

/// Skips the blank lines and Markdown headings that a text begins with, unless it has nothing else.
pub fn skip_headings(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        let Some((_, after)) = rest.split_once('\n') else { return text };
        rest = after.trim_start();
    }
    if rest.is_empty() { text } else { rest }
}
