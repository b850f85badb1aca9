//! JSON and numbers as the page reads them.
//!
//! The bodies of entries are copied as bytes: decoding and encoding their strings would be most of the work of an export.

use std::io::Write as _;

use session_tree::json::{TextOut as _, ValueRef, write_string};

/// A JSON text in the making. Bytes from a session may be invalid UTF-8; the browser replaces them, as the engine does.
pub(crate) type Json = Vec<u8>;

/// A JSON object that is being written.
pub(crate) struct Object<'o> {
    out: &'o mut Json,
    is_empty: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub(crate) fn new(out: &'o mut Json) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Begins a member; the caller writes its value.
    pub(crate) fn key(&mut self, key: &str) -> &mut Json {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.put(key);
        self.out.put("\":");
        self.out
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, key: &str, text: &str) {
        write_string(self.key(key), text);
    }

    /// Writes a text if there is one.
    pub(crate) fn some(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Writes a value as it stands in the session.
    pub(crate) fn raw(&mut self, key: &str, value: Option<ValueRef<'_>>) {
        if let Some(value) = value {
            raw(self.key(key), value);
        }
    }

    /// Writes a number.
    pub(crate) fn number(&mut self, key: &str, number: f64) {
        push_number(self.key(key), number);
    }

    /// Writes a flag if it is set.
    pub(crate) fn flag(&mut self, key: &str, flag: bool) {
        if flag {
            self.key(key).push(b'1');
        }
    }

    /// Writes a list.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut Json, T),
    ) {
        list(self.key(key), items, write);
    }

    /// Ends the object.
    pub(crate) fn close(self) {
        self.out.push(b'}');
    }
}

/// Writes a list.
pub(crate) fn list<T>(
    out: &mut Json,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Json, T),
) {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Writes a value as it stands in the session, on one line.
pub(crate) fn raw(out: &mut Json, value: ValueRef<'_>) {
    let raw = value.raw();
    match memchr::memchr2(b'\r', b'\n', raw) {
        None => out.extend_from_slice(raw),
        // They stand between values, where a blank does as well: strings hold none.
        Some(_) => out.extend(raw.iter().map(|byte| if byte.is_ascii_control() { b' ' } else { *byte })),
    }
}

/// Writes a whole number.
pub(crate) fn push_integer(out: &mut Json, number: i64) {
    // Memory takes everything.
    drop(write!(out, "{number}"));
}

/// Writes a number; JSON has no infinities.
pub(crate) fn push_number(out: &mut Json, number: f64) {
    match number {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => push_integer(out, whole as i64),
        number if number.is_finite() => out.put(&number.to_string()),
        _ => out.push(b'0'),
    }
}

/// Returns the first characters of a text, and whether that is all of it.
pub(crate) fn head(text: &str, limit: usize) -> (&str, bool) {
    if text.len() <= limit {
        return (text, true);
    }
    match text.char_indices().nth(limit) {
        Some((at, _)) => (&text[..at], false),
        None => (text, true),
    }
}
