//! Values written again: as JavaScript's `JSON.stringify` writes them, or into `serde_json`.
//!
//! Both walk the value with a stack of open containers, never by recursion.

use std::collections::HashMap;
use std::vec;

use super::{Items, Kind, Members, ValueRef, number, text};

/// The deepest nesting that [`to_serde`] copies, because `serde_json` drops its values by recursion.
const SERDE_DEPTH: usize = 512;

/// Objects up to this size are checked for duplicate keys by comparing each pair.
const FEW_MEMBERS: usize = 16;

/// The largest key that JavaScript sorts as an array index.
const LAST_ARRAY_INDEX: u32 = u32::MAX - 1;

/// Appends what `JSON.stringify(JSON.parse(...))` gives for the value.
pub(super) fn write_js(value: ValueRef<'_>, out: &mut String) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        match value.kind() {
            Kind::Array | Kind::Object => open.push(Open::begin(value, out)),
            Kind::String => write_quoted(out, value),
            Kind::Number => number::write_js(out, value.raw()),
            Kind::Bool | Kind::Null => out.extend(value.raw().iter().map(|byte| char::from(*byte))),
        }
        next = next_value(&mut open, out);
    }
}

/// Writes what stands before the next value, and closes the containers that end there.
fn next_value<'d>(open: &mut Vec<Open<'d>>, out: &mut String) -> Option<ValueRef<'d>> {
    while let Some(container) = open.last_mut() {
        if let Some((key, value)) = container.rest.next() {
            if !std::mem::take(&mut container.is_first) {
                out.push(',');
            }
            if let Some(key) = key {
                write_quoted(out, key);
                out.push(':');
            }
            return Some(value);
        }
        out.push(if matches!(container.rest, Remaining::Items(_)) { ']' } else { '}' });
        open.pop();
    }
    None
}

fn write_quoted(out: &mut String, string: ValueRef<'_>) {
    out.push('"');
    text::write_js(out, string.content());
    out.push('"');
}

/// A container that is being written.
struct Open<'d> {
    rest: Remaining<'d>,
    is_first: bool,
}

/// The part of a container that is not written yet.
enum Remaining<'d> {
    Items(Items<'d>),
    Members(Members<'d>),
    Sorted(vec::IntoIter<(ValueRef<'d>, ValueRef<'d>)>),
}

impl<'d> Open<'d> {
    fn begin(container: ValueRef<'d>, out: &mut String) -> Self {
        let rest = if container.kind() == Kind::Array {
            out.push('[');
            Remaining::Items(container.items())
        } else {
            out.push('{');
            members_in_js_order(container)
        };
        Self { rest, is_first: true }
    }
}

impl<'d> Remaining<'d> {
    fn next(&mut self) -> Option<(Option<ValueRef<'d>>, ValueRef<'d>)> {
        match self {
            Self::Items(items) => items.next().map(|value| (None, value)),
            Self::Members(members) => members.next().map(|(key, value)| (Some(key), value)),
            Self::Sorted(members) => members.next().map(|(key, value)| (Some(key), value)),
        }
    }
}

/// The members as JavaScript lists them: array indices first and ascending, then the other keys where
/// they first appeared; each key once, with its last value.
fn members_in_js_order(object: ValueRef<'_>) -> Remaining<'_> {
    if is_in_js_order(object) {
        return Remaining::Members(object.members());
    }
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut members: Vec<(Option<u32>, (ValueRef<'_>, ValueRef<'_>))> = Vec::new();
    for (key, value) in object.members() {
        let name = text::decode_wtf8(key.content());
        let index = array_index(&name);
        let place = *places.entry(name).or_insert(members.len());
        match members.get_mut(place) {
            Some((_, member)) => member.1 = value,
            None => members.push((index, (key, value))),
        }
    }
    members.sort_by_key(|(index, _)| (index.is_none(), *index));
    Remaining::Sorted(members.into_iter().map(|(_, member)| member).collect::<Vec<_>>().into_iter())
}

/// Tells, for the plain objects that are nearly all, that their members need no other order. May say no
/// when in doubt.
fn is_in_js_order(object: ValueRef<'_>) -> bool {
    let keys = || object.members().map(|(key, _)| key);
    let is_ordinary = |key: ValueRef<'_>| {
        let content = key.content();
        !key.is_escaped() && content.is_ascii() && !content.first().is_some_and(u8::is_ascii_digit)
    };
    let is_repeated = |(place, key): (usize, ValueRef<'_>)| {
        keys().take(place).any(|earlier| earlier.content() == key.content())
    };
    keys().take(FEW_MEMBERS + 1).count() <= FEW_MEMBERS
        && keys().all(is_ordinary)
        && !keys().enumerate().any(is_repeated)
}

/// The number that a key is, if JavaScript takes it for an array index: no sign, no leading zero.
fn array_index(key: &[u8]) -> Option<u32> {
    let is_canonical = match key {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let index = is_canonical.then_some(key).and_then(|key| std::str::from_utf8(key).ok()?.parse().ok())?;
    (index <= LAST_ARRAY_INDEX).then_some(index)
}

/// Copies the value into `serde_json`, unless it nests too deep.
pub(super) fn to_serde(value: ValueRef<'_>) -> Option<serde_json::Value> {
    let mut open: Vec<Copying<'_>> = Vec::new();
    let mut next = value;
    loop {
        let mut done = match next.kind() {
            Kind::Array | Kind::Object => {
                open.push(Copying::begin(next));
                None
            }
            _ => Some(scalar_to_serde(next)),
        };
        if open.len() > SERDE_DEPTH {
            return None;
        }
        next = loop {
            let Some(container) = open.last_mut() else { return done };
            if let Some(value) = done.take() {
                container.put(value);
            }
            if let Some((key, value)) = container.rest.next() {
                container.key = key;
                break value;
            }
            done = open.pop().map(|container| container.copy);
        };
    }
}

fn scalar_to_serde(value: ValueRef<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::String => value.as_str().unwrap_or_default().into_owned().into(),
        Kind::Number => number::to_serde(value.raw()),
        Kind::Bool => value.as_bool().into(),
        Kind::Null | Kind::Array | Kind::Object => serde_json::Value::Null,
    }
}

/// A container that is being copied.
struct Copying<'d> {
    rest: Remaining<'d>,
    key: Option<ValueRef<'d>>,
    copy: serde_json::Value,
}

impl<'d> Copying<'d> {
    fn begin(container: ValueRef<'d>) -> Self {
        let (rest, copy) = if container.kind() == Kind::Array {
            (Remaining::Items(container.items()), serde_json::Value::Array(Vec::new()))
        } else {
            (Remaining::Members(container.members()), serde_json::Value::Object(serde_json::Map::new()))
        };
        Self { rest, key: None, copy }
    }

    fn put(&mut self, value: serde_json::Value) {
        match &mut self.copy {
            serde_json::Value::Array(items) => items.push(value),
            serde_json::Value::Object(members) => {
                let key = self.key.and_then(ValueRef::as_str).unwrap_or_default();
                members.insert(key.into_owned(), value);
            }
            _ => {}
        }
    }
}
