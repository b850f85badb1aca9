//! Small files that several processes change, such as credentials and decisions about projects.
//!
//! A change is: lock, read, change, replace. The lock is on the directory, because the file itself is replaced as a whole:
//! a crash leaves the old file or the new one.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for another process that changes a file of the directory.
const LIMIT: Duration = Duration::from_secs(10);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The right to change one small file, until it is dropped.
#[derive(Debug)]
pub struct SmallFile {
    path: PathBuf,
    /// The directory. Dropping it releases the lock.
    directory: File,
}

impl SmallFile {
    /// Waits until no other process changes a file of the same directory. Creates the directory if it is missing.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::TimedOut`] after 10 seconds.
    pub fn lock(path: &Path) -> io::Result<Self> {
        let parent = directory_of(path);
        fs::create_dir_all(parent)?;
        let directory = File::open(parent)?;
        let start = Instant::now();
        loop {
            match directory.try_lock() {
                Ok(()) => break,
                // The file system has no locks.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => break,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if start.elapsed() >= LIMIT => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "another program has locked its directory",
                    ));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
        Ok(SmallFile { path: path.to_path_buf(), directory })
    }

    /// Replaces the file with one that only its owner can read.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let parent = directory_of(&self.path);
        let prefix = self.prefix();
        self.remove_leftovers(parent, &prefix);
        let mut file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".tmp")
            .tempfile_in(parent)
            .map_err(|error| without_path(&error))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        self.directory.sync_all()
    }

    /// Removes temporary files of killed processes. A running process would hold the lock. Best effort.
    fn remove_leftovers(&self, parent: &Path, prefix: &OsString) {
        let Ok(files) = fs::read_dir(parent) else { return };
        for file in files.flatten() {
            let name = file.file_name();
            let bytes = name.as_encoded_bytes();
            if bytes.starts_with(prefix.as_encoded_bytes()) && bytes.ends_with(b".tmp") {
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        prefix.push(self.path.file_name().unwrap_or_default());
        prefix.push(".");
        prefix
    }
}

/// Removes the path of a temporary file from an error: users know only the name of the final file.
pub fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.split_once(" at path ").map_or(text.as_str(), |(reason, _)| reason);
    io::Error::new(error.kind(), reason)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
