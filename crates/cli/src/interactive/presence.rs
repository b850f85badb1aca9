//! Presence: every program with an open session holds a locked file, which is removed when it ends.
//!
//! It blocks no program: two programs that append make two branches.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::app::file_name_of;

/// The locked file that marks a session as open.
#[derive(Debug, Default)]
pub(super) struct Presence {
    sign: Option<(File, PathBuf)>,
}

impl Presence {
    /// Marks this session as open, and no other one. Does nothing without a state directory.
    pub(super) fn announce(&mut self, state: &Path, session_id: &str) {
        // Removes the old file first, because it may have the same name.
        self.withdraw();
        let directory = state.join("presence");
        let path = directory.join(format!("{}.{}", name(session_id), std::process::id()));
        let open = || -> std::io::Result<File> {
            fs::create_dir_all(&directory)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            file.try_lock()?;
            Ok(file)
        };
        self.sign = open().ok().map(|file| (file, path));
    }

    fn withdraw(&mut self) {
        if let Some((_, path)) = self.sign.take() {
            // A leftover file is no longer locked and does not count.
            drop(fs::remove_file(path));
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// Returns true if a program holds the lock.
fn is_alive(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => true,
        Ok(()) | Err(TryLockError::Error(_)) => {
            drop(fs::remove_file(path));
            false
        }
    }
}

/// Returns true if another program has the session open.
pub(super) fn is_held(state: &Path, session_id: &str) -> bool {
    held(state).contains(&name(session_id))
}

/// Returns the names of all sessions that other programs have open. Removes files of programs that have ended.
pub(super) fn held(state: &Path) -> HashSet<String> {
    let Ok(signs) = fs::read_dir(state.join("presence")) else { return HashSet::new() };
    let own = format!(".{}", std::process::id());
    let paths = signs.filter_map(Result::ok).map(|sign| sign.path());
    let alive = paths.filter(|path| !path.to_string_lossy().ends_with(&own) && is_alive(path));
    alive.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// Returns the file name of a session, because an id may contain any characters.
pub(super) fn name(session_id: &str) -> String {
    file_name_of(session_id.as_bytes())
}

#[cfg(test)]
mod tests;
