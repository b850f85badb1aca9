//! One entry that a pick would append.

use serde_json::{Value as Json, json};

use super::plan::PickMode;
use super::provenance::{CHERRY_PICK, Origin};
use super::{message_of_draft, native};
use crate::context::convert_to_llm;
use crate::draft::Draft;
use crate::entry::{Entry, Message};
use crate::error::Result;
use crate::estimate::estimate_tokens;
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::time::Timestamp;

/// One entry that a pick would append.
#[derive(Debug, Clone)]
pub struct PickItem {
    /// The entry without its origin, which needs the time of the append.
    draft: Draft,
    origin: Origin,
    /// The field that stores the origin.
    origin_field: &'static str,
    /// The message that the context will contain.
    message: Option<Message>,
    /// The images of a quote, as blocks; none if this is not a quote.
    quoted_images: Option<Vec<Json>>,
}

impl PickItem {
    pub(super) fn quote(text: &str, images: Vec<Json>, origin: Origin) -> Result<Self> {
        let draft = quote_draft(text, &images)?;
        let quoted_images = Some(images);
        Ok(Self { quoted_images, origin_field: "details", ..Self::new(draft, origin) })
    }

    pub(super) fn message(message: Message, origin: Origin) -> Self {
        let draft = Draft::copied_message(&message);
        Self { draft, origin, origin_field: "origin", message: Some(message), quoted_images: None }
    }

    /// Copies an entry with all its fields but the origin of an earlier pick.
    pub(super) fn copy(entry: &Entry, origin: Origin) -> Self {
        let details = entry.value().and_then(|value| value.get("details")?.get("kind"));
        let is_quote =
            entry.kind() == Kind::CustomMessage && details.is_some_and(|kind| kind.is_str(CHERRY_PICK));
        let draft = Draft::copy_of(entry, if is_quote { &["origin", "details"] } else { &["origin"] });
        let item = Self::new(draft, origin);
        if is_quote { Self { origin_field: "details", ..item } } else { item }
    }

    pub(super) fn new(draft: Draft, origin: Origin) -> Self {
        let message = message_of_draft(&draft);
        Self { draft, origin, origin_field: "origin", message, quoted_images: None }
    }

    /// Returns the type of the entry to be.
    pub fn kind(&self) -> Kind {
        self.draft.kind()
    }

    /// Returns how the entry is copied.
    pub fn mode(&self) -> PickMode {
        self.origin.mode
    }

    /// Returns the entries of the source that it is made of.
    pub fn source_ids(&self) -> &[EntryId] {
        &self.origin.sources
    }

    /// Returns the message that a model will get; none if no model gets anything.
    pub fn llm_message(&self) -> Option<Message> {
        self.message.as_ref().and_then(convert_to_llm)
    }

    /// Returns the text that a model will read; tool calls are not part of it.
    pub fn text(&self) -> String {
        self.llm_message().map_or_else(String::new, |message| message.text().into_owned())
    }

    /// Estimates the tokens of the entry.
    pub fn tokens(&self) -> u64 {
        self.llm_message().map_or(0, |message| estimate_tokens(&message))
    }

    /// Replaces the text of a quote, including its first line. Returns false if the entry is not a quote.
    pub fn set_text(&mut self, text: &str) -> bool {
        let draft = self.quoted_images.as_ref().and_then(|images| quote_draft(text, images).ok());
        let Some(draft) = draft else { return false };
        self.message = message_of_draft(&draft);
        self.draft = draft;
        true
    }

    pub(super) fn image_count(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.content().image_count())
    }

    /// Returns the ids of the calls that it copies.
    pub(super) fn call_ids(&self) -> Vec<String> {
        let answer = self.native_message().filter(|message| message.role() == Role::Assistant);
        answer.into_iter().flat_map(Message::call_ids).collect()
    }

    /// Returns the id of the call that it answers.
    pub(super) fn answered_call(&self) -> Option<String> {
        let result = self.native_message().filter(|message| message.role() == Role::ToolResult);
        result.map(|result| result.tool_call_id().unwrap_or_default().into_owned())
    }

    /// Makes the draft, with its origin and the new ids of the calls that it makes, or of the one that it answers.
    pub(super) fn draft(&self, now: Timestamp, ids: &[String]) -> Result<Draft> {
        let draft = match self.native_message() {
            Some(message) => Draft::copied_message(&native::with_call_ids(message, ids)),
            None => self.draft.clone(),
        };
        draft.with_field(self.origin_field, &self.origin.to_json(now))
    }

    /// Returns the message of an entry that stays a message.
    fn native_message(&self) -> Option<&Message> {
        self.message.as_ref().filter(|_| self.kind() == Kind::Message)
    }
}

fn quote_draft(text: &str, images: &[Json]) -> Result<Draft> {
    let content = match images {
        [] => Json::from(text),
        images => {
            let first = json!({ "type": "text", "text": text });
            Json::Array(std::iter::once(first).chain(images.iter().cloned()).collect())
        }
    };
    Draft::custom_message(CHERRY_PICK, &content, true, None)
}
