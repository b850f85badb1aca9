//! The decisions about projects, in one file that only its owner can write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_agent::small_file::SmallFile;
use serde_json::{Map, Value as Json, json};

use super::{Project, Standing};
use crate::error::{CommandError, Failure};

/// The decisions about projects.
///
/// A yes is one to the files as they were; a no is one to the directory and to all directories in it.
#[derive(Debug, Clone)]
pub(crate) struct TrustFile {
    path: PathBuf,
}

/// A decision on file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The directory of the project.
    pub(crate) dir: PathBuf,
    /// Whether it is trusted.
    pub(crate) is_trusted: bool,
}

impl TrustFile {
    /// Names the file, which need not exist.
    pub(crate) fn in_directory(state: &Path) -> Self {
        TrustFile { path: state.join("trust.json") }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells what was decided about a project.
    pub(crate) fn standing(&self, project: &Project) -> Result<Standing, CommandError> {
        let decisions = self.read()?;
        let of = |dir: &Path| decisions.get(&*dir.to_string_lossy());
        if let Some(said) = of(&project.dir) {
            return Ok(match (said["trusted"].as_bool(), said["digest"].as_str()) {
                (Some(true), Some(digest)) if digest == project.digest => Standing::Trusted,
                (Some(true), _) => Standing::Changed,
                _ => Standing::Refused,
            });
        }
        let outer = project.dir.ancestors().skip(1).find_map(of);
        let is_refused = outer.is_some_and(|said| said["trusted"].as_bool() != Some(true));
        Ok(if is_refused { Standing::Refused } else { Standing::Undecided })
    }

    /// Remembers what somebody decided about a project as it is now.
    pub(crate) fn remember(&self, project: &Project, is_trusted: bool) -> Result<(), CommandError> {
        let file = self.lock()?;
        let mut decisions = self.read()?;
        let decision = match is_trusted {
            true => json!({"trusted": true, "digest": project.digest}),
            false => json!({"trusted": false}),
        };
        decisions.insert(project.dir.to_string_lossy().into_owned(), decision);
        self.write(&file, &decisions)
    }

    /// Forgets what was decided about a directory; tells whether there was anything.
    pub(crate) fn forget(&self, dir: &Path) -> Result<bool, CommandError> {
        let file = self.lock()?;
        let mut decisions = self.read()?;
        if decisions.shift_remove(&*dir.to_string_lossy()).is_none() {
            return Ok(false);
        }
        self.write(&file, &decisions)?;
        Ok(true)
    }

    /// Lists all decisions.
    pub(crate) fn list(&self) -> Result<Vec<Saved>, CommandError> {
        let saved = |(dir, said): (&String, &Json)| Saved {
            dir: dir.into(),
            is_trusted: said["trusted"].as_bool() == Some(true),
        };
        Ok(self.read()?.iter().map(saved).collect())
    }

    fn read(&self) -> Result<Map<String, Json>, CommandError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(CommandError::system("read", &self.path, &error)),
        };
        let bad = |_| {
            Failure::new(format!("{} is no JSON object of directories", self.path.display()))
                .hint("remove it to be asked about every project again")
        };
        Ok(serde_json::from_str(&text).map_err(bad)?)
    }

    fn lock(&self) -> Result<SmallFile, CommandError> {
        SmallFile::lock(&self.path).map_err(|error| CommandError::system("write", &self.path, &error))
    }

    fn write(&self, file: &SmallFile, decisions: &Map<String, Json>) -> Result<(), CommandError> {
        let text = format!("{:#}\n", Json::Object(decisions.clone()));
        file.replace(text.as_bytes()).map_err(|error| CommandError::system("write", &self.path, &error))
    }
}
