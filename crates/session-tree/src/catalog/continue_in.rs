//! Continuing the latest session of a project.

use std::path::Path;

use super::Catalog;
use crate::error::Result;
use crate::session::{Options, Session};

impl Options {
    /// Opens the session with the latest activity among those of a working directory, or prepares a new one.
    ///
    /// `directory` holds the session files; those of other working directories may lie there too. A new session gets its
    /// file with the first message.
    pub fn continue_in(self, directory: impl AsRef<Path>, cwd: impl AsRef<str>) -> Result<Session> {
        let (directory, cwd) = (directory.as_ref(), cwd.as_ref());
        let catalog = Catalog::new(directory).flat().file_system(self.files.fs.clone());
        match catalog.most_recent(cwd) {
            Some(latest) => self.open(latest.path),
            None => self.create_in(directory, cwd),
        }
    }
}

impl Session {
    /// Opens the latest session of a working directory, or prepares a new one: see [`Options::continue_in`].
    pub fn continue_in(directory: impl AsRef<Path>, cwd: impl AsRef<str>) -> Result<Session> {
        Options::new().continue_in(directory, cwd)
    }
}
