//! Replaces the values of keys in texts.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

/// The text in place of a key.
const MASK: &str = "[masked key]";
/// The fewest characters of a key.
const MIN_LENGTH: usize = 8;
/// A key of this length is masked whatever it looks like.
const LONG: usize = 20;
/// How many characters at an end of a key are enough to recognise it where an output was cut.
const ENDS: usize = 20;
/// The fewest characters of a key of which a part is recognised.
const MIN_LENGTH_IN_PARTS: usize = 32;

/// Values of keys that are taken out of texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Mask(Vec<String>);

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

impl Mask {
    /// Adds a value. A word such as `ollama` or `not-needed`, which local servers are given as a key, is left alone.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        let looks_like_key = value.len() >= LONG
            || value.starts_with("sk-")
            || value.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        if value.len() >= MIN_LENGTH && looks_like_key && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // A key that contains another one goes first.
            self.0.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Returns the text without the values.
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

    /// Masks every string in a JSON value, but no image.
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

/// Masks the beginning of a key whose end was cut off, and the end of one whose beginning was.
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
