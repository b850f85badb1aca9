//! Context: the messages, the model and the thinking level that a path gives to a model.
//!
//! bytes -> line -> entry -> tree -> path -> **context**
//!
//! Two steps. A [`Projection`] lists the entries of a path that contribute, in their order; it reads the index and only
//! the bodies that decide. A [`Context`] holds their messages, which share the decoded lines of the session.
//! [`Context::to_request`] makes a list that providers accept. Never writes and uses no clock.

mod calls;
mod convert;
mod edits;
mod message;
mod projection;
mod replay;
mod state;

use crate::entry::Message;
use crate::error::Result;
use crate::json::Doc;
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

pub use calls::OpenCalls;
pub use convert::convert_to_llm;
pub(crate) use edits::{ContentEdit, ContextEdits, path_edits};
pub(crate) use message::message_of;
pub(crate) use projection::ContextEntries;
pub use projection::{Inclusion, ProjectedItem, Projection};
pub use replay::replay_system;

/// The messages, the model and the thinking level that a path gives to a model.
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
    /// The reason why it is in the context.
    pub inclusion: Inclusion,
}

/// The name of a model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The data of the mode.
    pub data: Option<Doc>,
}

impl Session {
    /// Returns the messages, the model and the thinking level that the path to the leaf gives to a model.
    ///
    /// ```
    /// # use session_tree::{Message, Options};
    /// # let mut session = Options::new().in_memory("/project")?;
    /// session.append(Message::user("hi"))?;
    /// let context = session.context()?;
    /// assert_eq!(context.messages().next().unwrap().text(), "hi");
    /// assert_eq!(context.thinking_level, "off");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn context(&self) -> Result<Context> {
        self.context_of(self.leaf())
    }

    /// Returns the context of the path to a position.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEntry`](crate::Error::UnknownEntry) if there is no such entry.
    pub fn context_at(&self, position: impl Into<Position>) -> Result<Context> {
        self.context_of(self.node_of(&position.into())?)
    }

    /// Returns the context of the path to the leaf: pi's name for [`Session::context`].
    pub fn build_context(&self) -> Result<Context> {
        self.context()
    }

    pub(crate) fn context_of(&self, at: Option<Node>) -> Result<Context> {
        let projection = self.projection_of(at)?;
        let mut items = Vec::with_capacity(projection.items.len());
        for item in &projection.items {
            let &ProjectedItem { source, inclusion, .. } = item;
            let message = self.message_at(item, projection.edits.get(source))?;
            items.extend(message.map(|message| ContextItem { source, message, inclusion }));
        }
        state::context_of_path(self, &projection.path, items)
    }

    /// Reads one message of a projection.
    fn message_at(&self, item: &ProjectedItem, edit: Option<&ContentEdit>) -> Result<Option<Message>> {
        if item.inclusion == Inclusion::SystemCheckpoint {
            return Ok(message::checkpoint_of(&self.entry_at(item.source)?));
        }
        if edit.is_some() {
            return Ok(message_of(&self.entry_at(item.source)?, edit));
        }
        // A context grows by a few messages and is built often.
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

    /// Returns the messages as a provider accepts them: each in a role that models read, every tool call followed by its
    /// result, no image whose data is elsewhere. Messages that no model reads are left out.
    ///
    /// [`convert_to_llm`] converts one message and repairs nothing.
    pub fn to_request(&self) -> Vec<Message> {
        let mut messages = calls::pair_results(self.messages().filter_map(convert_to_llm).collect());
        messages.iter_mut().for_each(convert::omit_external_images);
        messages
    }
}

#[cfg(test)]
mod tests;
