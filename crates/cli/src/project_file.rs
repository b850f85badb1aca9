//! A file of the user with one entry for each project. Never reads a file of a project, which others may have written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_agent::permission::Rule;
use offshoot_agent::small_file::SmallFile;
use serde_json::{Map, Value as Json, json};

use crate::error::{CommandError, Failure};

/// Reads a text file; `None` if it does not exist.
pub(crate) fn read_if_present(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::system("read", path, &error)),
    }
}

/// A JSON object with an entry for each directory, which only its owner can read.
#[derive(Debug, Clone)]
pub(crate) struct ProjectFile {
    path: PathBuf,
}

impl ProjectFile {
    /// Names a file, which need not exist.
    pub(crate) fn new(path: PathBuf) -> Self {
        ProjectFile { path }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all entries.
    pub(crate) fn read(&self) -> Result<Map<String, Json>, CommandError> {
        let Some(text) = read_if_present(&self.path)? else { return Ok(Map::new()) };
        let bad = |_| {
            Failure::new(format!("{} is no JSON object of directories", self.path.display()))
                .hint("remove it to be asked about every project again")
        };
        Ok(serde_json::from_str(&text).map_err(bad)?)
    }

    /// Changes the entries; the file is written if `change` returns true.
    pub(crate) fn change(
        &self,
        change: impl FnOnce(&mut Map<String, Json>) -> bool,
    ) -> Result<bool, CommandError> {
        let failed = |error| CommandError::system("write", &self.path, &error);
        let file = SmallFile::lock(&self.path).map_err(failed)?;
        let mut entries = self.read()?;
        let is_changed = change(&mut entries);
        if is_changed {
            let text = format!("{:#}\n", Json::Object(entries));
            file.replace(text.as_bytes()).map_err(failed)?;
        }
        Ok(is_changed)
    }
}

/// The rules that the user has allowed permanently, in one working directory or in all of them.
#[derive(Debug, Clone)]
pub(crate) struct KeptRules {
    file: ProjectFile,
    /// The working directory, or [`EVERYWHERE`].
    place: String,
}

/// The entry of the rules that hold in all working directories, which are absolute paths.
const EVERYWHERE: &str = "*";

impl KeptRules {
    /// Names the rules of a working directory, in a file of the user's own directory.
    pub(crate) fn of_project(config: &Path, cwd: &Path) -> Self {
        let project = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        KeptRules { place: project.to_string_lossy().into_owned(), ..Self::everywhere(config) }
    }

    /// Names the rules that hold in all working directories.
    pub(crate) fn everywhere(config: &Path) -> Self {
        let file = ProjectFile::new(config.join("permissions.json"));
        KeptRules { file, place: EVERYWHERE.to_owned() }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Lists the rules.
    pub(crate) fn list(&self) -> Result<Vec<String>, CommandError> {
        let entries = self.file.read()?;
        let rules = entries.get(&self.place).and_then(|entry| entry["allow"].as_array());
        Ok(rules.into_iter().flatten().filter_map(|rule| rule.as_str().map(str::to_owned)).collect())
    }

    /// Adds a rule.
    pub(crate) fn add(&self, rule: &Rule) -> Result<(), CommandError> {
        let rule = json!(rule.to_string());
        let add = |entries: &mut Map<String, Json>| {
            let entry = entries.entry(&self.place).or_insert_with(|| json!({"allow": []}));
            let Some(rules) = entry["allow"].as_array_mut() else { return false };
            let is_new = !rules.contains(&rule);
            rules.extend(is_new.then_some(rule));
            is_new
        };
        self.file.change(add).map(drop)
    }

    /// Removes a rule. Returns false if it does not exist.
    pub(crate) fn remove(&self, rule: &Rule) -> Result<bool, CommandError> {
        let rule = rule.to_string();
        self.file.change(|entries| {
            let Some(rules) = entries.get_mut(&self.place).and_then(|entry| entry["allow"].as_array_mut())
            else {
                return false;
            };
            let known = rules.len();
            rules.retain(|own| own.as_str() != Some(&rule));
            rules.len() < known
        })
    }
}

#[cfg(test)]
mod tests;
