//! One line: its kind and its envelope, read from its head and its tail without reading all of it.
//!
//! bytes -> **line** -> entry -> tree -> path -> context
//!
//! Session files are mostly payload (tool output, images). What the tree needs (type, id, parent, time, role)
//! stands in the first or last hundred bytes of nearly every line, so those are read by hand; a line of any other
//! shape is parsed as a whole. Only [`json`](crate::json) decides what is valid; a line whose head looks right is
//! trusted here and checked when its body is first used.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem, memrchr};

use crate::id::{EntryId, IdKey};
use crate::json::{self, Doc, ObjectWriter, ValueRef, skip_object};
use crate::kind::{Kind, Role};
use crate::time::Timestamp;

/// The `customType` of the entry that keeps the position of the leaf.
pub const LEAF_MARKER: &str = "session-tree.leaf";

/// The `customType` of an entry that withdraws the last line before it that has its id. An earlier line
/// gets the id back; without one, the entry is gone.
pub const WITHDRAWN: &str = "session-tree.withdrawn";

/// The `customType` of the entry that stands in for one that was lost.
pub const STUB: &str = "session-tree.stub";

/// The result of scanning a line.
#[derive(Debug)]
pub(crate) enum Scan<'l> {
    /// Nothing but white space.
    Blank,
    /// An object that begins and ends like one.
    Object(Head<'l>),
    /// JSON, but no object.
    NotAnObject,
    /// No JSON. What could be read of an entry before the damage is kept.
    Damaged { reason: &'static str, head: Option<Box<Head<'l>>> },
}

/// The envelope of an entry and the traits that the index keeps of it.
#[derive(Debug, Default)]
pub(crate) struct Head<'l> {
    pub kind: Option<Cow<'l, [u8]>>,
    pub id: Option<IdKey<'l>>,
    pub parent: Parent<'l>,
    pub time: Option<Timestamp>,
    pub role: Option<Role>,
    /// The bits of [`Flags`] that the line shows.
    pub flags: u16,
    /// The id stands at `uuid`, the spelling of an early design.
    pub uuid_spelling: bool,
}

/// The value at `parentId`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Parent<'l> {
    /// No such key, or a value that names nothing.
    #[default]
    Absent,
    /// An explicit null.
    Null,
    /// The id of another entry.
    Id(IdKey<'l>),
}

/// Properties of an entry that are kept in the index, one bit each. Sidecars store them: the numbers never change.
pub(crate) struct Flags;

impl Flags {
    /// The id is not eight lower-case hex digits.
    pub(crate) const ODD_ID: u16 = 1;
    /// An assistant message with text that is not blank.
    pub(crate) const HAS_TEXT: u16 = 1 << 1;
    /// An assistant message without text that ended in an error, an abort or at the length limit.
    pub(crate) const ENDED_BADLY: u16 = 1 << 2;
    /// A custom entry of ours (`session-tree.*`).
    pub(crate) const INTERNAL: u16 = 1 << 3;
    pub(crate) const LEAF_MARKER: u16 = 1 << 4;
    /// The line is damaged; its id and parent could be read.
    pub(crate) const PLACEHOLDER: u16 = 1 << 5;
    /// Not part of the tree: lost its id to a later entry, or damaged without entries below.
    pub(crate) const HIDDEN: u16 = 1 << 6;
    pub(crate) const BAD_TIME: u16 = 1 << 7;
    /// Withdraws an earlier line of its id.
    pub(crate) const WITHDRAWAL: u16 = 1 << 8;
    /// Withdrawn, or a withdrawal that took effect.
    pub(crate) const WITHDRAWN: u16 = 1 << 9;
    /// Another row has its id.
    pub(crate) const LOST_ID: u16 = 1 << 10;

    /// Returns the flags of a custom entry.
    fn of_custom_type(name: &[u8]) -> u16 {
        match name {
            _ if name == LEAF_MARKER.as_bytes() => Self::INTERNAL | Self::LEAF_MARKER,
            _ if name == WITHDRAWN.as_bytes() => Self::INTERNAL | Self::WITHDRAWAL,
            _ if name.starts_with(b"session-tree.") => Self::INTERNAL,
            _ => 0,
        }
    }
}

impl Head<'_> {
    pub(crate) fn kind(&self) -> Kind {
        self.kind.as_deref().map_or(Kind::Opaque, Kind::from_name)
    }

    pub(crate) fn is_header(&self) -> bool {
        self.kind.as_deref() == Some(b"session")
    }

    /// Spells the head as a line, which has the same head.
    fn to_line(&self) -> Vec<u8> {
        let [id_key, parent_key] =
            if self.uuid_spelling { ["uuid", "parentUuid"] } else { ["id", "parentId"] };
        let kind = self.kind.as_deref().map(String::from_utf8_lossy);
        let id = self.id.as_ref().map(IdKey::to_id);
        let mut line = ObjectWriter::new().optional("type", kind.as_deref());
        line = line.optional(id_key, id.as_ref().map(EntryId::as_str));
        line = match &self.parent {
            Parent::Absent => line,
            Parent::Null => line.raw(parent_key, "null"),
            Parent::Id(id) => line.string(parent_key, id.to_id().as_str()),
        };
        if let Some(time) = self.time {
            let text = time.to_string();
            line = match Timestamp::parse(&text) {
                Some(_) => line.string("timestamp", &text),
                None => line.raw("timestamp", time.as_millis().to_string()),
            };
        }
        let has = |flag: u16| self.flags & flag != 0;
        if let Some(role) = self.role {
            let message = ObjectWriter::new().optional("role", role.name());
            let message = match role {
                Role::Assistant if has(Flags::HAS_TEXT) => message.string("content", "x"),
                Role::Assistant => {
                    let reason = if has(Flags::ENDED_BADLY) { "error" } else { "stop" };
                    message.raw("content", "[]").string("stopReason", reason)
                }
                _ => message,
            };
            line = line.raw("message", message.finish());
        }
        let custom_type = match self.kind() {
            _ if has(Flags::LEAF_MARKER) => Some(LEAF_MARKER),
            _ if has(Flags::WITHDRAWAL) => Some(WITHDRAWN),
            _ if has(Flags::INTERNAL) => Some("session-tree."),
            Kind::Custom => Some(""),
            _ => None,
        };
        line.optional("customType", custom_type).finish()
    }
}

/// The length up to which a line is its own head.
const SHORT_LINE: usize = 256;

/// Returns what the index needs of a line, spelled as a short line: its type, id, parent, time and role. A storage keeps it
/// beside the line and returns it from [`Journal::index`](crate::journal::Journal::index).
///
/// `line` has no line feed. Short lines, lines that the index needs as a whole (headers, labels, names), and those that are no
/// entries are returned as they are.
///
/// ```
/// let body = "x".repeat(1000);
/// let line = format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"{body}"}}}}"#);
/// let head = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user"}}"#;
/// assert_eq!(*session_tree::line_head(line.as_bytes()), *head.as_bytes());
/// ```
pub fn line_head(line: &[u8]) -> Cow<'_, [u8]> {
    if line.len() <= SHORT_LINE {
        return Cow::Borrowed(line);
    }
    match Scanner::default().scan(line) {
        Scan::Object(head)
            if !head.is_header() && !matches!(head.kind(), Kind::Label | Kind::SessionInfo) =>
        {
            Cow::Owned(head.to_line())
        }
        _ => Cow::Borrowed(line),
    }
}

/// Scans lines; holds the searchers that every line uses.
pub(crate) struct Scanner {
    text_token: memmem::Finder<'static>,
    stop_token: memmem::FinderRev<'static>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            text_token: memmem::Finder::new(b"\"text\""),
            stop_token: memmem::FinderRev::new(b"\"stopReason\":\""),
        }
    }
}

impl Scanner {
    /// Scans a whole line, without its line feed.
    pub(crate) fn scan<'l>(&self, line: &'l [u8]) -> Scan<'l> {
        let text = trim(line);
        match text {
            [] => Scan::Blank,
            [b'{', .., b'}'] => match self.quick(text, text) {
                Some(head) => Scan::Object(head),
                None => exact(text),
            },
            _ => exact(text),
        }
    }

    /// Scans a line of which only the beginning and the end are at hand; `None` asks for the whole line.
    pub(crate) fn scan_ends<'l>(&self, head: &'l [u8], tail: &'l [u8]) -> Option<Scan<'l>> {
        let (start, end) = (head.trim_ascii_start(), tail.trim_ascii_end());
        if start.first() != Some(&b'{') || end.last() != Some(&b'}') {
            return None;
        }
        let found = self.quick(start, end)?;
        // The properties of an answer need all of it.
        (found.role != Some(Role::Assistant)).then_some(Scan::Object(found))
    }

    /// Reads a message spelled exactly as pi spells nearly all of them: everything has its fixed place.
    fn template<'l>(&self, line: &'l [u8]) -> Option<Head<'l>> {
        let (fixed, rest) = line.split_first_chunk::<114>()?;
        let framed = fixed[..24] == *b"{\"type\":\"message\",\"id\":\""
            && fixed[32..46] == *b"\",\"parentId\":\""
            && fixed[54..69] == *b"\",\"timestamp\":\""
            && fixed[93..] == *b"\",\"message\":{\"role\":\"";
        if !framed {
            return None;
        }
        let length = rest.iter().take(32).position(|b| matches!(b, b'"' | b'\\'))?;
        if rest[length] != b'"' {
            return None;
        }
        let role = Role::from_name(&rest[..length]);
        let flags = match role {
            Role::Assistant => self.answer_flags(&rest[length + 1..])?,
            _ => 0,
        };
        Some(Head {
            kind: Some(Cow::Borrowed(&fixed[9..16])),
            id: Some(hex_key(&fixed[24..32])?),
            parent: Parent::Id(hex_key(&fixed[46..54])?),
            time: Some(Timestamp::parse_bytes(&fixed[69..93])?),
            role: Some(role),
            flags,
            uuid_spelling: false,
        })
    }

    /// Reads the envelope from both ends. `None`: the line has another shape, or an escape where it matters.
    fn quick<'l>(&self, start: &'l [u8], end: &'l [u8]) -> Option<Head<'l>> {
        if let Some(head) = self.template(start) {
            return Some(head);
        }
        let mut front = HeadReader::read(start);
        if !front.is_complete() {
            front.read_back(end);
            if !front.is_complete() {
                return None;
            }
        }
        let mut head = front.head;
        if head.role == Some(Role::Assistant) {
            head.flags = self.answer_flags(start.get(front.body_at..)?)?;
        }
        Some(head)
    }

    /// Reads the flags of an answer from `body`, the bytes behind its role. `None`: the line has to be parsed.
    fn answer_flags(&self, body: &[u8]) -> Option<u16> {
        if self.answer_has_text(body)? {
            return Some(Flags::HAS_TEXT);
        }
        // An answer without text that ended badly is rare, and so is one without a reason: both are parsed.
        let at = self.stop_token.rfind(body)?;
        let value = body.get(at + self.stop_token.needle().len()..)?;
        let ended_badly = [&b"error\""[..], b"aborted\"", b"length\""].iter().any(|v| value.starts_with(v));
        (!ended_badly).then_some(0)
    }

    /// Returns true if an answer has text that is not blank. `None`: the line has to be parsed.
    fn answer_has_text(&self, body: &[u8]) -> Option<bool> {
        let content = body.strip_prefix(b",\"content\":")?;
        match content.first()? {
            b'"' => starts_with_text(&content[1..]),
            // Without this token no block is a text, unless the letters of the word are spelled as escapes.
            b'[' if self.text_token.find(content).is_none() => {
                memmem::find(content, b"\\u00").is_none().then_some(false)
            }
            b'[' => quick_has_text(content),
            _ => None,
        }
    }
}

fn hex_key(id: &[u8]) -> Option<IdKey<'static>> {
    match IdKey::of_bytes(id)? {
        IdKey::Hex(number) => Some(IdKey::Hex(number)),
        IdKey::Odd(_) => None,
    }
}

/// The members that were read from the front of a line so far.
#[derive(Default)]
struct HeadReader<'l> {
    head: Head<'l>,
    has_id: bool,
    has_parent: bool,
    has_time: bool,
    has_custom_type: bool,
    /// The position behind the role of the message.
    body_at: usize,
}

impl<'l> HeadReader<'l> {
    fn is_complete(&self) -> bool {
        self.has_id
            && self.has_parent
            && self.has_time
            && match self.head.kind.as_deref() {
                None => false,
                Some(b"message") => self.head.role.is_some(),
                Some(b"custom") => self.has_custom_type,
                Some(_) => true,
            }
    }

    /// Reads members from the front while their values are short and plain.
    fn read(line: &'l [u8]) -> Self {
        let mut front = HeadReader::default();
        let mut at = 1;
        while let Some((key, value_at)) = plain_key(line, at) {
            // A line may have been cut off right here.
            let Some(first) = line.get(value_at) else { break };
            match first {
                b'"' => {
                    let Some(value) = plain_string(line, value_at) else { break };
                    front.take(key, value);
                    at = value_at + value.len() + 2;
                }
                b'n' if line[value_at..].starts_with(b"null") => {
                    front.take_null(key);
                    at = value_at + 4;
                }
                b'{' if key == b"message" => {
                    front.take_role(line, value_at);
                    break;
                }
                _ => break,
            }
            if front.is_complete() || line.get(at) != Some(&b',') {
                break;
            }
            at += 1;
        }
        front
    }

    /// Reads members from the end while their values are short and plain. The last one of a name counts, so what
    /// stands here wins over the front.
    fn read_back(&mut self, line: &'l [u8]) {
        let mut end = line.len() - 1;
        let (mut id, mut parent, mut time) = (false, false, false);
        while let Some((key, value, start)) = plain_member_before(line, end) {
            let fresh = match key {
                b"id" => !std::mem::replace(&mut id, true),
                b"parentId" => !std::mem::replace(&mut parent, true),
                b"timestamp" => !std::mem::replace(&mut time, true),
                _ => false,
            };
            match value {
                Some(text) if fresh => self.take(key, text),
                None if fresh => self.take_null(key),
                _ => {}
            }
            if id && parent && time || line.get(start.wrapping_sub(1)) != Some(&b',') {
                break;
            }
            end = start - 1;
        }
    }

    fn take(&mut self, key: &[u8], value: &'l [u8]) {
        let head = &mut self.head;
        match key {
            b"type" => head.kind = Some(Cow::Borrowed(value)),
            b"id" => {
                head.id = IdKey::of_bytes(value);
                self.has_id = head.id.is_some();
            }
            b"parentId" => {
                let parent = IdKey::of_bytes(value);
                self.has_parent = parent.is_some() || value.is_empty();
                head.parent = parent.map_or(Parent::Absent, Parent::Id);
            }
            b"timestamp" => {
                head.time = Timestamp::parse_bytes(value);
                self.has_time = true;
            }
            b"customType" => {
                self.has_custom_type = true;
                head.flags = Flags::of_custom_type(value);
            }
            _ => {}
        }
    }

    fn take_null(&mut self, key: &[u8]) {
        if key == b"parentId" {
            self.head.parent = Parent::Null;
            self.has_parent = true;
        }
    }

    /// Reads the role where pi writes it: as the first member of the message.
    fn take_role(&mut self, line: &'l [u8], message_at: usize) {
        let Some((b"role", value_at)) = plain_key(line, message_at + 1) else { return };
        let Some(role) = plain_string(line, value_at) else { return };
        self.head.role = Some(Role::from_name(role));
        self.body_at = value_at + role.len() + 2;
    }
}

/// Reads `"key":` at `at`, without escapes or white space; gives the key and where its value starts.
fn plain_key(line: &[u8], at: usize) -> Option<(&[u8], usize)> {
    if line.get(at) != Some(&b'"') {
        return None;
    }
    // No name the engine knows is longer.
    let window = line.get(at + 1..(at + 41).min(line.len()))?;
    let key = &window[..memchr2(b'"', b'\\', window)?];
    let colon = at + key.len() + 2;
    let closed = line.get(colon - 1) == Some(&b'"') && line.get(colon) == Some(&b':');
    closed.then_some((key, colon + 1))
}

/// Reads a string value without escapes and not longer than an id or a time would be.
fn plain_string(line: &[u8], quote_at: usize) -> Option<&[u8]> {
    if line.get(quote_at) != Some(&b'"') {
        return None;
    }
    let window = line.get(quote_at + 1..(quote_at + 258).min(line.len()))?;
    let end = memchr2(b'"', b'\\', window)?;
    (window[end] == b'"' && window[..end].iter().all(|b| *b >= 0x20)).then_some(&window[..end])
}

/// A member that ends before `end`: its key, its value (`None` for null), and where the member starts.
type MemberBefore<'l> = (&'l [u8], Option<&'l [u8]>, usize);

/// Reads the member that ends right before `end`, if its value is a plain string or null.
///
/// In a valid text a quote without a backslash before it can only open or close a string, so walking back from
/// the brace that closes the line cannot end up inside one.
fn plain_member_before(line: &[u8], end: usize) -> Option<MemberBefore<'_>> {
    let text = line.get(..end)?;
    let (value, colon) = if text.ends_with(b"null") {
        (None, end.checked_sub(5)?)
    } else {
        let (value, start) = plain_string_before(text)?;
        (Some(value), start.checked_sub(1)?)
    };
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let (key, start) = plain_string_before(&text[..colon])?;
    Some((key, value, start))
}

/// Reads the string that ends `text`; gives its content and where its opening quote stands.
fn plain_string_before(text: &[u8]) -> Option<(&[u8], usize)> {
    let (b'"', before) = text.split_last().map(|(q, rest)| (*q, rest))? else { return None };
    let floor = before.len().saturating_sub(257);
    let start = floor + memrchr(b'"', &before[floor..])?;
    let content = &before[start + 1..];
    let escaped = start > 0 && before[start - 1] == b'\\';
    (!escaped && memchr(b'\\', content).is_none()).then_some((content, start))
}

/// Returns true if a list of blocks holds a text block that is not blank. `None`: it has to be parsed.
fn quick_has_text(content: &[u8]) -> Option<bool> {
    let mut at = 1;
    loop {
        let block = content.get(at..)?;
        if let Some(text) = block.strip_prefix(b"{\"type\":\"text\",\"text\":\"") {
            match text.first()? {
                b'"' => {}
                first if first.is_ascii_graphic() && *first != b'\\' => return Some(true),
                // Blank, or something that may be.
                _ => return starts_with_text(text),
            }
        } else if !is_silent_block(block) {
            return None;
        }
        at += skip_object(block)?;
        match content.get(at)? {
            b',' => at += 1,
            b']' => return Some(false),
            _ => return None,
        }
    }
}

/// Returns true if a block begins like one that surely is no text.
fn is_silent_block(block: &[u8]) -> bool {
    let kind = block.strip_prefix(b"{\"type\":\"");
    kind.is_some_and(|kind| kind.starts_with(b"thinking\"") || kind.starts_with(b"toolCall\""))
}

/// Returns true if a string (after its opening quote) is not blank, if its beginning shows it.
fn starts_with_text(text: &[u8]) -> Option<bool> {
    let mut rest = text;
    loop {
        rest = match rest {
            [b' ', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            [b'\\', b'"' | b'\\' | b'/', ..] => return Some(true),
            // Letters beyond ASCII start with one of these bytes; spaces beyond ASCII with C2, E1, E2, E3 or EF.
            [0xC3..=0xE0 | 0xE4..=0xEE | 0xF0.., ..] => return Some(true),
            [b'\\' | b'"', ..] => return None,
            [first, ..] if first.is_ascii() => return Some(true),
            _ => return None,
        };
    }
}

/// Parses the whole line.
pub(crate) fn exact(line: &[u8]) -> Scan<'_> {
    let text = trim(line);
    let doc = match Doc::parse(text) {
        Ok(doc) => doc,
        Err(error) => {
            let front = HeadReader::read(text);
            let head = (front.has_id && front.has_parent).then(|| Box::new(front.head));
            return Scan::Damaged { reason: error.reason, head };
        }
    };
    let root = doc.root();
    if root.kind() != json::Kind::Object {
        return Scan::NotAnObject;
    }
    Scan::Object(head_of(root))
}

/// Reads a time: a text, or milliseconds since 1970 as messages have them.
fn time_of(value: ValueRef<'_>) -> Option<Timestamp> {
    match value.as_str() {
        Some(text) => Timestamp::parse(&text),
        None => value.as_i64().map(Timestamp::from_millis),
    }
}

/// Reads the envelope from a parsed line; the last of several equal keys counts.
pub(crate) fn head_of(root: ValueRef<'_>) -> Head<'static> {
    let text = |key: &str| root.get(key).and_then(ValueRef::as_str).map(Cow::into_owned);
    let kind = text("type");
    let uuid = text("uuid").filter(|_| root.get("id").is_none());
    let uuid_spelling = uuid.is_some();
    let id = text("id").or(uuid);
    let parent = match root.get("parentId").or_else(|| root.get("parentUuid")) {
        None => Parent::Absent,
        Some(value) if value.is_null() => Parent::Null,
        Some(value) => match value.as_str() {
            Some(text) if !text.is_empty() => Parent::Id(IdKey::of_text(text).into_owned()),
            _ => Parent::Absent,
        },
    };
    let message = root.get("message").filter(|_| kind.as_deref() == Some("message"));
    let role = message.map(|m| {
        m.get("role").and_then(ValueRef::as_str).map_or(Role::Other, |r| Role::from_name(r.as_bytes()))
    });
    let mut flags = text("customType").map_or(0, |custom| Flags::of_custom_type(custom.as_bytes()));
    if let (Some(message), Some(Role::Assistant)) = (message, role) {
        let stop = message.get("stopReason").and_then(ValueRef::as_str);
        if has_text(message) {
            flags |= Flags::HAS_TEXT;
        } else if matches!(stop.as_deref(), Some("error" | "aborted" | "length")) {
            flags |= Flags::ENDED_BADLY;
        }
    }
    Head {
        kind: kind.map(|k| Cow::Owned(k.into_bytes())),
        id: id.filter(|id| !id.is_empty()).map(|id| IdKey::of_text(Cow::Owned(id))),
        parent,
        time: root.get("timestamp").and_then(time_of),
        role,
        flags,
        uuid_spelling,
    }
}

/// Returns true if a message has text that is not blank.
pub(crate) fn has_text(message: ValueRef<'_>) -> bool {
    let filled =
        |value: Option<ValueRef<'_>>| value.and_then(ValueRef::as_str).is_some_and(|t| !t.trim().is_empty());
    match message.get("content") {
        Some(content) if content.kind() == json::Kind::String => filled(Some(content)),
        Some(content) => content.items().any(|block| {
            block.get("type").and_then(ValueRef::as_str).as_deref() == Some("text")
                && filled(block.get("text"))
        }),
        None => false,
    }
}

/// Cuts JSON white space off both ends.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let start = line.iter().position(|b| !blank(b)).unwrap_or(line.len());
    let end = line.iter().rposition(|b| !blank(b)).map_or(start, |at| at + 1);
    &line[start..end]
}

#[cfg(test)]
mod tests;
