//! Files with the whole output of long commands, in a private directory, bounded in size and removed after a week.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// The maximum size of one file.
pub(crate) const MAX_FILE: u64 = 32 * 1024 * 1024;
/// The maximum size of all files together.
const MAX_TOTAL: u64 = 256 * 1024 * 1024;
/// The age at which a file is removed.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The prefix and suffix of the file names.
const FILE_PREFIX: &str = "offshoot-bash-";
const FILE_SUFFIX: &str = ".log";

/// Creates a file that only its owner can read, after removing old files.
pub(crate) fn new_file() -> io::Result<NamedTempFile> {
    let directory = private_directory(&env::temp_dir())?;
    sweep(&directory, MAX_TOTAL - MAX_FILE, SystemTime::now());
    tempfile::Builder::new().prefix(FILE_PREFIX).suffix(FILE_SUFFIX).tempfile_in(directory)
}

/// Returns true if a path, with links followed, is such a file.
pub(crate) fn is_own_output(real: &Path) -> bool {
    let Ok(temp) = env::temp_dir().canonicalize() else { return false };
    let directory = directory_in(&temp);
    let is_private = || fs::symlink_metadata(&directory).is_ok_and(|found| is_private(&found));
    has_log_name(real) && real.parent() == Some(&*directory) && is_private()
}

fn has_log_name(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with(FILE_PREFIX) && name.ends_with(FILE_SUFFIX))
}

fn directory_in(temp: &Path) -> PathBuf {
    temp.join(format!("offshoot-{}", rustix::process::getuid().as_raw()))
}

/// Returns the directory of the files, which only this user can enter. Creates it if it is missing.
fn private_directory(temp: &Path) -> io::Result<PathBuf> {
    let directory = directory_in(temp);
    match DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // In a shared directory another user may have created it first.
    if is_private(&fs::symlink_metadata(&directory)?) {
        Ok(directory)
    } else {
        Err(io::Error::other(format!("{} is not a private directory", directory.display())))
    }
}

fn is_private(found: &Metadata) -> bool {
    found.is_dir() && found.uid() == rustix::process::getuid().as_raw() && found.mode() & 0o077 == 0
}

/// Removes files older than [`MAX_AGE`], then the oldest until the rest has at most `most` bytes. Best effort.
fn sweep(directory: &Path, most: u64, now: SystemTime) {
    let Ok(listing) = fs::read_dir(directory) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = listing
        .flatten()
        .filter(|entry| has_log_name(&entry.path()))
        .filter_map(|entry| {
            let found = entry.metadata().ok()?;
            Some((found.modified().ok()?, found.len(), entry.path()))
        })
        .collect();
    // Newest first.
    files.sort_by(|one, other| other.cmp(one));
    let mut total = 0_u64;
    for (modified, length, path) in files {
        total = total.saturating_add(length);
        let is_stale = now.duration_since(modified).is_ok_and(|age| age > MAX_AGE);
        if is_stale || total > most {
            drop(fs::remove_file(path));
        }
    }
}

#[cfg(test)]
mod tests;
