//! Reads single values out of a text without indexing or validating it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{Kind, number, text};

/// One value of a JSON text, found by skipping over the values before it.
///
/// [`Doc`](super::Doc) validates a text and indexes all of its values; a cursor does neither. It is meant for a few values
/// of a long line: nothing is copied, and strings are skipped with a vectorised search for their closing quote. For a text
/// that is not JSON the result is unspecified, but no method panics.
///
/// ```
/// use session_tree::json::Cursor;
///
/// let line = br#"{"type":"message","message":{"role":"user","content":"hi","timestamp":7}}"#;
/// let [role, time] = Cursor::new(line).get("message").unwrap().get_each(["role", "timestamp"]);
/// assert!(role.unwrap().is_str("user"));
/// assert_eq!(time.unwrap().as_f64(), Some(7.0));
/// ```
#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    text: &'t [u8],
    /// The first byte of the value, and the first one behind it.
    start: usize,
    end: usize,
}

impl<'t> Cursor<'t> {
    /// Starts at the value that a text consists of.
    pub fn new(text: &'t [u8]) -> Self {
        let start = skip_space(text, 0, text.len());
        let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
        Self { text, start, end }
    }

    /// Starts at a value whose place in a text is known.
    #[inline]
    pub(super) fn at_range(text: &'t [u8], start: usize, end: usize) -> Self {
        Self { text, start, end }
    }

    /// Returns the exact bytes of the value.
    #[inline]
    pub fn raw(self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    /// Returns the place of the value in the text.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the kind of the value.
    pub fn kind(self) -> Kind {
        self.raw().first().map_or(Kind::Null, |first| Kind::of_first_byte(*first))
    }

    /// Returns true for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the value of the member `key` of an object; the last one if there are several.
    pub fn get(self, key: &str) -> Option<Self> {
        self.at(&[key])
    }

    /// Returns the value at a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Self> {
        let [found] = self.find([path]);
        found
    }

    /// Returns the values of several members of an object.
    pub fn get_each<const N: usize>(self, keys: [&str; N]) -> [Option<Self>; N] {
        self.find(std::array::from_fn(|at| std::slice::from_ref(&keys[at])))
    }

    /// Returns the values at several paths of keys, at most 64, found in one pass over the text.
    pub fn find<const N: usize>(self, paths: [&[&str]; N]) -> [Option<Self>; N] {
        const { assert!(N <= 64, "a bit set has 64 bits") };
        let mut found = [None; N];
        self.find_by(&paths, &mut found, &mut |_, text, at| skip_value(text, at));
        found.map(|range| self.part(range))
    }

    /// Returns the values at several paths of keys like [`find`](Self::find). The value at the last path is also taken
    /// apart: for each item of the array there, the values of the members `keys`. One pass over the text finds all of it.
    pub fn find_with_items<const N: usize, const M: usize>(
        self,
        paths: [&[&str]; N],
        keys: [&str; M],
    ) -> ([Option<Self>; N], Vec<[Option<Self>; M]>) {
        let keys: [&[&str]; M] = std::array::from_fn(|at| std::slice::from_ref(&keys[at]));
        let (mut found, mut items) = ([None; N], Vec::new());
        self.find_by(&paths, &mut found, &mut |path, text, at| {
            if path + 1 < N {
                return skip_value(text, at);
            }
            items.clear();
            skip_items(text, at, |at| {
                let mut members = [None; M];
                let end = find_members(text, at, &keys, (u64::MAX, 0), &mut members, &mut |_, text, at| {
                    skip_value(text, at)
                });
                items.push(members.map(|range| self.part(range)));
                end
            })
        });
        if found.last().is_none_or(Option::is_none) {
            items.clear();
        }
        (found.map(|range| self.part(range)), items)
    }

    fn find_by(self, paths: &[&[&str]], found: &mut [Option<(usize, usize)>], skip: SkipLeaf<'_>) {
        if self.kind() == Kind::Object {
            find_members(&self.text[..self.end], self.start, paths, (u64::MAX, 0), found, skip);
        }
    }

    fn part(self, range: Option<(usize, usize)>) -> Option<Self> {
        range.map(|(start, end)| Self { start, end, ..self })
    }

    /// Returns the items of an array; none for other kinds.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let mut inside = self.inside(Kind::Array);
        std::iter::from_fn(move || inside.take_value())
    }

    /// Returns the members of an object as (key, value), with duplicates; none for other kinds.
    pub fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let mut inside = self.inside(Kind::Object);
        std::iter::from_fn(move || {
            let key = inside.take_value().filter(|key| key.kind() == Kind::String)?;
            Some((key, inside.take_value()?))
        })
    }

    /// Returns the rest of a container behind its opening bracket; empty for other kinds.
    fn inside(self, kind: Kind) -> Self {
        let start = if self.kind() == kind { self.start + 1 } else { self.end };
        Self { start, ..self }
    }

    /// Takes the next value off the inside of a container, and the comma or colon behind it. Returns none if another
    /// byte follows: the text is not JSON.
    #[inline]
    fn take_value(&mut self) -> Option<Self> {
        let start = skip_space(self.text, self.start, self.end);
        let end = skip_value(&self.text[..self.end], start)?;
        let behind = skip_space(self.text, end, self.end);
        self.start = match self.text[behind..self.end] {
            [b',' | b':', ..] => behind + 1,
            [b'}' | b']'] => self.end,
            _ => return None,
        };
        Some(Self { text: self.text, start, end })
    }

    /// Returns true for a string that reads `text`. A lone surrogate equals no text.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        self.content().is_some_and(|content| reads(content, text))
    }

    /// Returns the text of a string. Lone surrogates and invalid UTF-8 become U+FFFD.
    pub fn as_str(self) -> Option<Cow<'t, str>> {
        self.beginning(usize::MAX)
    }

    /// Returns the text of a string up to about so many bytes; a character that is cut there may be replaced.
    pub fn beginning(self, bytes: usize) -> Option<Cow<'t, str>> {
        let content = self.content()?;
        Some(if is_escaped(content) {
            Cow::Owned(text::decode_beginning(content, bytes))
        } else {
            text::read_utf8(content.get(..bytes).unwrap_or(content))
        })
    }

    /// Returns the value of a boolean.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == b"true")
    }

    /// Returns the value of a number as JavaScript reads it; infinite if it is too large.
    pub fn as_f64(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| number::to_f64(self.raw()))
    }

    /// Returns the value of a number that is integral and fits, in any spelling (`1.0`, `1e2`).
    ///
    /// Plain digits are read exactly, other spellings with the precision of `f64`.
    pub fn as_i64(self) -> Option<i64> {
        if self.kind() == Kind::Number { number::to_i64(self.raw()) } else { None }
    }

    /// Returns the bytes between the quotes of a string.
    #[inline]
    pub fn content(self) -> Option<&'t [u8]> {
        self.raw().strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.raw()))
    }
}

/// Returns true if the bytes between the quotes of a string read `text`.
#[inline]
fn reads(content: &[u8], text: &str) -> bool {
    if content.len() == text.len() && content == text.as_bytes() {
        return !text.contains('\\');
    }
    // Bytes that differ can read the same through an escape, which is longer than its character, or as U+FFFD in the
    // place of invalid UTF-8.
    content.len() > text.len() && content.contains(&b'\\') && text::decode_wtf8(content) == text.as_bytes()
        || !text.is_ascii() && text::decode_wtf8(content) == text.as_bytes()
}

fn is_escaped(content: &[u8]) -> bool {
    memchr::memchr(b'\\', content).is_some()
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the position behind the value at a position of a text, which is the value at the path of this number.
type SkipLeaf<'s> = &'s mut dyn FnMut(usize, &[u8], usize) -> Option<usize>;

/// Returns the position behind the value at a position.
fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    Some(at + text::skip_value(&text[at..])?)
}

/// Returns the position behind the value at a position. `skip_object` skips the items of an array that are objects.
fn skip_items(text: &[u8], at: usize, mut skip_object: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    if text.get(at) != Some(&b'[') {
        return skip_value(text, at);
    }
    let mut at = at + 1;
    loop {
        at = skip_space(text, at, text.len());
        at = match text.get(at)? {
            b']' => return Some(at + 1),
            b',' => at + 1,
            b'{' => skip_object(at)?,
            _ => skip_value(text, at)?,
        };
    }
}

/// Finds the values at `paths`, of which those in the bit set `open` lead to the object at `at` with their first `depth`
/// keys. Returns the position behind the object; `None` if it does not end.
fn find_members(
    text: &[u8],
    at: usize,
    paths: &[&[&str]],
    (open, depth): (u64, usize),
    found: &mut [Option<(usize, usize)>],
    skip: SkipLeaf<'_>,
) -> Option<usize> {
    let mut at = skip_space(text, at + 1, text.len());
    while *text.get(at)? != b'}' {
        let key_end = at + text::skip_string(&text[at..])?;
        let key = &text[at + 1..key_end - 1];
        // Only other keys can read like a name whose bytes differ.
        let is_simple = text::is_simple(key, text.get(at + 1..).and_then(|rest| rest.first_chunk()));
        let is_named = |name: &str| if is_simple { key == name.as_bytes() } else { reads(key, name) };
        // Paths that begin alike stand side by side, mostly.
        let mut compared = ("", false);
        at = skip_space(text, key_end, text.len());
        at = skip_space(text, at + usize::from(*text.get(at)? == b':'), text.len());
        let (start, mut inner) = (at, 0);
        for (number, path) in paths.iter().enumerate() {
            let Some(name) = path.get(depth).filter(|_| open & 1 << number != 0) else { continue };
            if !std::ptr::eq(*name, compared.0) {
                compared = (name, is_named(name));
            }
            if compared.1 {
                // The last of several members of a name counts.
                found[number] = None;
                inner |= 1 << number;
            }
        }
        let goes_on = |number: usize| inner & 1 << number != 0 && paths[number].len() > depth + 1;
        at = match inner {
            0 => skip_value(text, at)?,
            _ if text.get(at) == Some(&b'{') && (0..paths.len()).any(goes_on) => {
                find_members(text, at, paths, (inner, depth + 1), found, skip)?
            }
            // Of several paths to one value the last counts.
            _ => skip(63 - inner.leading_zeros() as usize, text, at)?,
        };
        if inner != 0 {
            for (number, path) in paths.iter().enumerate() {
                if inner & 1 << number != 0 && path.len() == depth + 1 {
                    found[number] = Some((start, at));
                }
            }
        }
        at = skip_space(text, at, text.len());
        match text.get(at)? {
            b',' => at = skip_space(text, at + 1, text.len()),
            b'}' => {}
            _ => return None,
        }
    }
    Some(at + 1)
}

/// Returns the position of the next byte that is not whitespace, or `end`.
#[inline]
fn skip_space(text: &[u8], from: usize, end: usize) -> usize {
    text[from..end].iter().position(|byte| !is_space(*byte)).map_or(end, |skipped| from + skipped)
}
