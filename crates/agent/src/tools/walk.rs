//! The files below a directory, as `grep` and `find` see them.
//!
//! Ignore files count, also outside of a git repository, and those of the directories above; hidden files are files;
//! `.git` is not looked into; links are not followed; secrets are left out. Entries come in order of their paths.

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
    /// Walks below `root`, without `root` itself; an item is an error for each directory that cannot be looked into.
    ///
    /// Credential files are left out, and so are places of secrets unless `root` is in one, which was judged then.
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

    /// Returns how many files and directories were left out because they hold secrets.
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

/// A list that grows up to a limit, and becomes the output of a tool.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The lines, as far as the caps let them through.
    pub(super) lines: Head,
    pub(super) details: Map<String, Json>,
    pub(super) notes: Vec<String>,
}

impl Listing {
    /// Notes that something could not be looked at: a number of things, and the name of one.
    pub(super) fn left_out(&mut self, count: usize, what: [&str; 2], how: &str) {
        let [one, more] = what;
        match count {
            0 => {}
            1 => self.notes.push(format!("1 {one} could not be {how}")),
            _ => self.notes.push(format!("{count} {more} could not be {how}")),
        }
    }

    /// Notes that directories could not be looked into.
    pub(super) fn dirs_left_out(&mut self, count: usize) {
        self.left_out(count, ["directory", "directories"], "looked into");
    }

    /// Notes that files were left out because they hold secrets.
    pub(super) fn secrets_left_out(&mut self, count: usize) {
        if count > 0 {
            let places = if count == 1 { "1 place" } else { &format!("{count} places") };
            self.notes.push(format!("{places} that may hold secrets left out; name one to search it"));
        }
    }

    /// Notes that a limit was met, under the name that pi gives to that detail.
    pub(super) fn limit_met(&mut self, detail: &str, limit: usize, what: &str) {
        self.details.insert(detail.into(), json!(limit));
        let more = limit.saturating_mul(2);
        self.notes.push(format!(
            "Only the first {limit} {what} are shown. Use limit={more} for more, or narrow the search"
        ));
    }

    /// Makes the output, within the caps.
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
