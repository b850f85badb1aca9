//! The file system, as little of it as the engine needs, behind a trait.
//!
//! Below the journal. [`RealFs`] is the operating system's; tests put a simulated one here that can crash, fill up
//! and fail at every step.

mod cache;
mod real;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::time::Timestamp;

pub use crate::error::LockHolder;
pub(crate) use cache::{Appender, replace_cache};
pub use real::RealFs;

/// The mode in which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    Read,
    /// For reading, and for writing at its end.
    Append,
    /// Like `Append`, but the file must not exist yet. It is private to its owner, whatever the umask.
    CreateNew,
}

/// The identity of a file, which does not depend on its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The number of the file on its device.
    pub number: u64,
}

/// The metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The length in bytes.
    pub len: u64,
    /// The time of the last change.
    pub modified: Timestamp,
    /// The time of the last change of the bytes or of anything else, in nanoseconds since 1970. Programs cannot set it.
    pub changed: i64,
    /// The identity of the file.
    pub id: FileId,
    /// True for a regular file.
    pub is_file: bool,
    /// True for a directory.
    pub is_dir: bool,
    /// The permission bits; 0o600 where the system has none.
    pub mode: u32,
}

/// A file system.
pub trait Fs: Send + Sync + fmt::Debug {
    /// Opens a file. Never waits for the other side of a pipe, never follows a link when it creates.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FsFile>>;

    /// Returns the metadata of the file that a path names, following links.
    fn metadata(&self, path: &Path) -> io::Result<Meta>;

    /// Resolves links, so that a later change of a link has no effect.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Lists a directory.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Creates a directory and its parents, private to their owner.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Adds a second name to a file; fails if that name exists.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file, replacing any file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Makes names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Returns the number of free bytes on the file system of `path`.
    fn free_space(&self, path: &Path) -> io::Result<u64>;
}

/// An open file.
pub trait FsFile: Send + Sync + fmt::Debug {
    /// Reads at a position. A short read is normal; zero means the end.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes at the end with one call to the system; a short write is possible.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Truncates the file to a length.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes the contents durable.
    fn sync(&self) -> io::Result<()>;

    /// Returns the metadata of the file.
    fn metadata(&self) -> io::Result<Meta>;

    /// Returns the length of the file.
    fn end(&self) -> io::Result<u64> {
        self.metadata().map(|meta| meta.len)
    }

    /// Makes the file private to its owner.
    fn make_private(&self) -> io::Result<()>;

    /// Takes the exclusive lock if it is free. The lock ends with its process.
    fn try_lock(&self) -> io::Result<bool>;

    /// Returns the process that holds the lock, if the system reports it.
    fn lock_holder(&self) -> Option<LockHolder> {
        None
    }

    /// Releases the lock.
    fn unlock(&self) -> io::Result<()>;
}
