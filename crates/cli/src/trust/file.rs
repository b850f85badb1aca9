//! The decisions about projects, in one file that only its owner can write.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::{Project, TrustState};
use crate::error::CommandError;
use crate::project_file::ProjectFile;

/// The stored decisions about projects.
///
/// Trust holds for the files as they were; a refusal also holds for all subdirectories.
#[derive(Debug, Clone)]
pub(crate) struct TrustFile(ProjectFile);

/// A stored decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The directory of the project.
    pub(crate) dir: PathBuf,
    /// True if it is trusted.
    pub(crate) is_trusted: bool,
}

impl TrustFile {
    /// Returns the file, which need not exist.
    pub(crate) fn in_directory(state: &Path) -> Self {
        TrustFile(ProjectFile::new(state.join("trust.json")))
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the stored decision about a project.
    pub(crate) fn standing(&self, project: &Project) -> Result<TrustState, CommandError> {
        let decisions = self.0.read()?;
        let of = |dir: &Path| decisions.get(&*dir.to_string_lossy());
        if let Some(said) = of(&project.dir) {
            return Ok(match (said["trusted"].as_bool(), said["digest"].as_str()) {
                (Some(true), Some(digest)) if digest == project.digest => TrustState::Trusted,
                (Some(true), _) => TrustState::Changed,
                _ => TrustState::Refused,
            });
        }
        let outer = project.dir.ancestors().skip(1).find_map(of);
        let is_refused = outer.is_some_and(|said| said["trusted"].as_bool() != Some(true));
        Ok(if is_refused { TrustState::Refused } else { TrustState::Undecided })
    }

    /// Stores the user's decision about a project in its current state.
    pub(crate) fn remember(&self, project: &Project, is_trusted: bool) -> Result<(), CommandError> {
        let decision = match is_trusted {
            true => json!({"trusted": true, "digest": project.digest}),
            false => json!({"trusted": false}),
        };
        let dir = project.dir.to_string_lossy().into_owned();
        let remember = |decisions: &mut Map<String, Json>| {
            decisions.insert(dir, decision);
            true
        };
        self.0.change(remember).map(drop)
    }

    /// Removes the decision about a directory. Returns false if there was none.
    pub(crate) fn forget(&self, dir: &Path) -> Result<bool, CommandError> {
        self.0.change(|decisions| decisions.shift_remove(&*dir.to_string_lossy()).is_some())
    }

    /// Lists all decisions.
    pub(crate) fn list(&self) -> Result<Vec<Saved>, CommandError> {
        let saved = |(dir, said): (&String, &Json)| Saved {
            dir: dir.into(),
            is_trusted: said["trusted"].as_bool() == Some(true),
        };
        Ok(self.0.read()?.iter().map(saved).collect())
    }
}
