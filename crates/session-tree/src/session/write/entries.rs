//! The append calls, one per type of entry, with the names that pi's programs use.

use serde_json::Value as Json;

use super::super::Session;
use super::append::InsertAt;
use crate::draft::{Draft, NewBranchSummary, NewContent};
use crate::entry::Message;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::json::write_string;
use crate::kind::{Kind, Role};
use crate::tree::Node;

impl Session {
    /// Appends a message of the conversation.
    pub fn append_message(&mut self, message: &Message) -> Result<EntryId> {
        self.append(&Draft::message(message)?)
    }

    /// Appends a prompt of plain text, dated by the session's clock.
    pub fn append_user_text(&mut self, text: &str) -> Result<EntryId> {
        let now = self.writer.clock.now();
        self.append_message(&Message::user(text).with_time(now))
    }

    /// Appends a change of the thinking level.
    pub fn append_thinking_level_change(&mut self, level: &str) -> Result<EntryId> {
        self.append(&Draft::thinking_level_change(level))
    }

    /// Appends a change of the model.
    pub fn append_model_change(&mut self, provider: &str, model_id: &str) -> Result<EntryId> {
        self.append(&Draft::model_change(provider, model_id))
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
        self.append(&Draft::usage(kind, provider, model, usage, note))
    }

    /// Appends state of an extension; it never reaches a model.
    pub fn append_custom_entry(&mut self, custom_type: &str, data: Option<&Json>) -> Result<EntryId> {
        self.append(&Draft::custom(custom_type, data))
    }

    /// Appends a message of an extension; `content` is a text or an array of text and image blocks.
    pub fn append_custom_message(
        &mut self,
        custom_type: &str,
        content: &Json,
        display: bool,
        details: Option<&Json>,
    ) -> Result<EntryId> {
        self.append(&Draft::custom_message(custom_type, content, display, details)?)
    }

    /// Puts a label on an entry, or clears it. The label entry goes below the leaf, not below its target.
    pub fn append_label_change(&mut self, target: &str, label: Option<&str>) -> Result<EntryId> {
        let target = self.index.tree.id(self.node(target)?);
        self.append(&Draft::label(&target, label))
    }

    /// Names the session; an empty name clears it.
    pub fn append_session_info(&mut self, name: &str) -> Result<EntryId> {
        self.append(&Draft::session_info(name))
    }

    /// Replaces what an entry of the active path contributes to the context, from here on.
    pub fn append_context_edit(&mut self, target: &str, content: &NewContent) -> Result<EntryId> {
        let node = self.node(target)?;
        let id = self.index.tree.id(node);
        if !self.leaf.is_some_and(|leaf| self.index.tree.is_on_path(node, leaf)) {
            return Err(Error::NotOnPath { id });
        }
        let Some(wants_blocks) = self.editable_as_blocks(node) else { return Err(Error::NotEditable { id }) };
        let replacement = replacement_text(content, wants_blocks)?;
        self.append(&Draft::context_edit(&id, &replacement))
    }

    /// Tells whether the content of an entry can be replaced, and if so whether it must be blocks.
    fn editable_as_blocks(&self, node: Node) -> Option<bool> {
        match (self.index.tree.kind(node), self.index.tree.role(node)) {
            (Kind::CustomMessage, _) | (_, Some(Role::User)) => Some(false),
            (_, Some(Role::Assistant | Role::ToolResult)) => Some(true),
            _ => None,
        }
    }

    /// Moves the leaf to an entry. Writes nothing; the next append makes a branch.
    pub fn branch(&mut self, id: &str) -> Result<()> {
        self.leaf = Some(self.node(id)?);
        Ok(())
    }

    /// Moves the leaf before the first entry. Writes nothing; the next append becomes a root.
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
    }

    /// Moves the leaf to an entry (`None`: before the first one) and appends there what the branch that is left did.
    pub fn branch_with_summary(
        &mut self,
        target: Option<&str>,
        summary: &NewBranchSummary,
    ) -> Result<EntryId> {
        let target = target.map(|id| self.node(id)).transpose()?;
        let draft = Draft::branch_summary(self.leaf_id().as_ref(), summary);
        self.append_one(InsertAt::MoveLeaf(target), &draft)
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
