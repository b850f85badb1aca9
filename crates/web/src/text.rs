//! JSON and numbers as the page reads them.
//!
//! The bodies of entries pass as the bytes they are: decoding a string only to encode it again would be most of the
//! work of an export. Knows nothing of sessions.

use std::fmt::Write as _;

use session_tree::json::{Value, write_string};

/// A JSON object that is being written.
pub(crate) struct Object<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub(crate) fn new(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, is_empty: true }
    }

    /// Begins a member; the caller writes its value.
    pub(crate) fn key(&mut self, key: &str) -> &mut String {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
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
    pub(crate) fn raw(&mut self, key: &str, value: Option<Value<'_>>) {
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
            self.key(key).push('1');
        }
    }

    /// Writes a list.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut String, T),
    ) {
        list(self.key(key), items, write);
    }

    /// Ends the object.
    pub(crate) fn close(self) {
        self.out.push('}');
    }
}

/// Writes a list.
pub(crate) fn list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Writes a value as it stands in the session; bytes that are no UTF-8 are replaced.
pub(crate) fn raw(out: &mut String, value: Value<'_>) {
    // Nearly always it is UTF-8, and telling that is much faster than replacing what is not.
    match std::str::from_utf8(value.raw()) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(value.raw())),
    }
}

/// Writes a whole number.
pub(crate) fn push_integer(out: &mut String, number: i64) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{number}");
}

/// Writes a number; JSON has no infinities.
pub(crate) fn push_number(out: &mut String, number: f64) {
    match number {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => push_integer(out, whole as i64),
        number if number.is_finite() => drop(write!(out, "{number}")),
        _ => out.push('0'),
    }
}

/// Shortens a number: `812`, `14.2k`, `1.3M`.
pub(crate) fn short(number: u64) -> String {
    let value = number as f64;
    match number {
        ..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", value / 1e3),
        _ => format!("{:.1}M", value / 1e6),
    }
}

/// Shows a number of things: `1 entry`, `2 entries`.
pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the first characters of a text, and whether that is all of it.
pub(crate) fn head(text: &str, limit: usize) -> (&str, bool) {
    match text.char_indices().nth(limit) {
        Some((at, _)) => (&text[..at], false),
        None => (text, true),
    }
}
