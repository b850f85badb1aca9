//! The files that a conversation read and changed, so that a summary can name them.
//!
//! A side branch of the walk: messages -> **file operations** -> compaction, branch summary
//!
//! The sources are tool calls and earlier summaries; the files themselves are never read.

use std::collections::BTreeSet;

use crate::entry::{Block, Message};
use crate::json::{Kind, ValueRef};
use crate::kind::Role;

/// The files that a part of a conversation read, wrote and edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOps {
    /// Files that were read.
    pub read: BTreeSet<String>,
    /// Files that were written as a whole.
    pub written: BTreeSet<String>,
    /// Files that were edited, or that an earlier summary lists as modified.
    pub edited: BTreeSet<String>,
}

impl FileOps {
    /// The tools that read or change files.
    pub const TOOLS: [&str; 3] = ["read", "write", "edit"];

    /// Adds the tool calls of an answer, or the nested calls that a tool result lists.
    pub fn add_message(&mut self, message: &Message) {
        match message.role() {
            Role::Assistant => self.add_calls_of(message),
            Role::ToolResult => self.add_nested_calls(message.value()),
            Role::User
            | Role::BashExecution
            | Role::Custom
            | Role::System
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {}
        }
    }

    /// Returns true if a message is an answer that calls a tool on a file, or the result of such a call.
    pub fn is_touched_by(message: ValueRef<'_>) -> bool {
        let [role, content, tool] = message.get_each(["role", "content", "toolName"]);
        let is_role = |name: &str| role.is_some_and(|role| role.is_str(name));
        let is_call = |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("toolCall"));
        let mut blocks = content.into_iter().flat_map(ValueRef::items);
        is_role("assistant") && blocks.any(|block| is_file_call(block) && is_call(&block))
            || is_role("toolResult")
                && (tool.is_some_and(is_file_tool) || nested_calls(message).any(is_file_call))
    }

    /// Adds the lists in the `details` of an earlier summary.
    pub fn add_details(&mut self, details: ValueRef<'_>) {
        let list =
            |key: &str| details.get(key).into_iter().flat_map(ValueRef::items).filter_map(ValueRef::as_str);
        self.read.extend(list("readFiles").map(String::from));
        self.edited.extend(list("modifiedFiles").map(String::from));
    }

    /// Adds the files of another part of the conversation.
    pub fn merge(&mut self, other: FileOps) {
        self.read.extend(other.read);
        self.written.extend(other.written);
        self.edited.extend(other.edited);
    }

    /// Returns the files that were only read, sorted.
    pub fn read_files(&self) -> Vec<&str> {
        let is_modified = |path: &&String| self.written.contains(*path) || self.edited.contains(*path);
        sorted(self.read.iter().filter(|path| !is_modified(path)).map(String::as_str).collect())
    }

    /// Returns the files that were changed, sorted.
    pub fn modified_files(&self) -> Vec<&str> {
        sorted(self.written.union(&self.edited).map(String::as_str).collect())
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.written.is_empty() && self.edited.is_empty()
    }

    /// Returns the lists as they are appended to a summary, with a blank line before each; empty without files.
    pub fn text_block(&self) -> String {
        let block = |name: &str, files: &[&str]| match files {
            [] => String::new(),
            files => format!("\n\n<{name}>\n{}\n</{name}>", files.join("\n")),
        };
        block("read-files", &self.read_files()) + &block("modified-files", &self.modified_files())
    }

    /// Returns the lists as the `details` of a summary.
    pub fn details(&self) -> serde_json::Value {
        serde_json::json!({ "readFiles": self.read_files(), "modifiedFiles": self.modified_files() })
    }

    fn add_calls_of(&mut self, answer: &Message) {
        for block in answer.content().blocks() {
            if let Block::ToolCall { name, arguments, .. } = block {
                self.add_call(&name, arguments);
            }
        }
    }

    /// Adds the calls that a tool made itself and its result lists.
    pub fn add_nested_calls(&mut self, result: ValueRef<'_>) {
        for call in nested_calls(result) {
            let name = call.get("name").and_then(ValueRef::as_str).unwrap_or_default();
            self.add_call(&name, call.get("arguments"));
        }
    }

    /// Adds the file that a call reads or changes.
    pub fn add_call(&mut self, name: &str, arguments: Option<ValueRef<'_>>) {
        let files = match name {
            "read" => &mut self.read,
            "write" => &mut self.written,
            "edit" => &mut self.edited,
            _ => return,
        };
        let path = arguments.and_then(|arguments| arguments.get("path")?.as_str());
        files.extend(path.filter(|path| !path.is_empty()).map(String::from));
    }
}

/// The calls that a tool made itself, as its result lists them.
fn nested_calls(result: ValueRef<'_>) -> impl Iterator<Item = ValueRef<'_>> {
    let calls = result.get("nestedCalls").and_then(|nested| nested.get("calls"));
    calls.into_iter().flat_map(ValueRef::items)
}

/// Returns true if a call names a file that it reads or changes.
fn is_file_call(call: ValueRef<'_>) -> bool {
    let [name, arguments] = call.get_each(["name", "arguments"]);
    let path = || arguments.and_then(|arguments| arguments.get("path"));
    name.is_some_and(is_file_tool)
        && path().is_some_and(|path| path.kind() == Kind::String && !path.is_str(""))
}

fn is_file_tool(name: ValueRef<'_>) -> bool {
    FileOps::TOOLS.iter().any(|tool| name.is_str(tool))
}

/// Sorts by UTF-16 units, the order in which JavaScript sorts text.
fn sorted(mut files: Vec<&str>) -> Vec<&str> {
    files.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
    files
}

#[cfg(test)]
mod tests;
