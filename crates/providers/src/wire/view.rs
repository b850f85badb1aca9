//! Looking at a frame: parts that may be there or not, without copying what nobody asks for.

use std::borrow::Cow;

use serde_json::Value as Json;
use session_tree::json::{Kind, Value};

/// A part of a frame, whether it is there or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'f>(Option<Value<'f>>);

impl<'f> From<Value<'f>> for View<'f> {
    fn from(value: Value<'f>) -> Self {
        View(Some(value))
    }
}

impl<'f> View<'f> {
    /// Returns a member of an object.
    pub(super) fn at(self, key: &str) -> View<'f> {
        View(self.0.and_then(|value| value.get(key)))
    }

    /// Returns the first item of a list.
    pub(super) fn first(self) -> View<'f> {
        View(self.0.and_then(|value| value.items().next()))
    }

    /// Returns the items of a list.
    pub(super) fn items(self) -> impl Iterator<Item = View<'f>> {
        self.0.into_iter().flat_map(Value::items).map(View::from)
    }

    /// Returns the members of an object, by name.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'f, str>, View<'f>)> {
        let members = self.0.into_iter().flat_map(Value::members);
        members.map(|(key, value)| (key.as_str().unwrap_or_default(), value.into()))
    }

    /// Returns the text at a key; empty if there is none.
    pub(super) fn text(self, key: &str) -> Cow<'f, str> {
        self.at(key).as_str().unwrap_or_default()
    }

    /// Returns a text.
    pub(super) fn as_str(self) -> Option<Cow<'f, str>> {
        self.0.and_then(Value::as_str)
    }

    /// Returns a number that counts something.
    pub(super) fn as_u64(self) -> Option<u64> {
        self.0.and_then(Value::as_i64).and_then(|number| u64::try_from(number).ok())
    }

    pub(super) fn is_object(self) -> bool {
        self.is(Kind::Object)
    }

    pub(super) fn is_string(self) -> bool {
        self.is(Kind::String)
    }

    /// Tells whether there is anything but null.
    pub(super) fn is_there(self) -> bool {
        self.0.is_some_and(|value| !value.is_null())
    }

    pub(super) fn is_true(self) -> bool {
        self.0.and_then(Value::as_bool) == Some(true)
    }

    /// Copies the part; null if it is not there.
    pub(super) fn to_json(self) -> Json {
        self.0.and_then(Value::to_serde).unwrap_or_default()
    }

    fn is(self, kind: Kind) -> bool {
        self.0.is_some_and(|value| value.kind() == kind)
    }
}
