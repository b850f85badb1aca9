//! Writes objects member by member.

use serde_json::Value as Json;

use super::write_string;

/// The text of a JSON object that grows by members.
#[derive(Debug, Clone)]
pub(crate) struct ObjectText(String);

impl ObjectText {
    pub(crate) fn new() -> Self {
        ObjectText(String::from("{"))
    }

    /// Adds a member whose value is JSON text.
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    pub(crate) fn string(self, name: &str, value: &str) -> Self {
        let mut text = String::with_capacity(value.len() + 2);
        write_string(&mut text, value);
        self.raw(name, &text)
    }

    pub(crate) fn bool(self, name: &str, value: bool) -> Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    pub(crate) fn optional(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(name, value),
            None => self,
        }
    }

    pub(crate) fn json(self, name: &str, value: Option<&Json>) -> Self {
        match value {
            Some(value) => self.raw(name, &value.to_string()),
            None => self,
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
