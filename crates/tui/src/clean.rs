//! Makes text harmless before it reaches a terminal: nothing in it can move the cursor, turn the reading direction,
//! or hide.
//!
//! The one choke point: sessions, models, tools, extensions and file names are written by others, and their text enters
//! the screen only through here.

use std::borrow::Cow;

/// More marks than this on one letter are no language but a way to draw over other lines.
const MOST_MARKS: usize = 8;
/// How far tab stops are apart.
const TAB: usize = 4;

/// Replaces control characters, and characters that turn or hide text, by visible ones.
///
/// The result holds no control character at all, so a text of many lines must be split before.
pub fn clean(text: &str) -> Cow<'_, str> {
    // Ordinary text is by far the most common. No early end, so that many bytes are looked at together.
    if text.bytes().fold(true, |is_plain, byte| is_plain & (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let plain = rest.bytes().take_while(|byte| (0x20..0x7f).contains(byte)).count();
        if plain > 0 {
            let (run, behind) = rest.split_at(plain);
            out.push_str(run);
            (marks, before, rest) = (0, run.chars().next_back(), behind);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if is_sign(c) {
            out.push(c);
            (marks, before) = (0, Some(c));
            continue;
        }
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MOST_MARKS {
            continue;
        }
        let shown = substitute(c, before, rest.chars().next());
        out.push(shown);
        before = Some(shown);
    }
    Cow::Owned(out)
}

/// Makes a text of many lines harmless, line by line; tabs become blanks up to the next stop.
pub fn clean_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n').map(|line| clean_line(line.strip_suffix('\r').unwrap_or(line)))
}

/// Makes one line harmless; tabs become blanks up to the next stop.
fn clean_line(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return clean(line);
    }
    let mut out = String::with_capacity(line.len() + 16);
    for (nth, part) in line.split('\t').enumerate() {
        if nth > 0 {
            let column = unicode_width::UnicodeWidthStr::width(out.as_str());
            out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
        }
        out.push_str(&clean(part));
    }
    Cow::Owned(out)
}

/// Returns the character to print instead of another.
fn substitute(c: char, before: Option<char>, after: Option<char>) -> char {
    match c {
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        // Chooses how the emoji or sign before it is drawn; anywhere else it only hides.
        '\u{fe0e}' | '\u{fe0f}' if before.is_some_and(has_looks) => c,
        // Makes one picture of two.
        '\u{200d}' if before.is_some_and(ends_emoji) && after.is_some_and(is_emoji) => c,
        c if is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Returns true if a character is invisible, or changes how others are drawn.
fn is_hidden(c: char) -> bool {
    matches!(c,
        // C1 controls.
        '\u{80}'..='\u{9f}'
        // Soft hyphen, grapheme joiner, letter mark, fillers, vowel separators.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
        // Zero-width spaces and joiners, direction marks, line and paragraph separators, embeddings and overrides.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        // Invisible operators, isolates, deprecated format characters.
        | '\u{2060}'..='\u{206f}'
        // Variation selectors, byte order mark, interlinear annotation.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        // Shorthand and music format controls.
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags and more variation selectors.
        | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns true if a character can be drawn in more than one way; what stands for something hidden cannot.
fn has_looks(c: char) -> bool {
    !c.is_ascii_alphabetic() && c != char::REPLACEMENT_CHARACTER && !is_hidden(c)
}

/// Returns true if a character is a picture, or chooses how the picture before it is drawn.
fn ends_emoji(c: char) -> bool {
    c == '\u{fe0f}' || is_emoji(c)
}

/// Returns true if a character is a picture. Flags are made of letters.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1f1e5}' | '\u{1f200}'..='\u{1faff}')
}

/// Returns true if a character is an arrow, a sign or one of the lines that trees are drawn with: none of them hides.
fn is_sign(c: char) -> bool {
    ('\u{2190}'..='\u{2bff}').contains(&c)
}

/// Returns true if a character is drawn onto the one before it.
fn is_mark(c: char) -> bool {
    // No mark comes before U+0300, and none is among signs.
    let may_be = c >= '\u{300}' && !is_sign(c);
    may_be && unicode_width::UnicodeWidthChar::width(c) == Some(0) && !is_hidden(c)
}

#[cfg(test)]
mod tests;
