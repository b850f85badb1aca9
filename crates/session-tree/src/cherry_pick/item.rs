//! One entry that a pick would append.

use serde_json::{Value as Json, json};

use super::plan::{PickMode, image_count};
use super::provenance::{CHERRY_PICK, Origin};
use super::unit::call_id;
use super::{message_of_draft, native};
use crate::context::convert_to_llm;
use crate::draft::Draft;
use crate::entry::{Block, Entry, Message};
use crate::error::Result;
use crate::estimate::estimate_tokens;
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::time::Timestamp;

/// One entry that a pick would append.
#[derive(Debug, Clone)]
pub struct PickItem {
    body: Planned,
    origin: Origin,
    /// The message that the context will contain.
    message: Option<Message>,
}

/// The entry to be, without its provenance: that needs the time of the append.
#[derive(Debug, Clone)]
enum Planned {
    /// A text, and the images that go with it.
    Quote { text: String, images: Vec<Json> },
    /// A message; calls get new ids when it is appended.
    Message(Message),
    /// An entry whose `details` note where it came from.
    Requoted(Draft),
    /// Any other entry.
    Other(Draft),
}

impl PickItem {
    pub(super) fn quote(text: &str, images: Vec<Json>, origin: Origin) -> Self {
        let mut item = Self { body: Planned::Quote { text: String::new(), images }, origin, message: None };
        item.set_text(text);
        item
    }

    pub(super) fn message(message: Message, origin: Origin) -> Self {
        Self { message: Some(message.clone()), body: Planned::Message(message), origin }
    }

    pub(super) fn setting(draft: Draft, origin: Origin) -> Self {
        Self { body: Planned::Other(draft), origin, message: None }
    }

    /// Copies an entry with all its fields but what it notes about an earlier pick.
    pub(super) fn copy(entry: &Entry, origin: Origin) -> Self {
        let details = entry.value().and_then(|value| value.get("details")?.get("kind"));
        let is_quote =
            entry.kind() == Kind::CustomMessage && details.is_some_and(|kind| kind.is_str(CHERRY_PICK));
        let draft = Draft::copy_of(entry, if is_quote { &["origin", "details"] } else { &["origin"] });
        let message = message_of_draft(&draft);
        Self {
            body: if is_quote { Planned::Requoted(draft) } else { Planned::Other(draft) },
            origin,
            message,
        }
    }

    /// Returns the type of the entry to be.
    pub fn kind(&self) -> Kind {
        match &self.body {
            Planned::Quote { .. } => Kind::CustomMessage,
            Planned::Message(_) => Kind::Message,
            Planned::Requoted(draft) | Planned::Other(draft) => draft.kind(),
        }
    }

    /// Returns how the entry is copied.
    pub fn mode(&self) -> PickMode {
        self.origin.mode()
    }

    /// Returns the entries of the source that it is made of.
    pub fn source_ids(&self) -> &[EntryId] {
        self.origin.sources()
    }

    /// Returns the message that a model will get; none if no model gets anything.
    pub fn llm_message(&self) -> Option<Message> {
        self.message.as_ref().and_then(convert_to_llm)
    }

    /// Returns the text that a model will read; calls of tools are no text.
    pub fn text(&self) -> String {
        self.llm_message().map_or_else(String::new, |message| message.text().into_owned())
    }

    /// Guesses how many tokens the entry takes.
    pub fn tokens(&self) -> u64 {
        self.llm_message().map_or(0, |message| estimate_tokens(&message))
    }

    /// Replaces the text of a quote, first line included. Returns whether the entry is one.
    pub fn set_text(&mut self, new: &str) -> bool {
        let Planned::Quote { text, images } = &mut self.body else { return false };
        new.clone_into(text);
        self.message = quote_draft(text, images).ok().as_ref().and_then(message_of_draft);
        true
    }

    pub(super) fn image_count(&self) -> usize {
        self.message.as_ref().map_or(0, image_count)
    }

    /// Returns the ids of the calls that it copies.
    pub(super) fn call_ids(&self) -> Vec<String> {
        let Planned::Message(message) = &self.body else { return Vec::new() };
        let call = |block: Block<'_>| match block {
            Block::ToolCall { id, .. } => Some(id.into_owned()),
            Block::Text(_) | Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => None,
        };
        match message.role() {
            Role::Assistant => message.content().blocks().filter_map(call).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the id of the call that it answers.
    pub(super) fn answered_call(&self) -> Option<String> {
        match &self.body {
            Planned::Message(message) if message.role() == Role::ToolResult => Some(call_id(message)),
            Planned::Message(_) | Planned::Quote { .. } | Planned::Requoted(_) | Planned::Other(_) => None,
        }
    }

    /// Makes the draft, with provenance and the new ids of the calls that it makes, or of the one that it answers.
    pub(super) fn draft(&self, now: Timestamp, ids: &[String]) -> Result<Draft> {
        let origin = self.origin.to_json(now);
        Ok(match &self.body {
            Planned::Quote { text, images } => quote_draft(text, images)?.with_field("details", &origin)?,
            Planned::Requoted(draft) => draft.clone().with_field("details", &origin)?,
            Planned::Message(message) => {
                Draft::copied_message(&native::with_call_ids(message, ids)).with_field("origin", &origin)?
            }
            Planned::Other(draft) => draft.clone().with_field("origin", &origin)?,
        })
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
