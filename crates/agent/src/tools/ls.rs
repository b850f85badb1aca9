//! The tool `ls`: the names in one directory.

use std::cmp::Ordering;
use std::path::Path;
use std::{fs, io};

use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::paths;
use super::walk::{self, Listing};
use super::work;
use crate::tool::{ToolOutput, ToolPlace};

/// How many names come back if the call does not say.
const LIMIT: usize = 500;

/// The tool `ls`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "ls",
    description: "Lists a directory, hidden names included. Directories end with a slash. At most 500 names or \
                  50 KB come back.",
    arguments: || {
        json!({
            "path": {"type": "string", "description": "The directory; the working directory if not given"},
            "limit": {"type": "number", "description": "The most names; 500 if not given"},
        })
    },
    required: &[],
    work: Work::Reads(ls),
};

fn ls(arguments: &Json, place: &ToolPlace) -> ToolResult {
    let fields = Fields(arguments);
    let root = walk::root(fields.text("path"), place)?;
    let shown = paths::shown(&place.cwd, &root.shown);
    if !root.real.is_dir() {
        return Err(ToolOutput::error(format!("{shown} is not a directory")));
    }
    let mut names = names(&root.real, place)
        .map_err(|error| ToolOutput::error(format!("cannot list {shown}: {error}")))?;
    if place.cancel.is_cancelled() {
        return Err(work::cancelled());
    }
    names.sort_by(|a, b| in_order(a, b));
    Ok(listed(&names, fields.count("limit").unwrap_or(LIMIT)))
}

fn names(root: &Path, place: &ToolPlace) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(root)?.take_while(|_| !place.cancel.is_cancelled());
    entries.map(|entry| entry.map(|entry| name(&entry))).collect()
}

/// A name, with a slash if it is a directory or leads to one.
fn name(entry: &fs::DirEntry) -> String {
    let name = paths::shown(Path::new(""), Path::new(&entry.file_name()));
    if entry.path().is_dir() { name + "/" } else { name }
}

/// As people read: without regard to case, unless names differ in nothing else.
fn in_order(a: &str, b: &str) -> Ordering {
    a.to_lowercase().cmp(&b.to_lowercase()).then_with(|| a.cmp(b))
}

fn listed(names: &[String], limit: usize) -> ToolOutput {
    if names.is_empty() {
        return ToolOutput::text("(empty directory)");
    }
    let mut listing = Listing::default();
    names.iter().take(limit).for_each(|name| listing.lines.push(&format!("{name}\n")));
    if names.len() > limit {
        listing.limit_met("entryLimitReached", limit, &format!("of {} names", names.len()));
    }
    listing.into_output()
}

#[cfg(test)]
mod tests;
