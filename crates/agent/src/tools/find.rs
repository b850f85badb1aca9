//! The tool `find`: finds files by name.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value as Json, json};

use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::resolved::ResolvedPath;
use super::walk::{Entries, Listing};
use super::work;
use crate::tool::{ToolOutput, ToolPlace};

/// The default number of results.
const LIMIT: usize = 1_000;

/// The tool `find`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "find",
    description: "Finds files and directories by a glob pattern. A pattern without a slash is compared with \
                  names at any depth. Respects .gitignore. Returns paths in order, at most 1000 or 50 KB.",
    arguments: || {
        json!({
            "pattern": {"type": "string", "description": "A glob, such as `*.rs` or `src/**/*.{ts,tsx}`"},
            "path": {"type": "string", "description": "The directory to search; the working directory if not given"},
            "limit": {"type": "number", "description": "The most results; 1000 if not given"},
        })
    },
    required: &["pattern"],
    work: Work::Reads(find),
};

fn find(arguments: &Json, root: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let fields = Fields(arguments);
    root.kind().map_err(|error| error.output("search", root, place))?;
    let filter = PathFilter::parse(fields.text("pattern").unwrap_or_default())
        .map_err(|error| ToolOutput::error(format!("the pattern is not valid: {error}")))?;
    let limit = fields.count("limit").unwrap_or(LIMIT);
    let (mut listing, mut found, mut unread) = (Listing::default(), 0, 0);
    let mut entries = Entries::below(root, place);
    for entry in &mut entries {
        if place.cancel.is_cancelled() {
            return Err(work::cancelled());
        }
        let Ok(entry) = entry else {
            unread += 1;
            continue;
        };
        if !filter.is_match(root.real(), entry.path()) {
            continue;
        }
        let path = root.below(entry.path());
        // A directory of the path may have been replaced by a link during the walk.
        if path.parent(false).is_err() {
            unread += 1;
            continue;
        }
        found += 1;
        if found > limit {
            break;
        }
        let end = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/\n" } else { "\n" };
        listing.lines.push(&(path.shown(&place.cwd) + end));
    }
    if found == 0 {
        listing.lines.push("No files found.\n");
    }
    if found > limit {
        listing.limit_met("resultLimitReached", limit, "results");
    }
    listing.dirs_left_out(unread);
    listing.secrets_left_out(entries.left_out());
    Ok(listing.into_output())
}

/// A glob that file names or paths are compared with.
pub(super) struct PathFilter {
    glob: GlobMatcher,
    is_name: bool,
}

impl PathFilter {
    /// Parses a glob. Without a slash it matches a name at any depth, with one the end of a path or a whole path.
    pub(super) fn parse(pattern: &str) -> Result<Self, globset::Error> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let is_name = !pattern.contains('/');
        let pattern = match pattern.strip_prefix('/') {
            Some(from_root) => from_root.to_owned(),
            None if is_name || pattern.starts_with("**/") => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build()?.compile_matcher();
        Ok(PathFilter { glob, is_name })
    }

    /// Returns true if a path below `root` matches.
    pub(super) fn is_match(&self, root: &Path, path: &Path) -> bool {
        if self.is_name {
            return path.file_name().is_some_and(|name| self.glob.is_match(name));
        }
        self.glob.is_match(path.strip_prefix(root).unwrap_or(path))
    }
}

#[cfg(test)]
mod tests;
