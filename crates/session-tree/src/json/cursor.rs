//! Reads single values out of a text without indexing or validating it.

use std::borrow::Cow;

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
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'t> {
    /// The bytes of the value, without whitespace around them.
    text: &'t [u8],
}

impl<'t> Cursor<'t> {
    /// Starts at the value that a text consists of.
    pub fn new(text: &'t [u8]) -> Self {
        let start = skip_space(text);
        let end = text
            .iter()
            .rposition(|byte| !is_space(*byte))
            .map_or(start.len(), |last| start.len().saturating_sub(text.len() - 1 - last));
        Self { text: &start[..end] }
    }

    /// Starts at a value whose exact bytes are known.
    #[inline]
    pub(super) fn exact(text: &'t [u8]) -> Self {
        Self { text }
    }

    /// Returns the exact bytes of the value.
    pub fn raw(self) -> &'t [u8] {
        self.text
    }

    /// Returns the kind of the value.
    pub fn kind(self) -> Kind {
        self.text.first().map_or(Kind::Null, |first| Kind::of_first_byte(*first))
    }

    /// Returns true for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the value of the member `key` of an object; the last one if there are several.
    pub fn get(self, key: &str) -> Option<Self> {
        self.members().filter(|(name, _)| name.is_str(key)).last().map(|(_, value)| value)
    }

    /// Returns the value at a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Returns the values of several members of an object, found in one pass over it.
    pub fn get_each<const N: usize>(self, keys: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        for (name, value) in self.members() {
            if let Some(at) = keys.iter().position(|key| name.is_str(key)) {
                found[at] = Some(value);
            }
        }
        found
    }

    /// Returns the items of an array; none for other kinds.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let mut rest = self.text.strip_prefix(b"[").unwrap_or_default();
        std::iter::from_fn(move || take_value(&mut rest))
    }

    /// Returns the members of an object as (key, value), with duplicates; none for other kinds.
    pub fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let mut rest = self.text.strip_prefix(b"{").unwrap_or_default();
        std::iter::from_fn(move || {
            let key = take_value(&mut rest).filter(|key| key.kind() == Kind::String)?;
            Some((key, take_value(&mut rest)?))
        })
    }

    /// Returns true for a string that reads `text`. A lone surrogate equals no text.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        let Some(content) = self.content() else { return false };
        // Bytes that differ can read the same through an escape, or as U+FFFD in the place of invalid UTF-8.
        content == text.as_bytes() && !text.contains('\\')
            || (is_escaped(content) || !text.is_ascii()) && text::decode_wtf8(content) == text.as_bytes()
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
        (self.kind() == Kind::Bool).then(|| self.text == b"true")
    }

    /// Returns the value of a number as JavaScript reads it; infinite if it is too large.
    pub fn as_f64(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| number::to_f64(self.text))
    }

    /// Returns the value of a number that is integral and fits, in any spelling (`1.0`, `1e2`).
    ///
    /// Plain digits are read exactly, other spellings with the precision of `f64`.
    pub fn as_i64(self) -> Option<i64> {
        if self.kind() == Kind::Number { number::to_i64(self.text) } else { None }
    }

    /// Returns the bytes between the quotes of a string.
    #[inline]
    pub fn content(self) -> Option<&'t [u8]> {
        self.text.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

fn is_escaped(content: &[u8]) -> bool {
    memchr::memchr(b'\\', content).is_some()
}

/// Takes the next value off the inside of a container, and the comma or colon behind it. Returns none if something else
/// stands there, because the text is not JSON then.
fn take_value<'t>(rest: &mut &'t [u8]) -> Option<Cursor<'t>> {
    let text = skip_space(rest);
    let (value, behind) = text.split_at_checked(text::skip_value(text)?)?;
    *rest = match skip_space(behind) {
        [b',' | b':', rest @ ..] => rest,
        [b'}' | b']'] => &[],
        _ => return None,
    };
    Some(Cursor { text: value })
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[inline]
fn skip_space(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    &text[start..]
}
