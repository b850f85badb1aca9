//! One entry: the envelope, which all entries have, and the body of its type; and the header of a session.
//!
//! bytes -> line -> **entry** -> tree -> path -> context
//!
//! Bodies are views into the bytes of a line: nothing is copied until asked for, nothing is thrown away. What a
//! line lacks or spells oddly is `None`, never an error. Never touches files, clocks or other entries.

mod body;
mod build;
mod ending;
mod message;
pub(crate) mod result;
mod usage;
mod validate;

use std::borrow::Cow;
use std::sync::Arc;

use crate::id::{EntryId, Node};
use crate::json::{Doc, Kind as JsonKind, ValueRef};
use crate::kind::Kind;
use crate::time::Timestamp;

pub use body::{Body, Replacement};
pub use build::{AssistantBuilder, BashBuilder, CustomBuilder, ToolResultBuilder};
pub use ending::Ending;
pub use message::{Block, Content, Image, Message, StopReason, ToolCall};
pub use result::PlainResult;
pub use usage::Usage;
pub(crate) use validate::{Shape, check_content, check_members, check_message};

/// The first line of a session: metadata, no part of the tree.
#[derive(Debug, Clone)]
pub struct Header {
    doc: Doc,
}

impl Header {
    /// Reads a header; `None` for any other object.
    pub(crate) fn read(doc: Doc) -> Option<Self> {
        let root = doc.root();
        let is_header = root.get("type").is_some_and(|kind| kind.is_str("session"));
        let has_id = root.get("id").and_then(ValueRef::as_str).is_some();
        (is_header && has_id).then_some(Self { doc })
    }

    /// Returns the id of the session.
    pub fn id(&self) -> Cow<'_, str> {
        self.text("id").unwrap_or_default()
    }

    /// Returns the version of the file. A file without one has version 1; one that is not a number counts as the current
    /// version, because pi migrates only versions that compare as smaller.
    pub fn version(&self) -> u64 {
        let Some(value) = self.doc.root().get("version").filter(|value| !value.is_null()) else { return 1 };
        let number = value.as_f64().or_else(|| number_of_text(&value.as_str()?));
        number.map_or(3, |number| number.clamp(1.0, 1e9) as u64)
    }

    /// Returns when the session was created.
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.text("timestamp").and_then(|text| Timestamp::parse(&text))
    }

    /// Returns the working directory the session was made in; old files may have none.
    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.text("cwd").filter(|cwd| !cwd.is_empty())
    }

    /// Returns where the session was forked from: the path of a file, or an id.
    pub fn parent_session(&self) -> Option<Cow<'_, str>> {
        self.text("parentSession").or_else(|| self.text("branchedFrom"))
    }

    /// Returns the title that oh-my-pi keeps in the header.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        self.text("title")
    }

    /// Returns the whole header.
    pub fn value(&self) -> ValueRef<'_> {
        self.doc.root()
    }

    /// Returns the bytes of the header line.
    pub fn raw(&self) -> &[u8] {
        self.doc.text()
    }

    fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        self.doc.root().get(key).and_then(ValueRef::as_str)
    }
}

/// Reads a decimal number as JavaScript reads it from a text: blank is 0, and words such as `nan` are not numbers.
fn number_of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if text.is_empty() { Some(0.0) } else { text.parse().ok().filter(|_| is_decimal) }
}

/// The fields that every entry has.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    pub(crate) id: EntryId,
    pub(crate) parent_id: Option<EntryId>,
    pub(crate) kind: Kind,
    pub(crate) timestamp: Timestamp,
}

/// One immutable entry of a session.
#[derive(Debug, Clone)]
pub struct Entry {
    pub(crate) node: Node,
    envelope: Envelope,
    /// `None`: the line cannot be read, the entry is a placeholder.
    pub(crate) doc: Option<Doc>,
    pub(crate) raw: Arc<[u8]>,
    /// The place of the message of a message entry in the document, because nearly every reader needs it.
    message: Option<u32>,
}

impl Entry {
    /// Makes an entry from its document and its row in the index.
    pub(crate) fn new(node: Node, envelope: Envelope, doc: Option<Doc>, raw: Arc<[u8]>) -> Self {
        let root = doc.as_ref().filter(|_| envelope.kind == Kind::Message).map(Doc::root);
        let message = root.and_then(|root| root.get("message")).filter(|message| !message.is_null());
        let message = message.map(|message| message.place().1);
        Self { node, envelope, doc, raw, message }
    }

    /// Returns the place of the entry in the tree.
    pub fn node(&self) -> Node {
        self.node
    }

    /// Returns the id.
    pub fn id(&self) -> &EntryId {
        &self.envelope.id
    }

    /// Returns the id of the parent; none for a root, and for an entry shown as one.
    pub fn parent_id(&self) -> Option<&EntryId> {
        self.envelope.parent_id.as_ref()
    }

    /// Returns the type.
    pub fn kind(&self) -> Kind {
        self.envelope.kind
    }

    /// Returns the type as the file spells it.
    pub fn type_name(&self) -> Cow<'_, str> {
        let written = self.value().and_then(|value| value.get("type")?.as_str());
        written.unwrap_or_else(|| Cow::Borrowed(self.envelope.kind.name().unwrap_or("unknown")))
    }

    /// Returns the time of the entry.
    pub fn timestamp(&self) -> Timestamp {
        self.envelope.timestamp
    }

    /// Returns true if the line could not be read.
    pub fn is_placeholder(&self) -> bool {
        self.doc.is_none()
    }

    /// Returns the exact bytes of the line in the file, without its line feed.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Returns the whole entry as version 3 spells it; none for a placeholder.
    ///
    /// For entries of version 3 these are the bytes of the line; older ones appear as migration would write them.
    pub fn value(&self) -> Option<ValueRef<'_>> {
        self.doc.as_ref().map(Doc::root)
    }

    /// Returns the whole entry as a document; none for a placeholder.
    pub fn doc(&self) -> Option<&Doc> {
        self.doc.as_ref()
    }

    /// Returns the body.
    pub fn body(&self) -> Body<'_> {
        match (&self.doc, self.envelope.kind) {
            (None, _) => Body::Placeholder,
            (Some(doc), Kind::Message) => Body::Message(self.message.map(|place| doc.value_at(place))),
            (Some(doc), kind) => Body::of(kind, doc.root()),
        }
    }

    /// Returns the message of a message entry.
    pub fn message(&self) -> Option<ValueRef<'_>> {
        match self.body() {
            Body::Message(message) => message,
            _ => None,
        }
    }

    /// Returns that message to be kept; it shares the text of the entry.
    pub fn to_message(&self) -> Option<Message> {
        self.message().filter(|message| message.kind() == JsonKind::Object).map(Message::of)
    }
}
