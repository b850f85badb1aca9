//! How a session is opened or made.

#[cfg(feature = "file")]
use std::path::Path;
#[cfg(feature = "file")]
use std::sync::Arc;

use super::Session;
#[cfg(feature = "file")]
use crate::error::{Error, ReadOnlyReason, Result};
#[cfg(feature = "file")]
use crate::fs::{Access, Fs, RealFs};
#[cfg(feature = "file")]
use crate::journal::FileJournal;

/// How a session is opened or made: which file system, clock and ids it uses, and how careful it is.
///
/// ```no_run
/// use session_tree::{Options, SyncPolicy};
///
/// let session = Options::new().sync(SyncPolicy::Always).open("session.jsonl")?;
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug)]
pub struct Options {
    cache_bytes: Option<usize>,
    #[cfg(feature = "file")]
    pub(super) fs: Arc<dyn Fs>,
    #[cfg(feature = "write")]
    pub(super) writer: super::write::Writer,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            cache_bytes: None,
            #[cfg(feature = "file")]
            fs: Arc::new(RealFs),
            #[cfg(feature = "write")]
            writer: super::write::Writer::default(),
        }
    }
}

impl Options {
    /// Starts with the operating system's files, clock and randomness, and syncing at barriers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes of decoded lines a session keeps in memory; 64 MiB if not set.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = Some(bytes);
        self
    }

    /// Puts another file system under the session.
    #[cfg(feature = "file")]
    pub fn file_system(mut self, fs: Arc<dyn Fs>) -> Self {
        self.fs = fs;
        self
    }

    /// Opens a session for reading: not a byte is written, no lock is taken, whatever the file's version.
    #[cfg(feature = "file")]
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Session> {
        let journal = FileJournal::open(self.fs.clone(), path.as_ref(), Access::Read)?;
        self.load(journal, Some(ReadOnlyReason::Asked))
    }

    #[cfg(feature = "file")]
    pub(super) fn load(self, journal: FileJournal, read_only: Option<ReadOnlyReason>) -> Result<Session> {
        let path = crate::journal::Journal::path(&journal).map(Path::to_path_buf).unwrap_or_default();
        if crate::journal::ReadAt::is_empty(&journal).map_err(Error::io("read", &path))? {
            return Err(Error::NotASession { path, reason: "it is empty" });
        }
        let session = Session::load(Box::new(journal), read_only)?;
        Ok(self.equip(session))
    }

    /// Gives a loaded session what it works with.
    pub(super) fn equip(self, session: Session) -> Session {
        if let Some(bytes) = self.cache_bytes {
            session.docs().set_limit(bytes);
        }
        #[cfg(feature = "write")]
        let session = session.with_writer(self.writer);
        session
    }
}

impl Session {
    /// Opens a session file for reading: see [`Options::open_read_only`].
    #[cfg(feature = "file")]
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Session> {
        Options::new().open_read_only(path)
    }
}
