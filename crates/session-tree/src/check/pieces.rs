//! The content of a line that is not JSON: whole entries that were fused with others, runs of zero bytes, and the
//! names that can still be made out.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

use crate::id::EntryId;
use crate::json::{self, Doc, ValueRef};
use crate::kind::Kind;

/// How every entry that pi writes begins.
const BEGINNING: &[u8] = b"{\"type\":";

/// A whole entry on a line with other things; positions count from the start of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fused {
    pub(super) id: EntryId,
    pub(super) parent: Option<EntryId>,
    pub(super) bytes: Range<u64>,
    /// True for a bookkeeping entry, which is never a leaf.
    pub(super) is_aside: bool,
}

/// Finds the whole entries on a line; the flag is true if the line contains anything else but zero bytes.
pub(super) fn split(line: &[u8]) -> (Vec<Fused>, bool) {
    let (mut found, mut has_rest) = (Vec::new(), false);
    // A hostile line could make every beginning look promising up to the end of the line.
    let mut budget = 16 * line.len() + (1 << 16);
    let mut at = 0;
    while at < line.len() {
        if matches!(line[at], 0 | b' ' | b'\t' | b'\r') {
            at += 1;
            continue;
        }
        let len = value_len(&line[at..], &mut budget);
        let piece = len.and_then(|len| piece_of(&line[at..at + len], at));
        has_rest |= piece.is_none();
        at = match (len, &piece) {
            (Some(len), Some(_)) => at + len,
            _ if budget == 0 => line.len(),
            _ => memmem::find(&line[at + 1..], BEGINNING).map_or(line.len(), |next| at + 1 + next),
        };
        found.extend(piece);
    }
    (found, has_rest)
}

/// The length of the JSON value at the start of a text, if there is one.
fn value_len(text: &[u8], budget: &mut usize) -> Option<usize> {
    let len = json::value_len(text);
    *budget = budget.saturating_sub(len.as_ref().map_or_else(|error| error.at, |len| *len));
    len.ok()
}

/// Reads an entry; content blocks have a type too, some even an id, but no parent.
fn piece_of(text: &[u8], at: usize) -> Option<Fused> {
    let doc = Doc::parse(text).ok()?;
    let root = doc.root();
    let kind = root.get("type").and_then(ValueRef::as_str)?;
    let id = root.get("id").and_then(ValueRef::as_str).filter(|id| !id.is_empty())?;
    let parent = root.get("parentId")?.as_str().filter(|parent| !parent.is_empty());
    let parent = parent.map(|parent| EntryId::from(&*parent));
    let kind_of_entry = Kind::from_name(kind.as_bytes());
    // The front half of a message can look whole when the rest of another one closes it.
    let has_message = || root.get("message").is_some_and(|message| message.get("role").is_some());
    if kind_of_entry == Kind::Message && !has_message() {
        return None;
    }
    let is_aside = matches!(kind_of_entry, Kind::SessionInfo | Kind::Usage)
        || root
            .get("customType")
            .and_then(ValueRef::as_str)
            .is_some_and(|name| name.starts_with("session-tree."));
    let bytes = at as u64..(at + text.trim_ascii_end().len()) as u64;
    (kind != "session").then(|| Fused { id: EntryId::from(&*id), parent, bytes, is_aside })
}

/// Finds the first run of zero bytes.
pub(super) fn nul_run(line: &[u8]) -> Option<Range<u64>> {
    let start = memchr(0, line)?;
    let length = line[start..].iter().take_while(|byte| **byte == 0).count();
    Some(start as u64..(start + length) as u64)
}

/// Makes out the string that follows `"key":` on a damaged line.
pub(crate) fn hint(line: &[u8], key: &str) -> Option<String> {
    let name = format!("\"{key}\":");
    let rest = &line[memmem::find(line, name.as_bytes())? + name.len()..];
    let mut end = 1;
    loop {
        // No name or path is longer.
        end += memchr2(b'"', b'\\', rest.get(end..)?.get(..4096).unwrap_or(&rest[end..]))?;
        match rest[end] {
            b'"' => break,
            _ => end += 2,
        }
    }
    let doc = Doc::parse(&rest[..=end]).ok()?;
    let text = doc.root().as_str()?.into_owned();
    (!text.is_empty()).then_some(text)
}
