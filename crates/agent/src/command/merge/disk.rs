//! Which version of a file that both branches changed is on the disk.
//!
//! Known only where a branch last wrote the whole file. Files are looked at, never changed.

use std::fs;
use std::path::Path;

use session_tree::json::Value;
use session_tree::{Block, Merge, Message, Node, OpenCalls, Role, Session};

use crate::error::Result;

/// Files longer than this are not compared.
const LONGEST: u64 = 8 << 20;

/// A file that both branches changed since they parted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContestedFile {
    /// Its path, as the conversation spells it.
    pub path: String,
    /// Whose version is on the disk.
    pub on_disk: OnDisk,
}

/// Whose version of a file is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// The one of the current branch.
    AsHere,
    /// The one of the branch that is merged.
    AsThere,
    /// Both branches left the same.
    AsBoth,
    /// Neither.
    AsNeither,
    /// There is no such file.
    Missing,
    /// It cannot be told: a branch edited parts of it.
    Unknown,
}

impl OnDisk {
    /// Spells it for people and models.
    pub fn words(self) -> &'static str {
        match self {
            OnDisk::AsHere => "on disk as the current branch left it",
            OnDisk::AsThere => "on disk as the merged branch left it",
            OnDisk::AsBoth => "on disk as both branches left it",
            OnDisk::AsNeither => "on disk as neither branch left it",
            OnDisk::Missing => "not on disk",
            OnDisk::Unknown => "which version is on disk is not known",
        }
    }
}

/// Looks at the contested files of a merge.
pub(super) fn look(
    here: &Session,
    source: &Session,
    merge: &Merge,
    cwd: &Path,
) -> Result<Vec<ContestedFile>> {
    if merge.contested.is_empty() {
        return Ok(Vec::new());
    }
    let ours = calls_of(here, &merge.target_entries)?;
    let theirs = calls_of(source, &merge.entries)?;
    let file = |path: &String| {
        let on_disk = compare(&cwd.join(path), last_written(&ours, path), last_written(&theirs, path));
        ContestedFile { path: path.clone(), on_disk }
    };
    Ok(merge.contested.iter().map(file).collect())
}

/// What a branch last did to a file.
struct Change {
    path: String,
    /// The whole content, if it was written as a whole.
    content: Option<String>,
}

/// Collects the changes of files in some entries, in order; calls that failed changed nothing.
fn calls_of(session: &Session, nodes: &[Node]) -> Result<Vec<Change>> {
    let (mut changes, mut open) = (Vec::new(), OpenCalls::default());
    for node in nodes {
        let entry = session.entry_at(*node)?;
        let Some(message) = entry.to_message() else { continue };
        let (ids, asked): (Vec<String>, Vec<Option<Change>>) = calls_in(&message).into_iter().unzip();
        open.ask(ids.into_iter().zip(changes.len()..));
        changes.extend(asked);
        if let Some((id, is_failed)) = result_of(&message)
            && let Some(place) = open.answer(&id)
            && is_failed
        {
            changes[place] = None;
        }
    }
    Ok(changes.into_iter().flatten().collect())
}

/// Returns the id of the call that a message is the result of, and whether it failed.
fn result_of(message: &Message) -> Option<(String, bool)> {
    let value = message.value();
    let is_failed = value.get("isError").and_then(Value::as_bool) == Some(true);
    let id = value.get("toolCallId").filter(|_| message.role() == Role::ToolResult)?;
    Some((id.as_str()?.into_owned(), is_failed))
}

/// Lists the calls that an answer asks for, each with what it does to a file, if it does anything.
fn calls_in(message: &Message) -> Vec<(String, Option<Change>)> {
    let call = |block: Block<'_>| {
        let Block::ToolCall { id, name, arguments } = block else { return None };
        let text = |key: &str| Some(arguments?.get(key)?.as_str()?.into_owned());
        let content = match &*name {
            "write" => Some(text("content")),
            "edit" => Some(None),
            _ => None,
        };
        let change = content.and_then(|content| Some(Change { path: text("path")?, content }));
        Some((id.into_owned(), change))
    };
    message.content().blocks().filter_map(call).collect()
}

fn last_written<'c>(changes: &'c [Change], path: &str) -> Option<&'c str> {
    changes.iter().rev().find(|change| change.path == path)?.content.as_deref()
}

fn compare(file: &Path, ours: Option<&str>, theirs: Option<&str>) -> OnDisk {
    let Ok(meta) = fs::metadata(file) else { return OnDisk::Missing };
    if !meta.is_file() || meta.len() > LONGEST {
        return OnDisk::Unknown;
    }
    let Ok(content) = fs::read(file) else { return OnDisk::Unknown };
    let is_same = |text: Option<&str>| text.map(|text| text.as_bytes() == content);
    match (is_same(ours), is_same(theirs)) {
        (Some(true), Some(true)) => OnDisk::AsBoth,
        (Some(true), _) => OnDisk::AsHere,
        (_, Some(true)) => OnDisk::AsThere,
        (Some(false), Some(false)) => OnDisk::AsNeither,
        _ => OnDisk::Unknown,
    }
}
