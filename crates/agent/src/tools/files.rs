//! Opens regular files, replaces them atomically, and serialises changes of the same file.
//!
//! Everything here blocks; tools call it through [`work`](super::work).

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use tokio::sync::{Mutex, MutexGuard};

use super::resolved::{self, ResolvedPath};
use crate::tool::{ToolOutput, ToolPlace};

/// The reason why a file cannot be opened or replaced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("no such file")]
    Missing,
    #[error("it is a directory")]
    Directory,
    #[error("it is not a regular file")]
    Special,
    #[error("it is read-only")]
    ReadOnly,
    #[error("a part of its path became a link after the call was judged")]
    Replaced,
    #[error("{0}")]
    Io(#[source] io::Error),
}

impl FileError {
    /// Returns the output of a call that could not `verb` this file.
    pub(super) fn output(&self, verb: &str, path: &ResolvedPath, place: &ToolPlace) -> ToolOutput {
        let shown = path.shown(&place.cwd);
        ToolOutput::error(match self {
            FileError::Missing => format!("{shown} does not exist"),
            FileError::Directory if verb == "read" => format!("{shown} is a directory; list it with ls"),
            FileError::Replaced => {
                format!("{shown} was replaced after the call was judged; call the tool again")
            }
            _ => format!("cannot {verb} {shown}: {self}"),
        })
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::Missing,
            io::ErrorKind::IsADirectory => FileError::Directory,
            _ => FileError::Io(error),
        }
    }
}

/// Opens a regular file for reading and returns its size. Refuses pipes and devices, which could block.
pub(crate) fn open(path: &ResolvedPath) -> Result<(File, u64), FileError> {
    let file = path.open(OFlags::RDONLY | OFlags::NONBLOCK)?;
    expect_regular(FileType::from_raw_mode(rustix::fs::fstat(&file).map_err(io::Error::from)?.st_mode))?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

/// The first bytes of a file.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// The bytes, without an incomplete character at the end.
    pub(crate) bytes: Vec<u8>,
    /// The size of the file.
    pub(crate) size: u64,
}

/// Reads at most `most` bytes of a regular file.
pub(crate) fn beginning(path: &ResolvedPath, most: u64) -> Result<Beginning, FileError> {
    let (file, size) = open(path)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most {
        drop_cut_character(&mut bytes);
    }
    Ok(Beginning { bytes, size })
}

/// Removes an incomplete character at the end.
pub(super) fn drop_cut_character(bytes: &mut Vec<u8>) {
    let last = bytes.len().saturating_sub(4);
    let is_start = |byte: &u8| byte & 0xC0 != 0x80;
    let start = bytes[last..].iter().rposition(is_start).map_or(bytes.len(), |at| last + at);
    if std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none()) {
        bytes.truncate(start);
    }
}

fn expect_regular(kind: FileType) -> Result<(), FileError> {
    match kind {
        FileType::Directory => Err(FileError::Directory),
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(FileError::Replaced),
        _ => Err(FileError::Special),
    }
}

/// The bytes of a file that decide if it is text.
const SNIFFED: u64 = 8 << 10;

/// Returns the text of a file as the editor has it, with unsaved changes.
///
/// Returns `None` if no editor reads files, or if the disk has anything but a text file there, so that an editor sees
/// neither binary files nor paths that were replaced after the call was judged.
pub(super) fn editor_text(path: &ResolvedPath, place: &ToolPlace) -> Option<String> {
    if !place.editor.access().read {
        return None;
    }
    match beginning(path, SNIFFED) {
        Ok(start) => std::str::from_utf8(&start.bytes).ok().filter(|text| !text.contains('\0')).map(drop),
        Err(FileError::Missing) => Some(()),
        Err(_) => None,
    }?;
    place.editor.read(path.real(), &place.cancel)
}

/// Writes a file through the editor if there is one that writes, or else to the disk. The error is the output of the call.
pub(super) fn write(path: &ResolvedPath, content: &[u8], place: &ToolPlace) -> Result<(), ToolOutput> {
    let is_as_judged = || matches!(open(path), Ok(_) | Err(FileError::Missing));
    let text = std::str::from_utf8(content).ok().filter(|_| place.editor.access().write && is_as_judged());
    match text.and_then(|text| place.editor.write(path.real(), text, &place.cancel)) {
        Some(written) => written.map_err(|error| {
            ToolOutput::error(format!("the editor did not write {}: {error}", path.shown(&place.cwd)))
        }),
        None => replace(path, content).map_err(|error| error.output("write", path, place)),
    }
}

/// Creates a file or replaces its content atomically.
///
/// Creates missing directories. Mode and owner stay. If the directory cannot be written (a single mounted file, a
/// directory of another user), the file is overwritten in place.
pub(super) fn replace(path: &ResolvedPath, content: &[u8]) -> Result<(), FileError> {
    let (directory, name) = path.parent(true).map_err(|error| match error {
        // Missing directories were created, so a part of the path is not a directory.
        FileError::Missing => FileError::Io(io::ErrorKind::NotADirectory.into()),
        error => error,
    })?;
    let old = match resolved::stat_at(&directory, name) {
        Ok(found) => Some(found),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(FileError::Io(error.into())),
    };
    if let Some(old) = &old {
        expect_regular(FileType::from_raw_mode(old.st_mode))?;
        if old.st_mode & 0o222 == 0 {
            return Err(FileError::ReadOnly);
        }
    }
    match replace_at_once(&directory, name, old.as_ref(), content) {
        Err(FileError::Io(error)) if old.is_some() && needs_writing_over(&error) => {
            let flags = OFlags::WRONLY | OFlags::TRUNC;
            write_all(&resolved::open_at(&directory, name, flags, Mode::empty())?.into(), content)
        }
        done => done,
    }
}

/// Writes a new file beside the old one and renames it.
fn replace_at_once(
    directory: &OwnedFd,
    name: &OsStr,
    old: Option<&Stat>,
    content: &[u8],
) -> Result<(), FileError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = format!(".offshoot-{}-{number}.tmp", std::process::id());
    // A new file gets the default mode, reduced by the umask.
    let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = resolved::open_at(directory, temporary.as_ref(), flags, mode)?.into();
    let named = write_all(&file, content).and_then(|()| match old {
        Some(old) => {
            keep_owner(&file, old)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(old.st_mode)).map_err(io::Error::from)?;
            Ok(rustix::fs::renameat(directory, &temporary, directory, name).map_err(io::Error::from)?)
        }
        // A link does not replace a file that another program has created since.
        None => {
            let linked = rustix::fs::linkat(directory, &temporary, directory, name, AtFlags::empty());
            Ok(linked.map_err(io::Error::from)?)
        }
    });
    if named.is_err() || old.is_none() {
        // Best effort: a leftover file has an unused name.
        let _ = rustix::fs::unlinkat(directory, &temporary, AtFlags::empty());
    }
    named
}

fn write_all(mut file: &File, content: &[u8]) -> Result<(), FileError> {
    file.write_all(content)?;
    Ok(file.sync_all()?)
}

fn keep_owner(file: &File, old: &Stat) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.st_uid, old.st_gid) {
        return Ok(());
    }
    fchown(file, Some(old.st_uid), Some(old.st_gid))
}

fn needs_writing_over(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// The number of locks. Files that share one wait for each other.
const STRIPES: usize = 64;
static QUEUES: [Mutex<()>; STRIPES] = [const { Mutex::const_new(()) }; STRIPES];

/// Waits for earlier changes of the same file, in the order of the calls, so that a `write` and a later `edit` of one
/// answer run in order.
pub(crate) async fn turn(path: &ResolvedPath) -> MutexGuard<'static, ()> {
    QUEUES[stripe(path.real())].lock().await
}

fn stripe(path: &Path) -> usize {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests;
