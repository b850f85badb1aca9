//! Paths that a call names, resolved once: permissions judge the same file that a tool opens.
//!
//! ```text
//!   a/../../notes   with a -> b/c in /project   =>   real: /project/notes   (without links: /notes)
//! ```
//!
//! Tools get a [`ResolvedPath`] instead of a string. It is opened part by part without following links, so a link
//! created after the call was judged makes the call fail.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

use super::files::FileError;
use super::paths;

/// A path that a call names, and the path that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The absolute path without `.` and `..`, with links as they are. For patterns of rules only.
    lexical: PathBuf,
    /// The path with all links followed.
    real: PathBuf,
    /// The absolute path to show: as it was written where that is unambiguous, or else the real one.
    shown: PathBuf,
}

impl ResolvedPath {
    /// Resolves a path, starting at `cwd` if it is relative. Reads links from the disk; fails if they form a circle.
    pub(crate) fn new(cwd: &Path, written: &Path) -> io::Result<Self> {
        let absolute = paths::resolve(cwd, written);
        let lexical = paths::normalised(&absolute);
        let real = paths::real(&absolute)?;
        let leads_up = absolute.components().any(|part| part == Component::ParentDir);
        let shown = if leads_up { inside(cwd, &real) } else { lexical.clone() };
        Ok(ResolvedPath { lexical, real, shown })
    }

    /// Returns the path with all links followed.
    pub fn real(&self) -> &Path {
        &self.real
    }

    pub(crate) fn lexical(&self) -> &Path {
        &self.lexical
    }

    /// Writes the path for a result, relative to `cwd` if it is inside.
    pub(crate) fn shown(&self, cwd: &Path) -> String {
        paths::shown(cwd, &self.shown)
    }

    /// Returns the path of an entry found in a walk below this directory.
    pub(crate) fn below(&self, real: &Path) -> Self {
        let join = |start: &Path| match real.strip_prefix(&self.real) {
            Ok(inside) => start.join(inside),
            Err(_) => real.to_owned(),
        };
        ResolvedPath { lexical: join(&self.lexical), real: real.to_owned(), shown: join(&self.shown) }
    }

    /// Opens the file or directory.
    pub(crate) fn open(&self, flags: OFlags) -> Result<File, FileError> {
        let (directory, name) = self.parent(false)?;
        Ok(open_at(&directory, name, flags, Mode::empty())?.into())
    }

    /// Returns the type: file, directory or other.
    pub(crate) fn kind(&self) -> Result<FileType, FileError> {
        let (directory, name) = self.parent(false)?;
        let found = stat_at(&directory, name).map_err(io::Error::from)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => Err(FileError::Replaced),
            kind => Ok(kind),
        }
    }

    /// Opens the parent directory and returns the name in it. With `make`, creates missing directories.
    pub(super) fn parent(&self, make: bool) -> Result<(OwnedFd, &OsStr), FileError> {
        let parts = self.real.parent().into_iter().flat_map(Path::components);
        let mut directory = open_at(CWD, OsStr::new("/"), PARENT, Mode::empty())?;
        for part in parts.filter(|part| matches!(part, Component::Normal(_))) {
            let part = part.as_os_str();
            directory = match open_at(&directory, part, PARENT, Mode::empty()) {
                Err(FileError::Missing) if make => {
                    // Another call may create it at the same time.
                    let _ = rustix::fs::mkdirat(&directory, part, Mode::from_raw_mode(0o777));
                    open_at(&directory, part, PARENT, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok((directory, self.real.file_name().unwrap_or(OsStr::new("."))))
    }
}

/// The flags for opening parent directories. On Linux they need not be readable.
#[cfg(target_os = "linux")]
const PARENT: OFlags = OFlags::DIRECTORY.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const PARENT: OFlags = OFlags::DIRECTORY;

/// Opens a name in a directory, except a link.
pub(super) fn open_at(
    directory: impl AsFd,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, FileError> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&directory, name, flags, mode).map_err(|error| match stat_at(&directory, name) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => FileError::Replaced,
        _ => io::Error::from(error).into(),
    })
}

/// Returns the metadata of a name in a directory, without following a link.
pub(super) fn stat_at(directory: impl AsFd, name: &OsStr) -> rustix::io::Result<Stat> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Rewrites a real path as one below `cwd` if it is inside, even if `cwd` is a link.
fn inside(cwd: &Path, real: &Path) -> PathBuf {
    let start = paths::real(cwd).ok();
    match start.and_then(|start| real.strip_prefix(start).ok().map(Path::to_owned)) {
        Some(inside) => cwd.join(inside),
        None => real.to_owned(),
    }
}
