//! The strings of a line of JSON, where they stand. The line has been found to be JSON before.

use std::borrow::Cow;

use session_tree::json::Doc;

/// The fields of an envelope that make up the tree.
const ENVELOPE: [&[u8]; 7] =
    [b"type", b"id", b"parentId", b"timestamp", b"targetId", b"firstKeptEntryId", b"fromId"];
/// A string of so many characters without anything but base64 under the key `data` is an image.
const SHORTEST_PICTURE: usize = 200;

/// A string of a line, with its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The start.
    pub(super) start: usize,
    /// The end.
    pub(super) end: usize,
    /// Whether it is a part of the envelope of an entry.
    pub(super) is_envelope: bool,
    /// Whether it stands under the key `data`.
    is_data: bool,
    /// True if its key ends with a word for a password.
    pub(super) is_password: bool,
}

impl Place {
    /// Reads the string.
    pub(super) fn text<'l>(&self, line: &'l [u8]) -> Option<Cow<'l, str>> {
        let content = &line[self.start + 1..self.end - 1];
        if !content.contains(&b'\\') {
            return Some(String::from_utf8_lossy(content));
        }
        let doc = Doc::parse(&line[self.start..self.end]).ok()?;
        doc.root().as_str().map(|text| Cow::Owned(text.into_owned()))
    }

    /// Returns true for the data of an image, which is not searched.
    pub(super) fn is_picture(&self, line: &[u8]) -> bool {
        let content = &line[self.start + 1..self.end - 1];
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        self.is_data && content.len() >= SHORTEST_PICTURE && content.iter().all(is_base64)
    }
}

/// Finds the strings of a line.
pub(super) fn of(line: &[u8]) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    let mut depth = 0_usize;
    let mut key: &[u8] = b"";
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of(line, at);
                let content = &line[at + 1..end - 1];
                let is_key = line[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                let is_envelope = depth == 1 && (is_key || ENVELOPE.contains(&key));
                let (is_data, is_password) = (key == b"data" && !is_key, names_password(key) && !is_key);
                found.push(Place { start: at, end, is_envelope, is_data, is_password });
                if is_key {
                    key = content;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn names_password(key: &[u8]) -> bool {
    let ends =
        |word: &[u8]| key.len() >= word.len() && key[key.len() - word.len()..].eq_ignore_ascii_case(word);
    [&b"password"[..], b"passwd", b"passphrase"].into_iter().any(ends)
}

/// Returns the place behind the closing quote of the string that begins at `start`.
fn end_of(line: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < line.len() {
        match line[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    line.len()
}
