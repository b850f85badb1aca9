//! One append method per type of entry, with pi's names, and moves of the leaf.

use serde_json::Value as Json;

use super::super::Session;
use super::append::InsertAt;
use crate::draft::{Draft, NewBranchSummary, NewContent};
use crate::entry::Message;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::json::write_string;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::tree::Node;

impl Session {
    /// Appends a `message` entry, also for a message of an extension: pi's name for [`Session::append`].
    pub fn append_message(&mut self, message: &Message) -> Result<EntryId> {
        self.append(Draft::message(message)?)
    }

    /// Appends a change of the thinking level.
    pub fn append_thinking_level_change(&mut self, level: &str) -> Result<EntryId> {
        self.append(Draft::thinking_level_change(level))
    }

    /// Appends a change of the model.
    pub fn append_model_change(&mut self, provider: &str, model_id: &str) -> Result<EntryId> {
        self.append(Draft::model_change(provider, model_id))
    }

    /// Appends a note of tokens and cost spent outside an answer.
    pub fn append_usage(
        &mut self,
        kind: &str,
        provider: &str,
        model: &str,
        usage: &Json,
        note: Option<&str>,
    ) -> Result<EntryId> {
        self.append(Draft::usage(kind, provider, model, usage, note))
    }

    /// Appends state of an extension; it never reaches a model.
    pub fn append_custom_entry(&mut self, custom_type: &str, data: Option<&Json>) -> Result<EntryId> {
        self.append(Draft::custom(custom_type, data))
    }

    /// Appends a message of an extension; `content` is a text or an array of text and image blocks.
    pub fn append_custom_message(
        &mut self,
        custom_type: &str,
        content: &Json,
        display: bool,
        details: Option<&Json>,
    ) -> Result<EntryId> {
        self.append(Draft::custom_message(custom_type, content, display, details)?)
    }

    /// Labels an entry, or clears its label. The label entry goes below the leaf, not below its target.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEntry`] if there is no such entry; otherwise as [`Session::append`].
    pub fn set_label<'l>(
        &mut self,
        target: impl AsRef<str>,
        label: impl Into<Option<&'l str>>,
    ) -> Result<EntryId> {
        let target = self.index.tree.id(self.node(target)?);
        self.append(Draft::label(&target, label.into()))
    }

    /// Labels an entry, or clears its label: pi's name for [`Session::set_label`].
    pub fn append_label_change(&mut self, target: impl AsRef<str>, label: Option<&str>) -> Result<EntryId> {
        self.set_label(target, label)
    }

    /// Names the session, or clears its name. Line breaks become spaces.
    pub fn set_name<'n>(&mut self, name: impl Into<Option<&'n str>>) -> Result<EntryId> {
        self.append(Draft::session_info(name.into().unwrap_or_default()))
    }

    /// Names the session; an empty name clears it: pi's name for [`Session::set_name`].
    pub fn append_session_info(&mut self, name: &str) -> Result<EntryId> {
        self.set_name(name)
    }

    /// Replaces what an entry of the active path contributes to the context, from here on.
    pub fn append_context_edit(&mut self, target: impl AsRef<str>, content: &NewContent) -> Result<EntryId> {
        let node = self.node(target)?;
        let id = self.index.tree.id(node);
        if !self.leaf.is_some_and(|leaf| self.index.tree.is_on_path(node, leaf)) {
            return Err(Error::NotOnPath { id });
        }
        let Some(wants_blocks) = self.editable_as_blocks(node) else { return Err(Error::NotEditable { id }) };
        let replacement = replacement_text(content, wants_blocks)?;
        self.append(Draft::context_edit(&id, &replacement))
    }

    /// Tells whether the content of an entry can be replaced, and if so whether it must be blocks.
    fn editable_as_blocks(&self, node: Node) -> Option<bool> {
        match (self.index.tree.kind(node), self.index.tree.role(node)) {
            (Kind::CustomMessage, _) | (_, Some(Role::User)) => Some(false),
            (_, Some(Role::Assistant | Role::ToolResult)) => Some(true),
            _ => None,
        }
    }

    /// Moves the leaf. Writes nothing; the next append below an entry that has children makes a branch.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEntry`] if there is no such entry.
    pub fn move_to(&mut self, position: impl Into<Position>) -> Result<()> {
        self.leaf = self.node_of(&position.into())?;
        Ok(())
    }

    /// Moves the leaf to an entry: pi's name for [`Session::move_to`].
    pub fn branch(&mut self, id: impl AsRef<str>) -> Result<()> {
        self.leaf = Some(self.node(id)?);
        Ok(())
    }

    /// Moves the leaf before the first entry: pi's name for [`Session::move_to`] with [`Position::Start`].
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
    }

    /// Moves the leaf and appends there a summary of the branch that it leaves.
    ///
    /// ```
    /// # use session_tree::{Message, Options};
    /// # let mut session = Options::new().in_memory("/project")?;
    /// let first = session.append(Message::user("Build a CLI"))?;
    /// session.append(Message::user("Use Node"))?;
    /// session.branch_with_summary(&first, "Node was too slow.")?;
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn branch_with_summary(
        &mut self,
        target: impl Into<Position>,
        summary: impl Into<NewBranchSummary>,
    ) -> Result<EntryId> {
        let target = self.node_of(&target.into())?;
        let draft = Draft::branch_summary(self.leaf_id().as_ref(), &summary.into());
        self.append_one(InsertAt::below(target), &draft)
    }

    /// Records the position of the leaf, if it was moved and a reader of the file would find another one.
    ///
    /// Appends a marker below the leaf; the leaf itself stays where it is. Other programs that read the format
    /// take the last entry as the position and so end up on the same branch. Returns the id of the marker, or
    /// `None` if none was needed. If the leaf never moved, no marker is written.
    pub fn mark_leaf(&mut self) -> Result<Option<EntryId>> {
        if self.leaf == self.writer.persisted_leaf {
            return Ok(None);
        }
        if self.recorded_leaf()? == self.leaf {
            return Ok(None);
        }
        let draft = Draft::leaf_marker(self.leaf_id().as_ref());
        let id = self.append_one(InsertAt { parent: self.leaf, moves_leaf: false }, &draft)?;
        self.set_leaf(self.leaf);
        self.sync().map_err(|error| error.after_append(std::slice::from_ref(&id)))?;
        Ok(Some(id))
    }
}

fn replacement_text(content: &NewContent, wants_blocks: bool) -> Result<String> {
    let mut out = String::from("{\"content\":");
    match content {
        NewContent::Omit => return Ok("null".into()),
        NewContent::Text(text) if wants_blocks => {
            out.push_str("[{\"type\":\"text\",\"text\":");
            write_string(&mut out, text);
            out.push_str("}]");
        }
        NewContent::Text(text) => write_string(&mut out, text),
        NewContent::Blocks(blocks) if blocks.is_array() => out.push_str(&blocks.to_string()),
        NewContent::Blocks(_) => return Err(Error::BadReplacement),
    }
    out.push('}');
    Ok(out)
}
