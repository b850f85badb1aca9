//! The files below a directory, as `grep` and `find` see them.
//!
//! Ignore files count, also outside of a git repository, and those of the directories above; hidden files are files;
//! `.git` is not looked into; links are not followed. What is found comes in order of the paths.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use serde_json::{Map, Value as Json, json};

use super::output::{self, Head};
use super::paths;
use super::work::Workplace;
use crate::tool::ToolOutput;

/// The entries below `root`, without `root` itself, and an error for each directory that cannot be looked into.
pub(super) fn entries(root: &Path) -> impl Iterator<Item = Result<DirEntry, ignore::Error>> + use<> {
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .follow_links(false)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .filter(|entry| entry.as_ref().map_or(true, |entry| entry.depth() > 0))
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

    /// Makes a directory with one below it that nobody can look into, because its path is too long.
    pub(in crate::tools) fn too_deep() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let name = "n".repeat(250);
        let deep = |first: &str| (0..9).fold(dir.path().join(first), |path, _| path.join(&name));
        for first in ["a", "b"] {
            fs::create_dir_all(deep(first)).unwrap();
        }
        fs::rename(dir.path().join("b"), deep("a").join("b")).unwrap();
        dir
    }
}
