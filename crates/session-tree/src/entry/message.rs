//! Messages: the JSON objects that files and models exchange.
//!
//! A message keeps the exact text it was read from, often shared with the line of its entry. Accessors return views
//! into that text.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

use super::build::{AssistantBuilder, BashBuilder, Blocks, CustomBuilder, ToolResultBuilder};
use super::usage::Usage;
use super::validate::check_message;
use crate::error::{InvalidReason, Result};
use crate::excerpt::excerpt;
use crate::json::{self, Doc, Edit, Kind as JsonKind, ObjectWriter, ValueRef};
use crate::kind::Role;
pub use crate::kind::StopReason;
use crate::time::Timestamp;

/// A message of a conversation.
///
/// ```
/// use session_tree::{Message, Role};
///
/// let message = Message::user("Build a CLI");
/// assert_eq!(message.role(), Role::User);
/// assert_eq!(message.text(), "Build a CLI");
/// assert_eq!(message.json(), r#"{"role":"user","content":"Build a CLI"}"#);
/// ```
///
/// A message without a time gets the time of its entry when it is appended.
#[derive(Clone)]
pub struct Message {
    doc: Doc,
    /// The position of the message in the document: a message read from a session shares the line of its entry.
    place: u32,
    /// True if the caller asked to append the message whatever it holds.
    is_unchecked: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id that the result names.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments; an empty object if the message has none.
    pub arguments: Json,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// Making messages.
impl Message {
    /// Makes a prompt of one text.
    pub fn user(text: impl AsRef<str>) -> Self {
        ObjectWriter::new().string("role", "user").string("content", text.as_ref()).message()
    }

    /// Makes a prompt of a text and images.
    pub fn user_with_images(text: impl AsRef<str>, images: &[Image]) -> Self {
        if images.is_empty() {
            return Self::user(text);
        }
        let mut blocks = Blocks::default();
        blocks.text(text.as_ref());
        images.iter().for_each(|image| blocks.image(image));
        ObjectWriter::new().string("role", "user").raw("content", blocks.finish()).message()
    }

    /// Starts an answer of a model.
    pub fn assistant() -> AssistantBuilder {
        AssistantBuilder::default()
    }

    /// Starts the result of a tool call; [`ToolCall::result`] is shorter if the call is known.
    pub fn tool_result(call_id: impl Into<String>, tool: impl Into<String>) -> ToolResultBuilder {
        ToolResultBuilder::new(call_id.into(), tool.into())
    }

    /// Starts a shell command that the user ran.
    pub fn bash(command: impl Into<String>) -> BashBuilder {
        BashBuilder::new(command.into())
    }

    /// Starts a message of an extension; `content` is a text or a JSON array of text and image blocks.
    pub fn custom(custom_type: impl Into<String>, content: impl Into<Json>) -> CustomBuilder {
        CustomBuilder::new(custom_type.into(), &content.into())
    }

    /// Reads a message from JSON text and checks it. White space between its parts is not kept.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the text is not JSON or breaks a rule for messages that are written.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        let message = Self::parse_object(text.as_ref())?;
        check_message(message.value()).map_err(|reason| reason.of("message"))?;
        Ok(message)
    }

    /// Makes a message of anything that serialises to one, such as a [`serde_json::Value`], and checks it.
    ///
    /// ```
    /// # use session_tree::Message;
    /// let message = Message::from_serialize(&serde_json::json!({"role": "user", "content": "hi"}))?;
    /// assert_eq!(message.text(), "hi");
    /// assert!(Message::from_serialize(&serde_json::json!({"content": "hi"})).is_err());
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Message::parse`].
    pub fn from_serialize(value: &impl serde_core::Serialize) -> Result<Self> {
        let text = serde_json::to_vec(value)
            .map_err(|error| InvalidReason::NotSerializable { reason: error.to_string() }.of("message"))?;
        Self::parse(text)
    }

    /// Reads a message from JSON text without checking it: any JSON object will do.
    ///
    /// Such a message can be appended whatever it holds. Readers of the format may ignore it or fail.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the text is not a JSON object.
    pub fn parse_unchecked(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Self { is_unchecked: true, ..Self::parse_object(text.as_ref())? })
    }

    fn parse_object(text: &[u8]) -> Result<Self> {
        let not_json =
            |error: json::SyntaxError| InvalidReason::NotJson { at: error.at, reason: error.reason };
        let doc = Doc::parse(json::minify(text)).map_err(|error| not_json(error).of("message"))?;
        match doc.root().kind() {
            JsonKind::Object => Ok(Self::whole(doc)),
            _ => Err(InvalidReason::NotAnObject.of("message")),
        }
    }

    /// Returns the same message with this time.
    #[must_use]
    pub fn with_time(&self, time: Timestamp) -> Self {
        let millis = time.as_millis().to_string();
        if self.value().get("timestamp").is_none() {
            let (head, tail) = self.around_time();
            return Self::built([&head, format!("\"timestamp\":{millis}").as_bytes(), &tail].concat());
        }
        let mut edit = Edit::new(self.value());
        edit.set("timestamp", millis.as_bytes());
        Self::built(edit.object_text())
    }

    /// Splits the text where pi writes the time: behind the stop reason of an answer, at the end of other messages. The
    /// first part ends with a comma if one is needed.
    pub(crate) fn around_time(&self) -> (Vec<u8>, Vec<u8>) {
        let raw = self.raw();
        let start = self.value().range().start;
        let stop = self.value().get("stopReason").map(|stop| stop.range().end - start);
        let (head, tail) = raw.split_at(stop.unwrap_or(raw.len() - 1));
        let comma: &[u8] = if head == b"{" { b"" } else { b"," };
        ([head, comma].concat(), tail.to_vec())
    }

    /// Checks the message by the rules for messages that are written, unless the caller waived them.
    pub(crate) fn check(&self) -> Result<Role, InvalidReason> {
        if self.is_unchecked { Ok(self.role()) } else { check_message(self.value()) }
    }

    /// Makes a message of a text that this crate has put together.
    pub(crate) fn built(text: impl Into<Vec<u8>>) -> Self {
        let doc = Doc::parse(text.into());
        debug_assert!(doc.is_ok(), "the engine built an invalid message");
        // An empty object has no role, so it is never sent to a model.
        Self::whole(doc.unwrap_or_else(|_| empty()))
    }

    /// Makes a message of an object inside a larger document, which it shares.
    pub(crate) fn of(value: ValueRef<'_>) -> Self {
        let (doc, place) = value.place();
        Self::at(doc, place)
    }

    /// Makes a message of the object at a place of a document, which it shares.
    pub(crate) fn at(doc: &Doc, place: u32) -> Self {
        Self { doc: doc.clone(), place, is_unchecked: false }
    }

    /// Returns the place of the message if it is a part of this document.
    pub(crate) fn place_in(&self, doc: &Doc) -> Option<u32> {
        std::ptr::eq(self.doc.text(), doc.text()).then_some(self.place)
    }

    /// Returns the same message with another content, given as JSON.
    pub(crate) fn with_content(&self, content: &[u8]) -> Self {
        let mut edit = Edit::new(self.value());
        edit.set("content", content);
        Doc::parse(edit.object_text()).map_or_else(|_| self.clone(), Self::whole)
    }

    fn whole(doc: Doc) -> Self {
        let place = doc.root().place().1;
        Self { doc, place, is_unchecked: false }
    }
}

/// Reading messages.
impl Message {
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

    /// Returns the tool calls of an answer, in their order; other messages have none.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        let call = |block: Block<'_>| match block {
            Block::ToolCall { id, name, arguments } => Some(ToolCall {
                id: id.into_owned(),
                name: name.into_owned(),
                arguments: arguments
                    .and_then(ValueRef::to_serde)
                    .unwrap_or_else(|| Json::Object(serde_json::Map::new())),
            }),
            Block::Text(_) | Block::Thinking(_) | Block::Image { .. } | Block::Other(_) => None,
        };
        let is_answer = self.role() == Role::Assistant;
        self.content().blocks().filter(|_| is_answer).filter_map(call).collect()
    }

    /// Returns the ids of the tool calls of an answer, in their order.
    pub(crate) fn call_ids(&self) -> impl Iterator<Item = String> {
        self.content().blocks().filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id.into_owned()),
            Block::Text(_) | Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => None,
        })
    }

    /// Returns the tokens and the cost that the message reports.
    pub fn usage(&self) -> Option<Usage> {
        self.value().get("usage").filter(|usage| usage.kind() == JsonKind::Object).map(Usage::of)
    }

    /// Returns why an answer ended.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.string("stopReason").map(|reason| StopReason::from_name(reason.as_bytes()))
    }

    /// Returns the error that ended an answer.
    pub fn error_message(&self) -> Option<Cow<'_, str>> {
        self.string("errorMessage")
    }

    /// Returns the id of the call that a tool result answers.
    pub fn tool_call_id(&self) -> Option<Cow<'_, str>> {
        self.string("toolCallId")
    }

    /// Returns true if the message is the result of a tool that failed.
    pub fn is_error(&self) -> bool {
        self.value().get("isError").and_then(ValueRef::as_bool).unwrap_or(false)
    }

    /// Returns the time of the message.
    pub fn time(&self) -> Option<Timestamp> {
        self.value().get("timestamp").and_then(ValueRef::as_i64).map(Timestamp::from_millis)
    }

    fn string(&self, key: &str) -> Option<Cow<'_, str>> {
        self.value().get(key).and_then(ValueRef::as_str)
    }
}

fn empty() -> Doc {
    // Two bytes that are an empty object are always valid.
    Doc::parse(&b"{}"[..]).unwrap_or_else(|_| unreachable!("an empty object is valid JSON"))
}

/// The content of a message: one text, or blocks.
#[derive(Debug, Clone, Copy)]
pub struct Content<'m> {
    value: Option<ValueRef<'m>>,
}

/// An image, as files keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Thinking of the model.
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

    /// Returns at least the first `chars` characters of the text after leading white space, or all of it, without
    /// decoding a long text as a whole.
    pub fn beginning(self, chars: usize) -> Cow<'m, str> {
        let first = self.texts().next();
        let of = |bytes| {
            let text = first?.beginning(bytes)?;
            text.trim_start().chars().nth(chars).is_some().then_some(text)
        };
        // Enough for plain text; then twice the bytes that the characters can take, for the blanks.
        of(chars + chars / 4).or_else(|| of(8 * chars)).unwrap_or_else(|| self.text())
    }

    /// Returns the first `limit` characters of the text on one line.
    pub fn excerpt(self, limit: usize) -> String {
        excerpt(&self.beginning(limit), limit)
    }

    /// Returns the [`excerpt`](Content::excerpt) of a prompt; the number of its images if it has no text.
    pub fn prompt_excerpt(self, limit: usize) -> String {
        let text = self.excerpt(limit);
        if !text.is_empty() {
            return text;
        }
        match self.image_count() {
            0 => text,
            1 => "[1 image]".to_owned(),
            count => format!("[{count} images]"),
        }
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
