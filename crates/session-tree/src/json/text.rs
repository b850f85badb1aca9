//! Strings of JSON texts: read without loss, measured and written as JavaScript does it.
//!
//! Functions that read take the bytes between the quotes of a string that the grammar has accepted; those that skip take
//! any text.

use std::borrow::Cow;
use std::str;

use super::parse::skip_plain;

/// One part of the content of a string.
#[derive(Debug, Clone, Copy)]
enum Piece<'d> {
    /// Bytes without escapes, perhaps not valid UTF-8.
    Plain(&'d [u8]),
    /// An escape, or two of them for a surrogate pair.
    Char(char),
    /// The escape of half a surrogate pair, which is no character.
    Lone(u16),
}

/// Returns the length of the value at the start of `text`, without checking its content; `None` if the text does not
/// begin with a value, or the value does not end.
pub(super) fn skip_value(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => skip_string(text),
        b'{' | b'[' => skip_object(text),
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b':' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            Some(text.iter().position(ends).unwrap_or(text.len())).filter(|len| *len > 0)
        }
    }
}

/// Returns the length of the object or array at the start of `text`, without checking its content.
pub(crate) fn skip_object(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => at += skip_string(&text[at..])?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the length of the string at the start of `text`, with its quotes; `None` for anything else, and for a string that does not end.
///
/// Line breaks are much more frequent than quotes, so only quotes are searched. A quote behind an odd number of
/// backslashes is escaped.
pub(crate) fn skip_string(text: &[u8]) -> Option<usize> {
    let content = text.strip_prefix(b"\"")?;
    let closes = |at: &usize| content[..*at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0;
    if let Some(at) = early_quote(content).filter(closes) {
        return Some(at + 2);
    }
    memchr::memchr_iter(b'"', content).find(closes).map(|at| at + 2)
}

/// Finds the first quote among the first 16 bytes. Most strings are short, and setting up a vectorised search for one of
/// them takes longer than finding its end.
#[inline]
fn early_quote(content: &[u8]) -> Option<usize> {
    let quotes = marks(u128::from_le_bytes(*content.first_chunk()?), b'"');
    (quotes != 0).then(|| quotes.trailing_zeros() as usize / 8)
}

/// Returns true if bytes are ASCII without a backslash. `chunk` is the 16 bytes of text that begin with them, if there are
/// so many.
#[inline]
pub(super) fn is_simple(bytes: &[u8], chunk: Option<&[u8; 16]>) -> bool {
    match chunk {
        Some(chunk) if bytes.len() < 16 => {
            let word = u128::from_le_bytes(*chunk) & ((1 << (8 * bytes.len())) - 1);
            (word & repeated(0x80)) | marks(word, b'\\') == 0
        }
        _ => bytes.is_ascii() && !bytes.contains(&b'\\'),
    }
}

/// Marks, in the top bit of each of 16 bytes, those that equal `byte`. A byte above one that is marked rightly can be marked
/// too, so only the lowest mark counts.
#[inline]
fn marks(word: u128, byte: u8) -> u128 {
    let different = word ^ repeated(byte);
    different.wrapping_sub(repeated(1)) & !different & repeated(0x80)
}

const fn repeated(byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16])
}

/// Reads bytes without escapes; each broken sequence becomes one U+FFFD, as in browsers.
pub(super) fn read_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // The lossy reader alone is several times slower, and nearly all text is valid.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Decodes the bytes between the quotes of a JSON string; lone surrogates and invalid UTF-8 become U+FFFD.
pub fn decode_lossy(content: &[u8]) -> String {
    decode_beginning(content, usize::MAX)
}

/// Reads the beginning of a string, as [`decode_lossy`] does, up to so many bytes; a character that is cut there is
/// replaced.
pub(super) fn decode_beginning(content: &[u8], bytes: usize) -> String {
    let mut out = String::with_capacity(bytes.min(content.len()));
    for piece in pieces(content) {
        let room = bytes.saturating_sub(out.len());
        match piece {
            _ if room == 0 => break,
            Piece::Plain(bytes) => out.push_str(&read_utf8(bytes.get(..room).unwrap_or(bytes))),
            Piece::Char(char) => out.push(char),
            Piece::Lone(_) => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out
}

/// Reads a string into bytes that are equal for equal JavaScript strings: UTF-8, but with three bytes
/// for a lone surrogate (WTF-8).
pub(super) fn decode_wtf8(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for piece in pieces(content) {
        match piece {
            Piece::Plain(bytes) => out.extend_from_slice(read_utf8(bytes).as_bytes()),
            Piece::Char(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Lone(unit) => {
                let [high, low] = unit.to_be_bytes();
                out.extend([0xED, 0x80 | (high & 0x0F) << 2 | low >> 6, 0x80 | low & 0x3F]);
            }
        }
    }
    out
}

/// Counts the UTF-16 code units of a string.
pub(super) fn utf16_len(content: &[u8]) -> usize {
    pieces(content)
        .map(|piece| match piece {
            Piece::Plain(bytes) => plain_utf16_len(bytes),
            Piece::Char(char) => char.len_utf16(),
            Piece::Lone(_) => 1,
        })
        .sum()
}

fn plain_utf16_len(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    let text = read_utf8(bytes);
    // One unit for each first byte, one more where four bytes make a character.
    let first = text.bytes().filter(|byte| byte & 0xC0 != 0x80).count();
    let pairs = text.bytes().filter(|byte| *byte >= 0xF0).count();
    first + pairs
}

/// Appends the string again, escaped as JavaScript's `JSON.stringify` does, without the quotes.
pub(super) fn write_js(out: &mut String, content: &[u8]) {
    for piece in pieces(content) {
        match piece {
            Piece::Plain(bytes) => out.push_str(&read_utf8(bytes)),
            Piece::Char(char) => write_char(out, char),
            Piece::Lone(unit) => write_unit(out, unit),
        }
    }
}

/// A receiver of text.
pub trait TextOut {
    /// Appends a text.
    fn put(&mut self, text: &str);
}

impl TextOut for String {
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl TextOut for Vec<u8> {
    fn put(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// Appends `text` as a JSON string literal, escaped as JavaScript's `JSON.stringify` does.
pub fn write_string(out: &mut impl TextOut, text: &str) {
    out.put("\"");
    let (mut done, mut at) = (0, skip_plain(text.as_bytes(), 0));
    while let Some(&special) = text.as_bytes().get(at) {
        out.put(&text[done..at]);
        write_char(out, char::from(special));
        done = at + 1;
        at = skip_plain(text.as_bytes(), done);
    }
    out.put(&text[done..]);
    out.put("\"");
}

/// Returns a text as a JSON string.
pub(crate) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

fn write_char(out: &mut impl TextOut, char: char) {
    match char {
        '"' => out.put("\\\""),
        '\\' => out.put("\\\\"),
        '\n' => out.put("\\n"),
        '\r' => out.put("\\r"),
        '\t' => out.put("\\t"),
        '\u{8}' => out.put("\\b"),
        '\u{c}' => out.put("\\f"),
        '\0'..='\u{1f}' => write_unit(out, char as u16),
        _ => out.put(char.encode_utf8(&mut [0; 4])),
    }
}

fn write_unit(out: &mut impl TextOut, unit: u16) {
    out.put("\\u");
    for shift in [12, 8, 4, 0] {
        let digit = char::from_digit(u32::from(unit >> shift & 0xF), 16).unwrap_or('0');
        out.put(digit.encode_utf8(&mut [0; 4]));
    }
}

/// Splits the content of a string at its escapes.
fn pieces(content: &[u8]) -> Pieces<'_> {
    Pieces { rest: content }
}

struct Pieces<'d> {
    rest: &'d [u8],
}

impl<'d> Iterator for Pieces<'d> {
    type Item = Piece<'d>;

    fn next(&mut self) -> Option<Piece<'d>> {
        let (piece, len) = match self.rest {
            [] => return None,
            [b'\\', b'u', ..] => unicode_escape(self.rest),
            [b'\\', letter, ..] => (Piece::Char(short_escape(*letter)), 2),
            _ => {
                let len = memchr::memchr(b'\\', self.rest).unwrap_or(self.rest.len()).max(1);
                (Piece::Plain(&self.rest[..len]), len)
            }
        };
        self.rest = self.rest.get(len..).unwrap_or_default();
        Some(piece)
    }
}

fn short_escape(letter: u8) -> char {
    match letter {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        // A quote, a backslash or a slash.
        itself => char::from(itself),
    }
}

/// Reads one `\uXXXX`, or two if they are the halves of one character, and returns the number of its bytes.
fn unicode_escape<'d>(rest: &[u8]) -> (Piece<'d>, usize) {
    let unit = unit_at(rest).unwrap_or(0xFFFD);
    if let Some(char) = char::from_u32(u32::from(unit)) {
        return (Piece::Char(char), 6);
    }
    let second = rest.get(6..).and_then(unit_at).unwrap_or(0);
    match char::decode_utf16([unit, second]).next() {
        Some(Ok(char)) => (Piece::Char(char), 12),
        _ => (Piece::Lone(unit), 6),
    }
}

/// Reads the unit of the `\uXXXX` that `bytes` begin with.
fn unit_at(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

/// Trims white space as JavaScript does: with byte order marks, without the next-line character.
pub(crate) fn trim_js(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}
