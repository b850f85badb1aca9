//! One JSON text with an index of its values: strict about grammar, lenient about content.
//!
//! bytes -> **json** -> line -> entry -> tree -> path -> context
//!
//! Accepts exactly the texts that JavaScript's `JSON.parse` accepts after decoding UTF-8: lone
//! surrogates, duplicate keys, `1e400`, invalid UTF-8 inside strings and any depth of nesting. The bytes
//! stay as they were read; values are views of them. Nothing here recurses, so a hostile text cannot
//! exhaust the stack. Uses neither files nor sessions.

mod cursor;
mod edit;
mod number;
mod parse;
mod stringify;
mod text;
mod writer;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use cursor::Cursor;
pub use edit::{Edit, minify};
pub use parse::validate;
pub(crate) use parse::value_len;
pub use text::decode_lossy;
pub use text::{TextOut, write_string};
pub(crate) use text::{literal, skip_object, skip_string, trim_js};
pub(crate) use writer::{ObjectWriter, array};

/// One JSON text with an index of its values.
///
/// A clone shares the text and the index.
#[derive(Clone)]
pub struct Doc {
    text: Arc<[u8]>,
    nodes: Arc<[Node]>,
}

/// One value of a [`Doc`]: a cheap view that can be copied.
#[derive(Clone, Copy)]
pub struct ValueRef<'d> {
    doc: &'d Doc,
    index: u32,
}

/// The six kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number, of any size.
    Number,
    /// A string.
    String,
    /// A list of values.
    Array,
    /// A list of members: keys with values.
    Object,
}

/// A text that is not JSON: the reason and the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {at}")]
pub struct SyntaxError {
    /// The offset of the first byte that does not fit; the length of the text if it ends too early.
    pub at: usize,
    /// The reason.
    pub reason: &'static str,
}

/// The place of one value in the text. Nodes are in the order of the text: a container, then its content; keys are
/// nodes too.
#[derive(Debug, Clone, Copy)]
struct Node {
    start: u32,
    end: u32,
    /// Containers: the index behind the last node inside. Strings: 1 if there is an escape. Else 0.
    extra: u32,
}

impl Node {
    /// The index behind this node, whose own index is `index`, and behind all nodes inside it.
    #[inline]
    fn behind(self, index: u32) -> u32 {
        // In strings `extra` is a flag, so only a greater value is an index.
        self.extra.max(index + 1)
    }
}

impl Doc {
    /// Indexes a text that is exactly one JSON value, with whitespace around it or not.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or longer than 4 GiB.
    pub fn parse(text: impl Into<Arc<[u8]>>) -> Result<Self, SyntaxError> {
        let text = text.into();
        let nodes = parse::index(&text)?;
        Ok(Self { text, nodes })
    }

    /// The value that the text is.
    pub fn root(&self) -> ValueRef<'_> {
        ValueRef { doc: self, index: 0 }
    }

    /// The value at a place that [`ValueRef::place`] gave.
    pub(crate) fn value_at(&self, place: u32) -> ValueRef<'_> {
        debug_assert!((place as usize) < self.nodes.len(), "a place of another document");
        ValueRef { doc: self, index: place }
    }

    /// The text as it was given.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many bytes the text and its index take.
    pub(crate) fn memory(&self) -> usize {
        self.text.len() + std::mem::size_of_val(&*self.nodes)
    }

    /// The text as it was given, shared.
    pub fn shared_text(&self) -> Arc<[u8]> {
        self.text.clone()
    }
}

impl fmt::Debug for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

impl Kind {
    /// The kind of the value that begins with this byte.
    fn of_first_byte(byte: u8) -> Self {
        match byte {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b't' | b'f' => Self::Bool,
            b'n' => Self::Null,
            _ => Self::Number,
        }
    }
}

impl<'d> ValueRef<'d> {
    /// The kind of this value.
    pub fn kind(self) -> Kind {
        Kind::of_first_byte(self.doc.text[self.node().start as usize])
    }

    /// Returns true if this is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The exact bytes of this value.
    pub fn raw(self) -> &'d [u8] {
        &self.doc.text[self.range()]
    }

    /// Returns the place of this value in the text of the document.
    pub fn range(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The document of this value and its place there, for [`Doc::value_at`].
    pub(crate) fn place(self) -> (&'d Doc, u32) {
        (self.doc, self.index)
    }

    /// The value of the member `key` of an object; the last one if there are several.
    #[inline]
    pub fn get(self, key: &str) -> Option<ValueRef<'d>> {
        let [found] = self.get_each([key]);
        found
    }

    /// The values of several members of an object, in one walk through it.
    #[inline]
    pub fn get_each<const N: usize>(self, keys: [&str; N]) -> [Option<ValueRef<'d>>; N] {
        let is_odd = keys.iter().any(|key| !key.is_ascii());
        let mut words = [0; N];
        for (word, key) in words.iter_mut().zip(keys) {
            *word = first_word(key.as_bytes());
        }
        let mut found = [None; N];
        for (name, value) in self.members() {
            let known = name.key_word().filter(|_| !is_odd);
            for (at, key) in keys.iter().enumerate() {
                let is_it = match known {
                    Some((word, len)) => {
                        word == words[at]
                            && len == key.len()
                            && (len <= 8 || name.content() == key.as_bytes())
                    }
                    None => name.is_str(key),
                };
                if is_it {
                    found[at] = Some(value);
                }
            }
        }
        found
    }

    /// The first bytes of a key and its length; none if the key has an escape.
    #[inline]
    fn key_word(self) -> Option<(u64, usize)> {
        let node = self.node();
        let (start, len) = (node.start as usize + 1, (node.end - node.start) as usize - 2);
        // There is always a colon and a value behind a key, so these bytes are nearly always there.
        let bytes = self.doc.text.get(start..)?.first_chunk()?;
        (node.extra == 0).then_some((u64::from_le_bytes(*bytes) & mask(len), len))
    }

    /// Returns true for a string that reads `text`. A lone surrogate equals no text.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        self.cursor().is_str(text)
    }

    /// Returns the text of a string. Lone surrogates and invalid UTF-8 become U+FFFD.
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        self.cursor().as_str()
    }

    /// Returns the text of a string up to about so many bytes; a character that is cut there may be replaced.
    pub fn beginning(self, bytes: usize) -> Option<Cow<'d, str>> {
        self.cursor().beginning(bytes)
    }

    /// Returns the value of a boolean.
    pub fn as_bool(self) -> Option<bool> {
        self.cursor().as_bool()
    }

    /// Returns the value of a number as JavaScript reads it; infinite if it is too large.
    pub fn as_f64(self) -> Option<f64> {
        self.cursor().as_f64()
    }

    /// Returns the value of a number that is integral and fits, in any spelling (`1.0`, `1e2`).
    ///
    /// Plain digits are read exactly, other spellings with the precision of `f64`.
    pub fn as_i64(self) -> Option<i64> {
        self.cursor().as_i64()
    }

    /// Returns a cursor at this value.
    #[inline]
    pub fn cursor(self) -> Cursor<'d> {
        let Range { start, end } = self.range();
        Cursor::at_range(self.doc.text(), start, end)
    }

    /// The items of an array; nothing for other kinds.
    pub fn items(self) -> Items<'d> {
        self.nodes_inside(Kind::Array)
    }

    /// The members of an object as (key, value), in the order of the text and with duplicates; nothing
    /// for other kinds.
    pub fn members(self) -> Members<'d> {
        Members(self.nodes_inside(Kind::Object))
    }

    /// The number of items or members (duplicates included); 0 for other kinds.
    pub fn len(self) -> usize {
        self.items().count() + self.members().count()
    }

    /// Returns true if there are no items or members.
    pub fn is_empty(self) -> bool {
        self.items().next().is_none() && self.members().next().is_none()
    }

    /// The length of a string in UTF-16 code units, as JavaScript counts it; 0 for other kinds.
    pub fn utf16_len(self) -> usize {
        if self.kind() == Kind::String { text::utf16_len(self.content()) } else { 0 }
    }

    /// The text that JavaScript's `JSON.stringify(JSON.parse(...))` makes of this value.
    ///
    /// Compact; numbers as JavaScript spells them, `null` for infinite ones; duplicate keys merged into
    /// the first place with the last value; keys that are array indices first, in ascending order.
    pub fn js_string(self) -> String {
        let mut out = String::with_capacity(self.raw().len());
        self.write_js(&mut out);
        out
    }

    /// Appends the text that [`ValueRef::js_string`] returns.
    pub fn write_js(self, out: &mut String) {
        stringify::write_js(self, out);
    }

    /// Copies this value into `serde_json`, or returns `None` if it nests deeper than 512.
    ///
    /// Strings are read as in [`ValueRef::as_str`], infinite numbers become `null`, duplicate keys are
    /// merged.
    pub fn to_serde(self) -> Option<serde_json::Value> {
        stringify::to_serde(self)
    }

    #[inline]
    fn node(self) -> Node {
        self.doc.nodes[self.index as usize]
    }

    /// The bytes between the quotes of a string.
    #[inline]
    fn content(self) -> &'d [u8] {
        let node = self.node();
        &self.doc.text[node.start as usize + 1..node.end as usize - 1]
    }

    #[inline]
    fn is_escaped(self) -> bool {
        self.node().extra != 0
    }

    /// The nodes directly inside a container of this kind; nothing for other values.
    fn nodes_inside(self, kind: Kind) -> Items<'d> {
        let end = if self.kind() == kind { self.node().extra } else { self.index };
        Items { doc: self.doc, next: self.index + 1, end }
    }
}

/// The first eight bytes of a key, with zeros behind a short one.
#[inline]
fn first_word(key: &[u8]) -> u64 {
    let bytes = key.iter().take(8).enumerate();
    bytes.fold(0, |word, (at, byte)| word | u64::from(*byte) << (8 * at))
}

/// Keeps the first `len` bytes of eight.
#[inline]
fn mask(len: usize) -> u64 {
    if len < 8 { (1 << (8 * len)) - 1 } else { u64::MAX }
}

impl fmt::Debug for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.raw()))
    }
}

/// The items of an array, in order.
#[derive(Debug, Clone)]
pub struct Items<'d> {
    doc: &'d Doc,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = ValueRef<'d>;

    #[inline]
    fn next(&mut self) -> Option<ValueRef<'d>> {
        if self.next >= self.end {
            return None;
        }
        let value = ValueRef { doc: self.doc, index: self.next };
        self.next = value.node().behind(self.next);
        Some(value)
    }
}

/// The members of an object as (key, value), in order.
#[derive(Debug, Clone)]
pub struct Members<'d>(Items<'d>);

impl<'d> Iterator for Members<'d> {
    type Item = (ValueRef<'d>, ValueRef<'d>);

    #[inline]
    fn next(&mut self) -> Option<(ValueRef<'d>, ValueRef<'d>)> {
        Some((self.0.next()?, self.0.next()?))
    }
}

#[cfg(test)]
mod tests;
