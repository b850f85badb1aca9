//! Sessions in files: opening them, creating them, and the settings that only files have.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::options::check_not_empty;
use super::write::check_id;
use super::{NewSession, Options, Session};
use crate::error::{Error, LockHolder, ReadOnlyReason, Result};
use crate::fs::{Access, Fs, RealFs};
use crate::journal::{FileJournal, Journal, LockWait, Store};
use crate::naming::session_file_name;
use crate::sidecar::{self, Sidecar};
use crate::time::Timestamp;

/// The settings that only sessions in files have.
#[derive(Debug)]
pub(crate) struct FileOptions {
    pub(crate) fs: Arc<dyn Fs>,
    store: Option<Arc<dyn Store>>,
    sidecar_dir: Option<PathBuf>,
    lock_wait: LockWait,
}

impl Default for FileOptions {
    fn default() -> Self {
        FileOptions { fs: Arc::new(RealFs), store: None, sidecar_dir: None, lock_wait: LockWait::default() }
    }
}

impl FileOptions {
    fn open_journal(&self, path: &Path, access: Access) -> Result<FileJournal> {
        let journal = FileJournal::open(self.fs.clone(), path, access)?;
        Ok(journal.with_lock_wait(self.lock_wait.clone()))
    }

    /// Returns the store that holds an address; none for the path of a file.
    pub(crate) fn store_of(&self, path: &Path) -> Option<&dyn Store> {
        self.store.as_deref().filter(|store| store.contains(path))
    }
}

impl Options {
    /// Sets the file system that holds the session.
    pub fn file_system(mut self, fs: Arc<dyn Fs>) -> Self {
        self.files.fs = fs;
        self
    }

    /// Sets a store whose addresses are accepted like the paths of files.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.files.store = Some(store);
        self
    }

    /// Sets a directory for the indexes of large sessions, which make opening them again independent of their size.
    ///
    /// Its files may be deleted at any time. It must not be the directory of the sessions.
    pub fn sidecar_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.files.sidecar_dir = Some(directory.into());
        self
    }

    /// Sets how long an append waits for another program that holds the lock of the file. The default is 10 s.
    pub fn lock_wait(mut self, limit: Duration) -> Self {
        self.files.lock_wait.limit = limit;
        self
    }

    /// Sets a function that is called when an append has waited a second for another program that holds the lock. It gets
    /// the process that holds the lock, if the system reports it.
    pub fn on_lock_wait(mut self, notice: impl Fn(Option<&LockHolder>) + Send + Sync + 'static) -> Self {
        self.files.lock_wait.notice = Some(Arc::new(notice));
        self
    }

    /// Opens a session file for reading: writes nothing and takes no lock, whatever the version of the file.
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Session> {
        if let Some(store) = self.files.store_of(path.as_ref()) {
            let journal = store.open(path.as_ref())?;
            return self.load_journal(journal, Some(ReadOnlyReason::Asked));
        }
        let journal = self.files.open_journal(path.as_ref(), Access::Read)?;
        self.load_file(journal, Some(ReadOnlyReason::Asked))
    }

    /// Opens a session for reading, with the path to its leaf only: see [`Options::open_journal_path`]. Files are opened as a
    /// whole.
    pub fn open_path(self, path: impl AsRef<Path>) -> Result<Session> {
        match self.files.store_of(path.as_ref()) {
            Some(store) => {
                let journal = store.open(path.as_ref())?;
                self.load_path(journal)
            }
            None => self.open_read_only(path),
        }
    }

    /// Opens a session file for reading and writing.
    ///
    /// Opening writes nothing: the first append migrates an old version and closes a torn tail. A file that may not be
    /// written, or that a newer program wrote, is opened read-only; [`Session::read_only`] returns the reason.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Session> {
        if let Some(store) = self.files.store_of(path.as_ref()) {
            let journal = store.open(path.as_ref())?;
            return self.open_boxed(journal);
        }
        let journal = self.files.open_journal(path.as_ref(), Access::Append)?;
        let read_only = journal.capabilities().read_only.then_some(ReadOnlyReason::Protected);
        self.load_file(journal, read_only)
    }

    /// Opens a session file, or prepares a new one under this path.
    ///
    /// An empty file gets its header at once. A link to an empty file is refused: the file may be meant for something else.
    pub fn open_or_create(self, path: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let path = path.as_ref();
        match self.files.fs.metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.create(path, new),
            Ok(meta) if meta.is_file && meta.len == 0 => self.fill_empty(path, new.into()),
            _ => self.open(path),
        }
    }

    /// Prepares a new session under this path. The file is created with the first message.
    pub fn create(self, path: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let now = self.writer.clock.now();
        self.create_dated(path.as_ref().to_path_buf(), new.into(), now)
    }

    /// Prepares a new session in a directory, in a file named after its time and id as in pi.
    pub fn create_in(mut self, directory: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let mut new = new.into();
        let id = new.id.take().unwrap_or_else(|| self.writer.ids.session_id());
        let now = self.writer.clock.now();
        check_id(&id)?;
        let name = match self.files.store_of(directory.as_ref()) {
            Some(_) => id.clone(),
            None => session_file_name(now, &id),
        };
        let path = directory.as_ref().join(name);
        new.id = Some(id);
        self.create_dated(path, new, now)
    }

    fn create_dated(self, path: PathBuf, new: NewSession, now: Timestamp) -> Result<Session> {
        if let Some(store) = self.files.store_of(&path) {
            let journal = store.create(&path)?;
            return self.start_dated(journal, new, now);
        }
        let FileOptions { fs, lock_wait, .. } = &self.files;
        if fs.metadata(&path).is_ok() {
            return Err(Error::Exists { path });
        }
        let journal = FileJournal::unsaved(fs.clone(), path).with_lock_wait(lock_wait.clone());
        self.start_dated(Box::new(journal), new, now)
    }

    fn fill_empty(self, path: &Path, new: NewSession) -> Result<Session> {
        if self.is_link(path)? {
            return Err(Error::Exists { path: path.into() });
        }
        let journal = self.files.open_journal(path, Access::Append)?;
        if journal.capabilities().read_only {
            return Err(Error::ReadOnly { reason: ReadOnlyReason::Protected });
        }
        self.start(Box::new(journal), new)
    }

    /// Returns true if the last component of a path is a link; the components above it may be links.
    fn is_link(&self, path: &Path) -> Result<bool> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let real = |path: &Path| self.files.fs.canonical(path).map_err(Error::io("open", path));
        Ok(real(path)? != real(parent)?.join(name))
    }

    fn load_file(self, journal: FileJournal, read_only: Option<ReadOnlyReason>) -> Result<Session> {
        check_not_empty(&journal)?;
        let session = self.load_indexed(journal, read_only)?;
        Ok(self.apply_to(session))
    }

    /// Loads a session from its sidecar and the lines appended since, or from its journal alone.
    fn load_indexed(&self, journal: FileJournal, read_only: Option<ReadOnlyReason>) -> Result<Session> {
        let FileOptions { fs, sidecar_dir, .. } = &self.files;
        let path = journal.path().map(Path::to_path_buf).unwrap_or_default();
        let sidecar = sidecar_dir.as_deref().zip(journal.file_id()).map(|(dir, id)| Sidecar::of(dir, id));
        let Some((sidecar, meta)) = sidecar.zip(fs.metadata(&path).ok()) else {
            return Session::load(Box::new(journal), read_only);
        };
        let stored = sidecar.load(&**fs, &journal, &meta);
        let stored_end = stored.as_ref().map(|index| index.end);
        let session = match stored {
            Some(index) => Session::load_from(Box::new(journal), index, read_only)?,
            None => Session::load(Box::new(journal), read_only)?,
        };
        if sidecar::is_outdated(stored_end, session.index.end) {
            // The sidecar is only a cache: a failure to write it is ignored.
            let is_unchanged = || fs.metadata(&path).is_ok_and(|now| now == meta);
            drop(sidecar.store(&**fs, &*session.journal, &session.index, &meta, is_unchanged));
        }
        Ok(session)
    }
}

impl Session {
    /// Opens a session file for reading and writing: see [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Session> {
        Options::new().open(path)
    }

    /// Opens a session file for reading: see [`Options::open_read_only`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Session> {
        Options::new().open_read_only(path)
    }
}
