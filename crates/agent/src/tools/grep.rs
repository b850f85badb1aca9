//! The tool `grep`: finds lines of files by pattern.

mod search;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use rustix::fs::FileType;
use serde_json::{Value as Json, json};

use self::search::Search;
use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::find::PathFilter;
use super::resolved::ResolvedPath;
use super::walk::{Entries, Listing};
use super::work;
use crate::tool::{ToolOutput, ToolPlace};

/// The default number of matches.
const LIMIT: usize = 100;
/// The maximum number of lines around a match.
const MAX_CONTEXT: usize = 100;

/// The tool `grep`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "grep",
    description: "Searches the content of files for a pattern, line by line. Returns matching lines with paths \
                  and line numbers. Respects .gitignore. At most 100 matches or 50 KB come back; long lines \
                  are cut.",
    arguments: || {
        json!({
            "pattern": {"type": "string", "description": "A regular expression, or a text if literal is true"},
            "path": {"type": "string", "description": "The directory or file to search; the working directory if not given"},
            "glob": {"type": "string", "description": "Only files that this glob matches, such as `*.rs`"},
            "ignoreCase": {"type": "boolean", "description": "Whether upper and lower case are the same; false if not given"},
            "literal": {"type": "boolean", "description": "Whether the pattern is a plain text; false if not given"},
            "context": {"type": "number", "description": "Lines to show around each match; 0 if not given"},
            "limit": {"type": "number", "description": "The most matches; 100 if not given"},
        })
    },
    required: &["pattern"],
    work: Work::Reads(grep),
};

fn grep(arguments: &Json, root: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let fields = Fields(arguments);
    let kind = root.kind().map_err(|error| error.output("search", root, place))?;
    let matcher =
        matcher(fields).map_err(|error| ToolOutput::error(format!("the pattern is not valid: {error}")))?;
    let filter = fields.text("glob").map(PathFilter::parse).transpose();
    let filter = filter.map_err(|error| ToolOutput::error(format!("the glob is not valid: {error}")))?;
    let limit = fields.count("limit").unwrap_or(LIMIT);
    let mut search = Search::new(matcher, context(fields), limit, place);
    if kind == FileType::RegularFile {
        search.file(root);
        return output(search, limit, 0);
    }
    let mut entries = Entries::below(root, place);
    for entry in &mut entries {
        if search.is_done() {
            break;
        }
        match entry {
            Err(_) => search.found.skipped_dirs += 1,
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let path = entry.path();
                if is_file && filter.as_ref().is_none_or(|filter| filter.is_match(root.real(), path)) {
                    search.file(&root.below(path));
                }
            }
        }
    }
    output(search, limit, entries.left_out())
}

fn matcher(fields: Fields<'_>) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .case_insensitive(fields.is_true("ignoreCase"))
        .fixed_strings(fields.is_true("literal"))
        .line_terminator(Some(b'\n'))
        .build(fields.text("pattern").unwrap_or_default())
}

fn context(fields: Fields<'_>) -> usize {
    fields
        .number("context")
        .filter(|&lines| lines >= 1.0)
        .and(fields.count("context"))
        .unwrap_or(0)
        .min(MAX_CONTEXT)
}

fn output(search: Search<'_>, limit: usize, secrets: usize) -> ToolResult {
    if search.is_cancelled() {
        return Err(work::cancelled());
    }
    let found = search.found;
    let mut listing = Listing { lines: found.lines, ..Listing::default() };
    if found.matches == 0 {
        listing.lines.push("No matches found.\n");
    }
    if found.is_over {
        listing.limit_met("matchLimitReached", limit, "matches");
    }
    if found.has_cut_lines {
        listing.details.insert("linesTruncated".into(), json!(true));
        listing.notes.push("Long lines are cut; use read to see them whole".into());
    }
    listing.left_out(found.skipped, ["file", "files"], "searched");
    listing.dirs_left_out(found.skipped_dirs);
    listing.secrets_left_out(secrets);
    Ok(listing.into_output())
}

#[cfg(test)]
mod tests;
