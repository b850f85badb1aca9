//! The grammar of JSON: one loop over the bytes, with a stack of open brackets instead of recursion.
//!
//! [`index`] keeps the places of the values, [`validate`] keeps nothing.

use std::cell::Cell;
use std::sync::Arc;

use super::{Kind, Node, SyntaxError};

/// Checks one JSON text without building anything, and returns the kind of its value.
///
/// # Errors
///
/// The same as for [`Doc::parse`](super::Doc::parse).
pub fn validate(text: &[u8]) -> Result<Kind, SyntaxError> {
    scan(text, None, &mut Vec::new(), true)?;
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(first.map_or(Kind::Null, |byte| Kind::of_first_byte(*byte)))
}

/// Returns the length of the JSON value that a text begins with, whitespace around it included, whatever follows.
pub(crate) fn value_len(text: &[u8]) -> Result<usize, SyntaxError> {
    scan(text, None, &mut Vec::new(), false)
}

/// Lists the places of the values of one JSON text.
pub(super) fn index(text: &[u8]) -> Result<Arc<[Node]>, SyntaxError> {
    let (mut index, mut in_object) = SCRATCH.take();
    let nodes = scan(text, Some(&mut index), &mut in_object, true).map(|_| Arc::from(index.nodes.as_slice()));
    if index.nodes.len() <= MOST_KEPT {
        index.nodes.clear();
        index.open.clear();
        in_object.clear();
        SCRATCH.set((index, in_object));
    }
    nodes
}

thread_local! {
    /// Memory for the next text; the index that is returned is a copy of the right size.
    static SCRATCH: Cell<(Index, Vec<bool>)> = const {
        Cell::new((Index { nodes: Vec::new(), open: Vec::new() }, Vec::new()))
    };
}

/// How many values a text may have for its memory to be used again.
const MOST_KEPT: usize = 1 << 16;

/// The places of the values that were read. Offsets fit into `u32`, because longer texts are refused.
#[derive(Default)]
struct Index {
    nodes: Vec<Node>,
    open: Vec<u32>,
}

impl Index {
    /// Adds a string, number or literal; `escaped` if it is a string with an escape.
    #[inline]
    fn scalar(&mut self, start: usize, end: usize, escaped: bool) {
        self.nodes.push(Node { start: start as u32, end: end as u32, extra: u32::from(escaped) });
    }

    /// Begins a container.
    #[inline]
    fn open(&mut self, start: usize) {
        self.open.push(self.nodes.len() as u32);
        self.scalar(start, start, false);
    }

    /// Ends the container opened last.
    #[inline]
    fn close(&mut self, end: usize) {
        let behind = self.nodes.len() as u32;
        let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index as usize)) else { return };
        node.end = end as u32;
        node.extra = behind;
    }
}

/// Reads one text from its first to its last byte, or one that other text follows; `in_object` is an empty stack.
/// Returns the position behind the value.
fn scan(
    text: &[u8],
    index: Option<&mut Index>,
    in_object: &mut Vec<bool>,
    is_all: bool,
) -> Result<usize, SyntaxError> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError { at: 0, reason: "text longer than 4 GiB" });
    }
    let mut scanner = Scanner { text, at: 0, index, in_object, is_all };
    scanner.skip_space();
    while scanner.value()? {}
    Ok(scanner.at)
}

/// The letters that follow a backslash, apart from `u`. A table, because the branches of a `match` are hard to predict.
const IS_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut letters: &[u8] = b"\"\\/bfnrt";
    while let [letter, rest @ ..] = letters {
        table[*letter as usize] = true;
        letters = rest;
    }
    table
};

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    index: Option<&'t mut Index>,
    /// One item for each open container: is it an object?
    in_object: &'t mut Vec<bool>,
    /// True if nothing may follow the value.
    is_all: bool,
}

impl Scanner<'_> {
    /// Reads one scalar or the beginning of one container, and the bytes up to the next value. Returns false if there
    /// is no next value.
    #[inline]
    fn value(&mut self) -> Result<bool, SyntaxError> {
        let start = self.at;
        let mut escaped = false;
        match self.peek() {
            b'"' => escaped = self.string()?,
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => return Err(self.error("expected a value")),
        }
        if let Some(index) = &mut self.index {
            index.scalar(start, self.at, escaped);
        }
        self.after_value()
    }

    #[inline]
    fn open(&mut self, is_object: bool) -> Result<bool, SyntaxError> {
        if let Some(index) = &mut self.index {
            index.open(self.at);
        }
        self.at += 1;
        self.skip_space();
        let close = if is_object { b'}' } else { b']' };
        if self.peek() == close {
            self.at += 1;
            self.close();
            return self.after_value();
        }
        self.in_object.push(is_object);
        if is_object {
            self.key()?;
        }
        Ok(true)
    }

    #[inline]
    fn close(&mut self) {
        if let Some(index) = &mut self.index {
            index.close(self.at);
        }
    }

    /// Continues behind a value: closes the containers that end here and stops before the next value, if there is one.
    #[inline]
    fn after_value(&mut self) -> Result<bool, SyntaxError> {
        loop {
            self.skip_space();
            let Some(&in_object) = self.in_object.last() else {
                return if self.at == self.text.len() || !self.is_all {
                    Ok(false)
                } else {
                    Err(self.error("unexpected text after the value"))
                };
            };
            match (self.peek(), in_object) {
                (b',', _) => {
                    self.at += 1;
                    self.skip_space();
                    if in_object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                (b'}', true) | (b']', false) => {
                    self.at += 1;
                    self.in_object.pop();
                    self.close();
                }
                (_, true) => return Err(self.error("expected `,` or `}`")),
                (_, false) => return Err(self.error("expected `,` or `]`")),
            }
        }
    }

    /// Reads a key with its colon and stops before the value.
    #[inline]
    fn key(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.peek() != b'"' {
            return Err(self.error("expected a key"));
        }
        let escaped = self.string()?;
        if let Some(index) = &mut self.index {
            index.scalar(start, self.at, escaped);
        }
        self.skip_space();
        if self.peek() != b':' {
            return Err(self.error("expected `:`"));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Reads a string and returns whether there is an escape in it.
    #[inline]
    fn string(&mut self) -> Result<bool, SyntaxError> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at = skip_plain(self.text, self.at);
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("unfinished string")),
            }
            escaped = true;
        }
    }

    #[inline]
    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        let letter = self.peek();
        if letter == b'u' {
            for _ in 0..4 {
                self.at += 1;
                if !self.peek().is_ascii_hexdigit() {
                    return Err(self.error("expected a hexadecimal digit"));
                }
            }
        } else if !IS_ESCAPE[usize::from(letter)] {
            return Err(self.error("unknown escape"));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        if !self.peek().is_ascii_digit() {
            return Err(self.error("expected a digit"));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        for letter in word {
            if self.peek() != *letter {
                return Err(self.error("unknown word"));
            }
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// The byte at this place. Past the end it is NUL, which fits nowhere outside strings.
    #[inline]
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[cold]
    fn error(&self, reason: &'static str) -> SyntaxError {
        let reason = if self.at >= self.text.len() { "unexpected end of text" } else { reason };
        SyntaxError { at: self.at.min(self.text.len()), reason }
    }
}

/// The offset of the next quote, backslash or control character, or the end of the text.
#[inline]
pub(super) fn skip_plain(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let stops = stops(u64::from_le_bytes(*eight));
        if stops != 0 {
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while text.get(at).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
}

/// Marks, in the top bit of each of eight bytes, quotes, backslashes and control characters.
///
/// Borrows between bytes can mark a byte too many, but only above a right mark, so the lowest is right.
#[inline]
fn stops(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control | quote | backslash) & !word & (ONES * 0x80)
}
