//! Replaces the values of keys in texts.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

/// The replacement of a key.
const MASK: &str = "[masked key]";
/// The minimum length of a key.
const MIN_LENGTH: usize = 8;
/// Keys of this length are always masked.
const LONG: usize = 20;
/// The number of characters at either end that identify a truncated key.
const ENDS: usize = 20;
/// The minimum length of a key that is recognised by a part.
const MIN_LENGTH_IN_PARTS: usize = 32;

/// The values of keys to mask.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Mask(Vec<String>);

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

impl Mask {
    /// Adds a value. Placeholders such as `ollama` or `not-needed`, which local servers accept as a key, are ignored.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        let looks_like_key = value.len() >= LONG
            || value.starts_with("sk-")
            || value.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        if value.len() >= MIN_LENGTH && looks_like_key && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // A key that contains another one comes first.
            self.0.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Masks the values in a text.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), MASK));
            }
            if value.len() >= MIN_LENGTH_IN_PARTS && value.is_ascii() {
                text = without_parts(text, value);
            }
        }
        text
    }

    /// Masks every string in a JSON value except images.
    pub(super) fn apply_to_json(&self, value: &mut Json) {
        match value {
            Json::String(text) => {
                if let Cow::Owned(masked) = self.apply(text) {
                    *text = masked;
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.apply_to_json(item)),
            Json::Object(fields) if fields.get("type").is_some_and(|kind| kind == "image") => {}
            Json::Object(fields) => fields.values_mut().for_each(|field| self.apply_to_json(field)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

/// Masks a key whose beginning or end was cut off.
fn without_parts<'t>(mut text: Cow<'t, str>, value: &str) -> Cow<'t, str> {
    let (first, last) = (&value[..ENDS], &value[value.len() - ENDS..]);
    while let Some(at) = text.find(first) {
        let rest = &text.as_bytes()[at..];
        let length = rest.iter().zip(value.as_bytes()).take_while(|(a, b)| a == b).count();
        text = Cow::Owned(format!("{}{MASK}{}", &text[..at], &text[at + length..]));
    }
    while let Some(at) = text.find(last) {
        let end = at + ENDS;
        let before = text.as_bytes()[..end].iter().rev();
        let length = before.zip(value.as_bytes().iter().rev()).take_while(|(a, b)| a == b).count();
        text = Cow::Owned(format!("{}{MASK}{}", &text[..end - length], &text[end..]));
    }
    text
}

#[cfg(test)]
mod tests;
