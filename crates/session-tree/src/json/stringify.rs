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

/// Appends the text that `JSON.stringify(JSON.parse(...))` gives for the value.
pub(super) fn write_js(value: ValueRef<'_>, out: &mut String) {
    let mut open: Vec<Remaining<'_>> = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        match value.kind() {
            Kind::Array => {
                out.push('[');
                open.push(Remaining::Items(value.items()));
            }
            Kind::Object => {
                out.push('{');
                open.push(members_in_js_order(value));
            }
            Kind::String => write_quoted(out, value),
            Kind::Number => number::write_js(out, value.raw()),
            Kind::Bool | Kind::Null => out.extend(value.raw().iter().map(|byte| char::from(*byte))),
        }
        next = next_value(&mut open, out);
    }
}

/// Closes the containers that end here, and writes the comma and the key before the next value.
fn next_value<'d>(open: &mut Vec<Remaining<'d>>, out: &mut String) -> Option<ValueRef<'d>> {
    while let Some(container) = open.last_mut() {
        if let Some((key, value)) = container.next() {
            if !out.ends_with(['[', '{']) {
                out.push(',');
            }
            if let Some(key) = key {
                write_quoted(out, key);
                out.push(':');
            }
            return Some(value);
        }
        out.push(if matches!(container, Remaining::Items(_)) { ']' } else { '}' });
        open.pop();
    }
    None
}

fn write_quoted(out: &mut String, string: ValueRef<'_>) {
    out.push('"');
    text::write_js(out, string.content());
    out.push('"');
}

/// The part of a container that is not written yet.
enum Remaining<'d> {
    Items(Items<'d>),
    Members(Members<'d>),
    Sorted(vec::IntoIter<(ValueRef<'d>, ValueRef<'d>)>),
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

/// Returns the members as JavaScript lists them: array indices first and ascending, then the other keys in the order of
/// their first appearance; each key once, with its last value.
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

/// Returns true if the members of an object are certainly in the order of JavaScript, as in nearly all objects.
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

/// Reads a key that JavaScript takes for an array index: no sign, no leading zero.
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
    let mut open: Vec<(Remaining<'_>, Option<ValueRef<'_>>, serde_json::Value)> = Vec::new();
    let mut next = value;
    loop {
        let mut done = None;
        match next.kind() {
            Kind::Array => open.push((Remaining::Items(next.items()), None, serde_json::json!([]))),
            Kind::Object => open.push((Remaining::Members(next.members()), None, serde_json::json!({}))),
            Kind::String => done = Some(next.as_str().unwrap_or_default().into()),
            Kind::Number => done = Some(number::to_serde(next.raw())),
            Kind::Bool | Kind::Null => done = Some(next.as_bool().into()),
        }
        if open.len() > SERDE_DEPTH {
            return None;
        }
        next = loop {
            let Some((rest, key, copy)) = open.last_mut() else { return done };
            if let Some(value) = done.take() {
                match copy {
                    serde_json::Value::Array(items) => items.push(value),
                    object => object[&*key.and_then(ValueRef::as_str).unwrap_or_default()] = value,
                }
            }
            if let Some((next_key, value)) = rest.next() {
                *key = next_key;
                break value;
            }
            done = open.pop().map(|(_, _, copy)| copy);
        };
    }
}
