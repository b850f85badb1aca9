//! A journal in a file.
//!
//! An append is one write under a kernel lock on the file itself. Changes of the whole file (its creation, a migration) are
//! written to a temporary file, which then takes the name in one step.

mod lock;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ReadAt;
use crate::error::{Error, Result};
use crate::fs::{Access, FileId, Fs, FsFile};
pub(crate) use lock::LockWait;

/// A journal in a file.
#[derive(Debug)]
pub struct FileJournal {
    fs: Arc<dyn Fs>,
    path: PathBuf,
    state: State,
    protected: bool,
    /// The length of the file when the lock was taken.
    locked_len: u64,
    lock_wait: LockWait,
    write_state: write::WriteState,
}

#[derive(Debug)]
enum State {
    /// The file does not exist yet; these lines will be its first.
    Unsaved(Vec<u8>),
    Open {
        file: Box<dyn FsFile>,
        id: FileId,
    },
}

impl FileJournal {
    /// Opens a file that exists. Links are resolved once: the journal stays with the file they name now.
    ///
    /// A file that may not be written is opened for reading.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, access: Access) -> Result<Self> {
        let meta = fs.metadata(path).map_err(Error::io("open", path))?;
        if !meta.is_file {
            return Err(Error::NotAFile { path: path.into() });
        }
        let path = fs.canonical(path).map_err(Error::io("open", path))?;
        let (file, protected) = match fs.open(&path, access) {
            Err(error) if access != Access::Read && is_protection(&error) => {
                (fs.open(&path, Access::Read), true)
            }
            opened => (opened, access == Access::Read),
        };
        let file = file.map_err(Error::io("open", &path))?;
        let meta = file.metadata().map_err(Error::io("open", &path))?;
        if !meta.is_file {
            return Err(Error::NotAFile { path });
        }
        Ok(Self { protected, ..Self::with_state(fs, path, State::Open { file, id: meta.id }) })
    }

    /// Prepares a file that does not exist yet. It is created by the first append that publishes its lines.
    pub fn unsaved(fs: Arc<dyn Fs>, path: PathBuf) -> Self {
        Self::with_state(fs, path, State::Unsaved(Vec::new()))
    }

    fn with_state(fs: Arc<dyn Fs>, path: PathBuf, state: State) -> Self {
        Self {
            fs,
            path,
            state,
            protected: false,
            locked_len: 0,
            lock_wait: LockWait::default(),
            write_state: write::WriteState::default(),
        }
    }

    /// Returns the identity of the file, which does not depend on its name. None before the file exists.
    pub(crate) fn file_id(&self) -> Option<FileId> {
        match &self.state {
            State::Unsaved(_) => None,
            State::Open { id, .. } => Some(*id),
        }
    }
}

impl ReadAt for FileJournal {
    fn len(&self) -> io::Result<u64> {
        match &self.state {
            State::Unsaved(lines) => Ok(lines.len() as u64),
            State::Open { file, .. } => file.end(),
        }
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.state {
            State::Unsaved(lines) => lines.as_slice().read_at(position, buffer),
            State::Open { file, .. } => file.read_at(position, buffer),
        }
    }
}

impl ReadAt for &(dyn FsFile + '_) {
    fn len(&self) -> io::Result<u64> {
        self.end()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(position, buffer)
    }
}

impl ReadAt for Box<dyn FsFile> {
    fn len(&self) -> io::Result<u64> {
        self.end()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.as_ref().read_at(position, buffer)
    }
}

fn is_protection(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
