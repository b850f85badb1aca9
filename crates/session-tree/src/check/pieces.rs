//! The readable parts of a line that is not JSON: whole entries that were fused with others, runs of zero bytes, and
//! single fields.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

use super::Recovered;
use crate::id::EntryId;
use crate::json::{self, Doc, ValueRef};
use crate::kind::Kind;

/// The beginning of every entry that pi writes.
const BEGINNING: &[u8] = b"{\"type\":";

/// A whole entry that shares its line with something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FusedEntry {
    pub(super) entry: Recovered,
    pub(super) parent: Option<EntryId>,
}

/// Finds the whole entries on a line at a position of the file; the flag is true if the line contains anything else but
/// zero bytes.
pub(super) fn split(line: &[u8], position: u64) -> (Vec<FusedEntry>, bool) {
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
        let piece = len.and_then(|len| piece_of(&line[at..at + len], position + at as u64));
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

/// Reads an entry at a position of the file; content blocks have a type too, some even an id, but no parent.
fn piece_of(text: &[u8], position: u64) -> Option<FusedEntry> {
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
    let bytes = position..position + text.trim_ascii_end().len() as u64;
    let entry = Recovered { id: EntryId::from(&*id), bytes, is_aside };
    (kind != "session").then_some(FusedEntry { entry, parent })
}

/// Finds the first run of zero bytes on a line at a position of the file.
pub(super) fn nul_run(line: &[u8], position: u64) -> Option<Range<u64>> {
    let start = memchr(0, line)?;
    let length = line[start..].iter().take_while(|byte| **byte == 0).count();
    Some(position + start as u64..position + (start + length) as u64)
}

/// Finds the string that follows `"key":` on a damaged line.
pub(crate) fn find_field(line: &[u8], key: &str) -> Option<String> {
    let name = format!("\"{key}\":");
    let rest = &line[memmem::find(line, name.as_bytes())? + name.len()..];
    let mut end = 1;
    loop {
        // No id or path is longer.
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
