//! The tool `write`: writes a whole file.

use std::io::Read;

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::resolved::ResolvedPath;
use super::{diff, files, output};
use crate::tool::{FileChange, ToolOutput, ToolPlace};

/// The maximum size of an old content that is compared with the new one.
const COMPARED: u64 = 1024 * 1024;

/// The tool `write`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "write",
    description: "Writes a whole file: makes it, with the directories it needs, or replaces what it holds. Use \
                  edit to change parts of a file.",
    arguments: || {
        json!({
            "path": {"type": "string", "description": "The file, relative or absolute"},
            "content": {"type": "string", "description": "All that the file shall hold"},
        })
    },
    required: &["path", "content"],
    work: Work::Changes { prepare: std::convert::identity, change, run: write },
};

fn change(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> Result<FileChange, ToolOutput> {
    let new = Fields(arguments).text("content").unwrap_or_default();
    let (old, note) = match old_text(path, place) {
        None => (None, String::new()),
        Some(PreviousContent::Text(old)) => (Some(old), String::new()),
        Some(PreviousContent::Other(size)) => {
            (None, format!("-  {} that cannot be shown\n", output::size(size)))
        }
    };
    let before = old.as_deref().unwrap_or_default();
    let diff = note + &diff::numbered_text(before.as_bytes(), new.as_bytes());
    Ok(FileChange { old, new: new.to_owned(), diff })
}

fn write(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let content = Fields(arguments).text("content").unwrap_or_default();
    let old = old_text(path, place);
    files::write(path, content.as_bytes(), place)?;
    let shown = path.shown(&place.cwd);
    let size_now = match content.len() {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    let held = |size: u64| format!("Wrote {size_now} to {shown}, which held {}.", output::size(size));
    Ok(match old {
        None => ToolOutput::text(format!("Wrote {size_now} to {shown}.")),
        Some(PreviousContent::Text(old)) => {
            ToolOutput::text(held(old.len() as u64)).with_details(diff::details(&shown, &old, content))
        }
        Some(PreviousContent::Other(size)) => ToolOutput::text(held(size)),
    })
}

/// The content of a file before the call.
enum PreviousContent {
    Text(String),
    /// Content that is not compared, and its size.
    Other(u64),
}

fn old_text(path: &ResolvedPath, place: &ToolPlace) -> Option<PreviousContent> {
    if let Some(text) = files::editor_text(path, place) {
        return Some(PreviousContent::Text(text));
    }
    let (file, size) = files::open(path).ok()?;
    let mut text = String::new();
    if size > COMPARED || file.take(COMPARED).read_to_string(&mut text).is_err() {
        return Some(PreviousContent::Other(size));
    }
    Some(PreviousContent::Text(text))
}

#[cfg(test)]
mod tests;
