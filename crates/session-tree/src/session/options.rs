//! How a session is opened or made.

#[cfg(feature = "file")]
use std::path::Path;
#[cfg(feature = "file")]
use std::sync::Arc;

use super::Session;
use crate::error::Result;
#[cfg(feature = "file")]
use crate::error::{Error, ReadOnlyReason};
#[cfg(feature = "file")]
use crate::fs::{Access, Fs, RealFs};
#[cfg(feature = "file")]
use crate::journal::{FileJournal, Journal};
#[cfg(feature = "sidecar")]
use crate::sidecar::{self, Sidecar};

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
    pub(crate) fs: Arc<dyn Fs>,
    #[cfg(feature = "sidecar")]
    sidecar_dir: Option<std::path::PathBuf>,
    #[cfg(feature = "write")]
    pub(super) writer: super::write::Writer,
    #[cfg(feature = "write")]
    pub(super) lock_wait: crate::journal::LockWait,
}

#[cfg_attr(not(feature = "file"), allow(clippy::derivable_impls, reason = "with files there is more to it"))]
impl Default for Options {
    fn default() -> Self {
        Options {
            cache_bytes: None,
            #[cfg(feature = "file")]
            fs: Arc::new(RealFs),
            #[cfg(feature = "sidecar")]
            sidecar_dir: None,
            #[cfg(feature = "write")]
            writer: super::write::Writer::default(),
            #[cfg(feature = "write")]
            lock_wait: crate::journal::LockWait::default(),
        }
    }
}

impl Options {
    /// Starts with the operating system's files, clock and randomness, and syncing at barriers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes the decoded lines that a session keeps may take in memory; 64 MiB if not set.
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

    /// Keeps the index of large sessions in this directory, so that opening them again takes no time.
    ///
    /// What lies there may be deleted whenever it is in the way. The directory must not be the one the sessions
    /// are in.
    #[cfg(feature = "sidecar")]
    pub fn sidecar_dir(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.sidecar_dir = Some(directory.into());
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
        let path = journal.path().map(Path::to_path_buf).unwrap_or_default();
        if crate::journal::ReadAt::is_empty(&journal).map_err(Error::io("read", &path))? {
            return Err(Error::NotASession { path, reason: "it is empty" });
        }
        let session = self.load_indexed(Box::new(journal), read_only, &path)?;
        Ok(self.equip(session))
    }

    #[cfg(all(feature = "file", not(feature = "sidecar")))]
    fn load_indexed(
        &self,
        journal: Box<dyn Journal>,
        read_only: Option<ReadOnlyReason>,
        _: &Path,
    ) -> Result<Session> {
        Session::load(journal, read_only)
    }

    /// Loads a session from its sidecar and what came since, or from its journal alone.
    #[cfg(feature = "sidecar")]
    fn load_indexed(
        &self,
        journal: Box<dyn Journal>,
        read_only: Option<ReadOnlyReason>,
        path: &Path,
    ) -> Result<Session> {
        let sidecar = self.sidecar_dir.as_deref().and_then(|directory| Sidecar::of(directory, &*journal));
        let (Some(sidecar), Ok(meta)) = (sidecar, self.fs.metadata(path)) else {
            return Session::load(journal, read_only);
        };
        let stored = sidecar.load(&*self.fs, &*journal, &meta);
        let stored_end = stored.as_ref().map(|index| index.end);
        let session = match stored {
            Some(index) => Session::load_from(journal, index, read_only)?,
            None => Session::load(journal, read_only)?,
        };
        if sidecar::is_outdated(stored_end, session.index.end) {
            // A cache that cannot be written is no reason to complain.
            drop(sidecar.store(&*self.fs, &*session.journal, &session.index, &meta));
        }
        Ok(session)
    }

    /// Reads a session from bytes: see [`Session::from_bytes`].
    pub fn from_bytes(self, bytes: Vec<u8>) -> Result<Session> {
        let session = Session::from_bytes(bytes)?;
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
