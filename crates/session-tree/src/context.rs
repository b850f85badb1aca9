//! Context: what a path gives to a model, its messages, model and thinking level.
//!
//! bytes -> line -> entry -> tree -> path -> **context**
//!
//! Two steps. A [`Projection`] says which entries of a path speak and in which order, from the index and the few
//! bodies that decide. A [`Context`] holds their messages, which share the decoded lines of the session. How a
//! message reads to a model is [`convert_to_llm`]; what makes a list of them acceptable to a provider is
//! [`repair_pairs`]. Never writes, never asks a clock, never recurses.

mod blobs;
mod convert;
mod edits;
mod message;
mod pairs;
mod projection;
mod repair;
mod replay;
mod state;

use crate::entry::Message;
use crate::error::Result;
use crate::json::Doc;
use crate::session::Session;
use crate::tree::Node;

pub use convert::convert_to_llm;
pub(crate) use edits::{ContentEdit, ContextEdits, path_edits};
pub(crate) use message::message_of;
pub use pairs::OpenCalls;
pub(crate) use projection::Selected;
pub use projection::{Mark, ProjectedItem, Projection};
pub use repair::{repair_pairs, validate_pairs};
pub use replay::replay_system;

/// What a path gives to a model.
#[derive(Debug, Clone)]
pub struct Context {
    /// The messages, oldest first, with the entries they come from.
    pub items: Vec<ContextItem>,
    /// The thinking level; `off` if the path sets none.
    pub thinking_level: String,
    /// The model that answered or was chosen last; none if the path names none.
    pub model: Option<ModelRef>,
    /// The mode of oh-my-pi; none outside every mode.
    pub mode: Option<Mode>,
    /// The rules that oh-my-pi injected on this path, each once, in the order of their first injection.
    pub injected_rules: Vec<String>,
}

/// One message of a context.
#[derive(Debug, Clone)]
pub struct ContextItem {
    /// The entry that the message comes from.
    pub source: Node,
    /// The message.
    pub message: Message,
    /// Why it is there.
    pub mark: Mark,
}

/// The name of a model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelRef {
    /// The service that hosts the model.
    pub provider: String,
    /// The id of the model at that service.
    pub model_id: String,
}

/// The mode that oh-my-pi is in.
#[derive(Debug, Clone)]
pub struct Mode {
    /// The name of the mode.
    pub name: String,
    /// What the mode keeps, as JSON.
    pub data: Option<Doc>,
}

/// A message as a model gets it.
#[derive(Debug, Clone)]
pub struct LlmMessage {
    /// The entry that the message comes from.
    pub source: Node,
    /// The message: its role is system, user, assistant or tool result.
    pub message: Message,
}

impl Session {
    /// Returns what the path to the leaf gives to a model.
    ///
    /// ```
    /// # use session_tree::Session;
    /// # let bytes = concat!(
    /// #     r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#, "\n",
    /// #     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
    /// # );
    /// # let session = Session::from_bytes(bytes.into())?;
    /// let context = session.build_context()?;
    /// assert_eq!(context.messages().next().unwrap().text(), "hi");
    /// assert_eq!(context.thinking_level, "off");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn build_context(&self) -> Result<Context> {
        self.context_at(self.leaf())
    }

    /// Returns what the path to an entry gives to a model; no entry is the place before the first one.
    pub fn context_at(&self, at: Option<Node>) -> Result<Context> {
        let projection = self.projection(at)?;
        let settings = state::of_path(self, &projection.path)?;
        Ok(Context {
            items: self.items_of(&projection)?,
            thinking_level: settings.thinking_level,
            model: settings.model,
            mode: settings.mode,
            injected_rules: settings.injected_rules,
        })
    }

    /// Returns the context of the entry with this id, of the last entry in the file if there is none such.
    ///
    /// This is how pi answers. [`Session::context_at`] is for callers who know where they are.
    pub fn context_of(&self, id: Option<&str>) -> Result<Context> {
        let known = id.and_then(|id| self.tree().node(id));
        self.context_at(known.or_else(|| self.tree().last()))
    }

    /// Reads the messages of a projection.
    fn items_of(&self, projection: &Projection) -> Result<Vec<ContextItem>> {
        let mut items = Vec::with_capacity(projection.items.len());
        for item in &projection.items {
            let message = self.message_at(item, projection.edits.get(item.source))?;
            items.extend(message.map(|message| ContextItem {
                source: item.source,
                message,
                mark: item.mark,
            }));
        }
        Ok(items)
    }

    /// Reads one message of a projection.
    fn message_at(&self, item: &ProjectedItem, edit: Option<&ContentEdit>) -> Result<Option<Message>> {
        if item.mark == Mark::SystemCheckpoint {
            return Ok(message::checkpoint_of(&self.entry_at(item.source)?));
        }
        if edit.is_some() {
            return Ok(message_of(&self.entry_at(item.source)?, edit));
        }
        // What was found once is not looked for again: a context grows by a few messages and is asked for often.
        if let Some(message) = self.known_message(item.source) {
            return Ok(Some(message));
        }
        let message = message_of(&self.entry_at(item.source)?, None);
        if let Some(message) = &message {
            self.note_message(item.source, message);
        }
        Ok(message)
    }
}

impl Context {
    /// Returns the messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.items.iter().map(|item| &item.message)
    }

    /// Returns the messages as a model reads them; what no model reads is left out.
    pub fn to_llm(&self) -> Vec<LlmMessage> {
        let convert = |item: &ContextItem| {
            let message = convert_to_llm(&item.message)?;
            Some(LlmMessage { source: item.source, message })
        };
        self.items.iter().filter_map(convert).collect()
    }

    /// Returns the messages as a provider accepts them: every tool call followed by its result, and no image whose
    /// data is elsewhere.
    pub fn to_request(&self) -> Vec<LlmMessage> {
        let mut messages = repair_pairs(self.to_llm());
        for item in &mut messages {
            blobs::omit(&mut item.message);
        }
        messages
    }
}

#[cfg(test)]
mod tests;
