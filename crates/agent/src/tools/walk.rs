//! Lists the files below a directory for `grep` and `find`.
//!
//! Respects ignore files, also outside a git repository and in parent directories. Includes hidden files except `.git`.
//! Follows no links and skips secrets. Entries come in order of their paths.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder};
use serde_json::{Map, Value as Json, json};

use super::output::{self, Head};
use super::resolved::ResolvedPath;
use crate::secrets::Protection;
use crate::tool::{ToolOutput, ToolPlace};

/// The entries below a directory.
pub(super) struct Entries {
    entries: Box<dyn Iterator<Item = Result<DirEntry, ignore::Error>>>,
    left_out: Arc<AtomicUsize>,
}

impl Entries {
    /// Walks below `root`, without `root` itself. A directory that cannot be read is an error item.
    ///
    /// Skips credential files. Skips places of secrets unless `root`, which was judged, is in one.
    pub(super) fn below(root: &ResolvedPath, place: &ToolPlace) -> Self {
        let guard = place.secrets.guard();
        let is_judged = guard.protection(root.real(), None).is_some();
        let left_out = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&left_out);
        let is_open = move |entry: &DirEntry| match guard.protection(entry.path(), entry.ino()) {
            None => true,
            Some(Protection::Asked) if is_judged => true,
            Some(Protection::Asked | Protection::Denied) => {
                count.fetch_add(1, Ordering::Relaxed);
                false
            }
        };
        let entries = WalkBuilder::new(root.real())
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .follow_links(false)
            .sort_by_file_path(Ord::cmp)
            .filter_entry(move |entry| entry.file_name() != ".git" && is_open(entry))
            .build()
            .filter(|entry| entry.as_ref().map_or(true, |entry| entry.depth() > 0));
        Entries { entries: Box::new(entries), left_out }
    }

    /// Returns the number of files and directories that were skipped because they may hold secrets.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.load(Ordering::Relaxed)
    }
}

impl Iterator for Entries {
    type Item = Result<DirEntry, ignore::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next()
    }
}

/// A list up to a limit, which becomes the output of a tool.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The lines within the limits.
    pub(super) lines: Head,
    pub(super) details: Map<String, Json>,
    pub(super) notes: Vec<String>,
}

impl Listing {
    /// Adds a note about skipped items: their number, singular and plural, and the reason.
    pub(super) fn left_out(&mut self, count: usize, what: [&str; 2], how: &str) {
        let [one, more] = what;
        match count {
            0 => {}
            1 => self.notes.push(format!("1 {one} could not be {how}")),
            _ => self.notes.push(format!("{count} {more} could not be {how}")),
        }
    }

    /// Adds a note about directories that could not be read.
    pub(super) fn dirs_left_out(&mut self, count: usize) {
        self.left_out(count, ["directory", "directories"], "looked into");
    }

    /// Adds a note about files that were skipped because they may hold secrets.
    pub(super) fn secrets_left_out(&mut self, count: usize) {
        if count > 0 {
            let places = if count == 1 { "1 place" } else { &format!("{count} places") };
            self.notes.push(format!("{places} that may hold secrets left out; name one to search it"));
        }
    }

    /// Adds a note that a limit was reached, with pi's name for the detail.
    pub(super) fn limit_met(&mut self, detail: &str, limit: usize, what: &str) {
        self.details.insert(detail.into(), json!(limit));
        let more = limit.saturating_mul(2);
        self.notes.push(format!(
            "Only the first {limit} {what} are shown. Use limit={more} for more, or narrow the search"
        ));
    }

    /// Returns the output within the limits.
    pub(super) fn into_output(mut self) -> ToolOutput {
        let capped = self.lines.into_capped();
        if capped.cut_by.is_some() {
            self.details.insert("truncation".into(), capped.truncation());
            let most = output::size(output::MAX_BYTES as u64);
            self.notes.push(format!("Only the first {most} of {} lines are shown", capped.total_lines));
        }
        let mut text = capped.text;
        text.truncate(text.trim_end_matches('\n').len());
        if !self.notes.is_empty() {
            output::add_note(&mut text, &format!("{}.", self.notes.join(". ")));
        }
        let output = ToolOutput::text(text);
        if self.details.is_empty() { output } else { output.with_details(Json::Object(self.details)) }
    }
}

#[cfg(test)]
pub(super) mod tests;
