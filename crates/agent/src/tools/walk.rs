//! The files below a directory, as `grep` and `find` see them.
//!
//! Ignore files count, also outside of a git repository; hidden files are files; `.git` is not looked into; links are
//! not followed. What is found depends on the directory alone, and comes in order of the paths.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use serde_json::{Map, Value as Json, json};

use super::output;
use super::paths;
use super::work::Workplace;
use crate::tool::ToolOutput;

/// The entries below `root`, without `root` itself.
pub(super) fn entries(root: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .flatten()
        .filter(|entry| entry.depth() > 0)
}

/// The directory or file that a call names under `path`, or the working directory.
pub(super) fn root(path: Option<&str>, place: &Workplace) -> Result<PathBuf, ToolOutput> {
    let root = paths::normalised(&paths::resolve(&place.cwd, Path::new(path.unwrap_or("."))));
    match root.try_exists() {
        Ok(true) => Ok(root),
        Ok(false) => Err(ToolOutput::error(paths::missing(&place.cwd, &root))),
        Err(error) => {
            Err(ToolOutput::error(format!("cannot look into {}: {error}", paths::shown(&place.cwd, &root))))
        }
    }
}

/// A list that grows up to a limit, and becomes the output of a tool.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) text: String,
    pub(super) details: Map<String, Json>,
    pub(super) notes: Vec<String>,
}

impl Listing {
    pub(super) fn new(text: String) -> Self {
        Listing { text, details: Map::new(), notes: Vec::new() }
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
        let capped = output::head(&self.text);
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
pub(super) mod tests {
    use std::fs;

    /// Makes a directory with these files: path and content of each.
    pub(in crate::tools) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }
}
