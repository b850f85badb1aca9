//! JSON values in one spelling, so that equal values are equal texts.
//!
//! Keys sorted by UTF-16 code units and each once, numbers and strings as JavaScript writes them, no white space.
//! The recorded answers have this spelling. Iterative, because some files nest deeply.

use std::collections::BTreeMap;
use std::vec;

use session_tree::json::{Doc, Items, Kind, ValueRef};

/// Writes a value in its one spelling.
pub fn canonical(value: ValueRef<'_>) -> String {
    let mut out = String::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        match value.kind() {
            Kind::Array => {
                out.push('[');
                open.push(Open::Array(value.items()));
            }
            Kind::Object => {
                out.push('{');
                open.push(Open::Object(sorted(value)));
            }
            _ => value.write_js(&mut out),
        }
        next = step(&mut open, &mut out);
    }
    out
}

/// Writes a text in its one spelling.
///
/// # Panics
///
/// Panics when the text is no JSON.
#[allow(clippy::unwrap_used, reason = "a test that spells its own text wrong has failed")]
pub fn canonical_text(text: &str) -> String {
    let doc = Doc::parse(text.as_bytes()).unwrap();
    canonical(doc.root())
}

enum Open<'d> {
    Array(Items<'d>),
    Object(vec::IntoIter<(ValueRef<'d>, ValueRef<'d>)>),
}

/// Writes what stands before the next value, and closes the containers that end there.
fn step<'d>(open: &mut Vec<Open<'d>>, out: &mut String) -> Option<ValueRef<'d>> {
    loop {
        let (found, close) = match open.last_mut()? {
            Open::Array(items) => (items.next().map(|value| (None, value)), ']'),
            Open::Object(members) => (members.next().map(|(key, value)| (Some(key), value)), '}'),
        };
        let Some((key, value)) = found else {
            out.push(close);
            open.pop();
            continue;
        };
        // A string ends with a quote, so a bracket at the end has just been opened.
        if !out.ends_with(['[', '{']) {
            out.push(',');
        }
        if let Some(key) = key {
            key.write_js(out);
            out.push(':');
        }
        return Some(value);
    }
}

fn sorted(object: ValueRef<'_>) -> vec::IntoIter<(ValueRef<'_>, ValueRef<'_>)> {
    let utf16 = |key: ValueRef<'_>| key.as_str().unwrap_or_default().encode_utf16().collect::<Vec<u16>>();
    let members: BTreeMap<_, _> = object.members().map(|(key, value)| (utf16(key), (key, value))).collect();
    members.into_values().collect::<Vec<_>>().into_iter()
}
