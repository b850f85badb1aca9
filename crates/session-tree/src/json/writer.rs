//! Writes JSON texts member by member.

use serde_json::Value as Json;

use super::{ValueRef, literal};

/// The text of a JSON object, built member by member.
#[derive(Debug, Clone)]
pub(crate) struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        ObjectWriter::with_capacity(192)
    }

    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut text = Vec::with_capacity(bytes);
        text.push(b'{');
        ObjectWriter(text)
    }

    /// Adds a member whose value is JSON text.
    pub(crate) fn raw(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        super::write_string(&mut self.0, name);
        self.0.push(b':');
        self.0.extend_from_slice(value.as_ref());
        self
    }

    pub(crate) fn string(self, name: &str, value: &str) -> Self {
        self.raw(name, literal(value))
    }

    pub(crate) fn bool(self, name: &str, value: bool) -> Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    pub(crate) fn optional(self, name: &str, value: Option<&str>) -> Self {
        self.optional_raw(name, value.map(literal))
    }

    pub(crate) fn json(self, name: &str, value: Option<&Json>) -> Self {
        self.optional_raw(name, value.map(Json::to_string))
    }

    /// Copies a member of another object, if that has it.
    pub(crate) fn copy(self, name: &str, object: ValueRef<'_>) -> Self {
        self.optional_raw(name, object.get(name).map(ValueRef::raw))
    }

    pub(crate) fn optional_raw(self, name: &str, value: Option<impl AsRef<[u8]>>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// Joins JSON texts to an array.
pub(crate) fn array<T: AsRef<[u8]>>(items: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = vec![b'['];
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}
