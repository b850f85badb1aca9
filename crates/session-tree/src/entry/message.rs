//! Messages: what is said in a conversation, as the JSON objects that files and models exchange.
//!
//! A message keeps the exact text it was read from, often shared with the line it stands in. What a person or a
//! model reads from it comes through views; what goes back into a file is the text.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use crate::error::{Error, Result};
use crate::json::{self, Doc, Edit, Kind as JsonKind, ValueRef};
use crate::kind::Role;
use crate::time::Timestamp;

/// A message of a conversation.
///
/// ```
/// use session_tree::{Message, Role, Timestamp};
///
/// let message = Message::user("Build a CLI", Timestamp::from_millis(1_000));
/// assert_eq!(message.role(), Role::User);
/// assert_eq!(message.text(), "Build a CLI");
/// assert_eq!(message.json(), r#"{"role":"user","content":"Build a CLI","timestamp":1000}"#);
/// ```
#[derive(Clone)]
pub struct Message {
    doc: Doc,
    /// Where the message stands in the document: a message read from a session shares the line of its entry.
    place: u32,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl Message {
    /// Reads a message from a JSON object; white space between its parts is not kept.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        let bad = |reason: String| Error::BadDraft { what: "message", reason };
        let doc = Doc::parse(json::compact(text.as_ref())).map_err(|error| bad(error.to_string()))?;
        if doc.root().kind() != JsonKind::Object {
            return Err(bad("it is not a JSON object".into()));
        }
        Ok(Self::whole(doc))
    }

    /// Makes a message of a JSON value.
    pub fn from_value(value: &serde_json::Value) -> Result<Self> {
        Self::parse(value.to_string())
    }

    /// Makes a prompt of plain text.
    pub fn user(text: &str, time: Timestamp) -> Self {
        let mut out = String::with_capacity(text.len() + 64);
        out.push_str("{\"role\":\"user\",\"content\":");
        json::write_string(&mut out, text);
        let _ = write!(out, ",\"timestamp\":{}}}", time.as_millis());
        Self::built(out)
    }

    /// Takes a text that this crate has put together.
    pub(crate) fn built(text: impl Into<Vec<u8>>) -> Self {
        let doc = Doc::parse(text.into());
        debug_assert!(doc.is_ok(), "the engine built an invalid message");
        // An empty object is a message without a role: nobody will send it anywhere.
        Self::whole(doc.unwrap_or_else(|_| empty()))
    }

    /// Makes a message of an object inside a larger document, which it shares.
    pub(crate) fn of(value: ValueRef<'_>) -> Self {
        let (doc, place) = value.place();
        Self { doc: doc.clone(), place }
    }

    /// Makes a message of the object at a place of a document, which it shares.
    pub(crate) fn at(doc: &Doc, place: u32) -> Self {
        Self { doc: doc.clone(), place }
    }

    /// Returns the place of the message if it is a part of this document.
    pub(crate) fn place_in(&self, doc: &Doc) -> Option<u32> {
        std::ptr::eq(self.doc.text(), doc.text()).then_some(self.place)
    }

    /// Returns the same message with another content, given as JSON.
    pub(crate) fn with_content(&self, content: &[u8]) -> Self {
        let Some(mut edit) = Edit::new(self.value()) else { return self.clone() };
        edit.set("content", content);
        Doc::parse(edit.object_text()).map_or_else(|_| self.clone(), Self::whole)
    }

    fn whole(doc: Doc) -> Self {
        let place = doc.root().place().1;
        Self { doc, place }
    }

    /// Returns the role.
    pub fn role(&self) -> Role {
        self.value()
            .get("role")
            .and_then(ValueRef::as_str)
            .map_or(Role::Other, |role| Role::from_name(role.as_bytes()))
    }

    /// Returns the message as a JSON object.
    pub fn value(&self) -> ValueRef<'_> {
        self.doc.value_at(self.place)
    }

    /// Returns the JSON text of the message; bytes that are not UTF-8 appear as replacement characters.
    pub fn json(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.raw())
    }

    /// Returns the exact bytes of the message.
    pub fn raw(&self) -> &[u8] {
        self.value().raw()
    }

    /// Returns the content.
    pub fn content(&self) -> Content<'_> {
        Content::of(self.value().get("content"))
    }

    /// Returns the text blocks of the content, joined without anything between them.
    pub fn text(&self) -> Cow<'_, str> {
        self.content().text()
    }
}

fn empty() -> Doc {
    // Parsing two bytes that are an empty object cannot fail; a loop would be the only other way to say so.
    Doc::parse(&b"{}"[..]).unwrap_or_else(|_| unreachable!("an empty object is valid JSON"))
}

/// The content of a message: one text, or blocks.
#[derive(Debug, Clone, Copy)]
pub struct Content<'m> {
    value: Option<ValueRef<'m>>,
}

/// An image, as files keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The data in base64.
    pub data: String,
    /// The media type, such as `image/png`.
    pub mime_type: String,
}

/// One block of a content.
#[derive(Debug, Clone)]
pub enum Block<'m> {
    /// Text.
    Text(Cow<'m, str>),
    /// An image: its data in base64, and its type.
    Image {
        /// The data as the file has it.
        data: Cow<'m, str>,
        /// The media type, such as `image/png`.
        mime_type: Cow<'m, str>,
    },
    /// What the model thought.
    Thinking(Cow<'m, str>),
    /// A call of a tool.
    ToolCall {
        /// The id that its result names.
        id: Cow<'m, str>,
        /// The name of the tool.
        name: Cow<'m, str>,
        /// The arguments.
        arguments: Option<ValueRef<'m>>,
    },
    /// A block of another type.
    Other(ValueRef<'m>),
}

impl<'m> Content<'m> {
    /// Reads the content at a value; anything that is neither text nor a list is empty.
    pub fn of(value: Option<ValueRef<'m>>) -> Self {
        Self { value }
    }

    /// Returns the blocks; a plain text is one text block.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let text = self.value.and_then(ValueRef::as_str).map(Block::Text);
        text.into_iter().chain(self.value.into_iter().flat_map(ValueRef::items).map(Block::of))
    }

    /// Returns the text blocks, joined without anything between them.
    pub fn text(self) -> Cow<'m, str> {
        let mut texts = self.texts().filter_map(ValueRef::as_str);
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        texts.fold(first, |mut all, text| {
            all.to_mut().push_str(&text);
            all
        })
    }

    /// Returns at least so many characters of the text behind the blanks it begins with, or all of it: nobody reads
    /// a megabyte for one line.
    pub(crate) fn beginning(self, chars: usize) -> Cow<'m, str> {
        let first = self.texts().next();
        let of = |bytes| {
            let text = first?.beginning(bytes)?;
            text.trim_start().chars().nth(chars).is_some().then_some(text)
        };
        // Enough for plain text; then twice the bytes that the characters can take, for the blanks.
        of(chars + chars / 4).or_else(|| of(8 * chars)).unwrap_or_else(|| self.text())
    }

    /// The values of the text blocks.
    fn texts(self) -> impl Iterator<Item = ValueRef<'m>> {
        let plain = self.value.filter(|value| value.kind() == JsonKind::String);
        let is_text = |block: &ValueRef<'m>| block.get("type").is_some_and(|kind| kind.is_str("text"));
        let blocks = self.value.into_iter().flat_map(ValueRef::items).filter(is_text);
        plain.into_iter().chain(blocks.filter_map(|block| block.get("text")))
    }

    /// Returns the images, in their order.
    pub fn images(self) -> Vec<Image> {
        let image = |block: Block<'_>| match block {
            Block::Image { data, mime_type } => {
                Some(Image { data: data.into_owned(), mime_type: mime_type.into_owned() })
            }
            Block::Text(_) | Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => None,
        };
        self.blocks().filter_map(image).collect()
    }

    /// Returns the number of images.
    pub fn image_count(self) -> usize {
        self.blocks().filter(|block| matches!(block, Block::Image { .. })).count()
    }
}

impl<'m> Block<'m> {
    fn of(value: ValueRef<'m>) -> Self {
        let text = |key: &str| value.get(key).and_then(ValueRef::as_str).unwrap_or_default();
        match value.get("type").and_then(ValueRef::as_str).as_deref() {
            Some("text") => Block::Text(text("text")),
            Some("image") => Block::Image { data: text("data"), mime_type: text("mimeType") },
            Some("thinking") => Block::Thinking(text("thinking")),
            Some("toolCall") => {
                Block::ToolCall { id: text("id"), name: text("name"), arguments: value.get("arguments") }
            }
            _ => Block::Other(value),
        }
    }
}
