//! Changes of JSON texts that leave every other byte as it was.

use super::{Kind, ValueRef, literal, skip_string};

/// Changes to the members of one object; all other bytes stay.
///
/// ```text
/// {"type": "x", "uuid": "a", "old": 1}
///   .rename("uuid", "id")  .remove("old")  .append("parentId", b"null")
/// {"type": "x", "id": "a","parentId":null}
/// ```
///
/// Keys are those of the object as it was, and each change counts for every duplicate. Values are given
/// as JSON texts and are not checked.
#[derive(Debug, Clone)]
pub struct Edit<'d> {
    object: ValueRef<'d>,
    members: Vec<Member<'d>>,
    last: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Member<'d> {
    key: ValueRef<'d>,
    value: ValueRef<'d>,
    new_key: Option<Vec<u8>>,
    new_value: Option<Vec<u8>>,
    is_removed: bool,
}

impl<'d> Edit<'d> {
    /// Starts the changes of an object. Any other value stays as it is.
    pub fn new(object: ValueRef<'d>) -> Self {
        let member = |(key, value)| Member { key, value, new_key: None, new_value: None, is_removed: false };
        Self { object, members: object.members().map(member).collect(), last: Vec::new() }
    }

    /// Replaces the value of `key`. Returns whether there is such a member.
    pub fn replace(&mut self, key: &str, value: &[u8]) -> bool {
        self.change(key, |member| member.new_value = Some(value.to_vec()))
    }

    /// Gives `key` another name. Returns whether there is such a member.
    pub fn rename(&mut self, key: &str, name: &str) -> bool {
        self.change(key, |member| member.new_key = Some(literal(name).into_bytes()))
    }

    /// Removes `key`. Returns whether there is such a member.
    pub fn remove(&mut self, key: &str) -> bool {
        self.change(key, |member| member.is_removed = true)
    }

    /// Adds a member behind all others.
    pub fn append(&mut self, key: &str, value: &[u8]) {
        if !self.last.is_empty() {
            self.last.push(b',');
        }
        self.last.extend([literal(key).as_bytes(), b":", value].concat());
    }

    /// Replaces the value of `key`, or appends the member if it is missing.
    pub fn set(&mut self, key: &str, value: &[u8]) {
        if !self.replace(key, value) {
            self.append(key, value);
        }
    }

    /// The changed text of the whole document.
    pub fn document(&self) -> Vec<u8> {
        let text = self.object.doc.text();
        let range = self.object.range();
        [&text[..range.start], &self.object_text(), &text[range.end..]].concat()
    }

    /// The changed text of the object alone.
    pub fn object_text(&self) -> Vec<u8> {
        if self.object.kind() != Kind::Object {
            return self.object.raw().to_vec();
        }
        let text = self.object.doc.text();
        let range = self.object.range();
        let mut out = vec![b'{'];
        let mut end = range.start + 1;
        for member in &self.members {
            // A comma and whitespace before the member, or only whitespace before the first one.
            let gap = &text[end..member.key.range().start];
            end = member.value.range().end;
            if !member.is_removed {
                out.extend_from_slice(if out.len() == 1 { self.first_gap() } else { gap });
                member.write(&mut out);
            }
        }
        if out.len() > 1 && !self.last.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(&self.last);
        out.extend_from_slice(&text[end..range.end]);
        out
    }

    /// The whitespace between the brace and the first member.
    fn first_gap(&self) -> &'d [u8] {
        let end = self.members.first().map_or(self.object.range().end, |member| member.key.range().start);
        &self.object.doc.text[self.object.range().start + 1..end]
    }

    fn change(&mut self, key: &str, mut change: impl FnMut(&mut Member<'d>)) -> bool {
        let mut found = false;
        for member in self.members.iter_mut().filter(|member| member.key.is_str(key)) {
            change(member);
            found = true;
        }
        found
    }
}

impl Member<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let (key, value) = (self.key.range(), self.value.range());
        let between = &self.key.doc.text()[key.end..value.start];
        out.extend_from_slice(self.new_key.as_deref().unwrap_or(self.key.raw()));
        out.extend_from_slice(between);
        out.extend_from_slice(self.new_value.as_deref().unwrap_or(self.value.raw()));
    }
}

/// Copies `text` without the whitespace outside strings; all other bytes stay.
///
/// A text that is not JSON is copied in the same way, with everything between two quotes as a string.
pub fn minify(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (outside, string) = rest.split_at(memchr::memchr(b'"', rest).unwrap_or(rest.len()));
        out.extend(outside.iter().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')));
        let (string, after) = string.split_at(skip_string(string).unwrap_or(string.len()));
        out.extend_from_slice(string);
        rest = after;
    }
    out
}
