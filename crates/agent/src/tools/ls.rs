//! The tool `ls`: lists a directory.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::files::FileError;
use super::resolved::ResolvedPath;
use super::walk::Listing;
use super::{paths, work};
use crate::tool::{ToolOutput, ToolPlace};

/// The default number of names.
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

fn ls(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let failed = |error: FileError| error.output("list", path, place);
    if path.kind().map_err(failed)? != FileType::Directory {
        return Err(ToolOutput::error(format!("{} is not a directory", path.shown(&place.cwd))));
    }
    let mut names = names(path, place).map_err(failed)?;
    if place.cancel.is_cancelled() {
        return Err(work::cancelled());
    }
    names.sort_by(|a, b| in_order(a, b));
    Ok(listed(&names, Fields(arguments).count("limit").unwrap_or(LIMIT)))
}

fn names(path: &ResolvedPath, place: &ToolPlace) -> Result<Vec<String>, FileError> {
    let directory = path.open(OFlags::RDONLY | OFlags::DIRECTORY)?;
    let entries = Dir::read_from(&directory).map_err(io::Error::from)?;
    let mut names = Vec::new();
    for entry in entries.take_while(|_| !place.cancel.is_cancelled()) {
        let entry = entry.map_err(io::Error::from)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            let end = if leads_to_directory(&directory, name) { "/" } else { "" };
            names.push(paths::shown(Path::new(""), Path::new(name)) + end);
        }
    }
    Ok(names)
}

fn leads_to_directory(directory: &File, name: &OsStr) -> bool {
    let found = rustix::fs::statat(directory, name, AtFlags::empty());
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// Compares without regard to case, then with it.
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
