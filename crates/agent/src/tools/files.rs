//! Files: opened only if regular, replaced in one step, one change of a file at a time.
//!
//! Everything here blocks; tools call it through [`work`](super::work).

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use tokio::sync::{Mutex, MutexGuard};

use super::paths;

/// Why a file cannot be opened or replaced.
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
    #[error("{0}")]
    Io(#[source] io::Error),
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

/// Opens a regular file for reading. A pipe or a device is refused, never waited for.
pub(crate) fn open(path: &Path) -> Result<(File, fs::Metadata), FileError> {
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    expect_regular(&metadata)?;
    Ok((file, metadata))
}

/// The first bytes of a file.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// The bytes, without a character that was cut in two.
    pub(crate) bytes: Vec<u8>,
    /// How many bytes the file has.
    pub(crate) size: u64,
}

/// Reads at most `most` bytes of a regular file.
pub(crate) fn beginning(path: &Path, most: u64) -> Result<Beginning, FileError> {
    let (file, metadata) = open(path)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most {
        let cut = std::str::from_utf8(&bytes).err().filter(|error| error.error_len().is_none());
        bytes.truncate(cut.map_or(bytes.len(), |error| error.valid_up_to()));
    }
    Ok(Beginning { bytes, size: metadata.len() })
}

fn expect_regular(metadata: &fs::Metadata) -> Result<(), FileError> {
    match metadata.file_type() {
        kind if kind.is_dir() => Err(FileError::Directory),
        kind if kind.is_file() => Ok(()),
        _ => Err(FileError::Special),
    }
}

/// Replaces the content of the file that `path` names, or makes it; whoever looks sees the old or the new content.
///
/// Links are followed, directories on the way made. Mode and owner stay. Where the directory does not let us (a
/// single mounted file, a directory of somebody else), the file is written over in place.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let target = paths::real(path)?;
    let old = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(old) = &old {
        expect_regular(old)?;
        if old.permissions().readonly() {
            return Err(FileError::ReadOnly);
        }
    }
    let parent = target.parent().ok_or(FileError::Directory)?;
    fs::create_dir_all(parent).map_err(FileError::Io)?;
    match replace_at_once(&target, parent, old.as_ref(), content) {
        Err(error) if old.is_some() && needs_writing_over(&error) => write_over(&target, content),
        done => done,
    }
    .map_err(FileError::Io)
}

fn replace_at_once(
    target: &Path,
    parent: &Path,
    old: Option<&fs::Metadata>,
    content: &[u8],
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".offshoot-").suffix(".tmp");
    if old.is_none() {
        // A new file gets the mode that any program would give it: the umask takes its part.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(parent)?;
    file.write_all(content)?;
    if let Some(old) = old {
        keep_owner(file.as_file(), old)?;
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    match old {
        Some(_) => file.persist(target).map(drop),
        // Nobody may have put something there meanwhile.
        None => file.persist_noclobber(target).map(drop),
    }
    .map_err(|error| error.error)
}

fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

fn needs_writing_over(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

fn write_over(target: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(target)?;
    file.write_all(content)?;
    file.sync_all()
}

/// How many files can be changed at once before some wait without need.
const STRIPES: usize = 64;
static QUEUES: [Mutex<()>; STRIPES] = [const { Mutex::const_new(()) }; STRIPES];

/// Waits for a turn to change the file at `path`, whose links were followed: calls are served in the order in which
/// they ask, so that a `write` and a later `edit` of one answer do what their order says.
pub(crate) async fn turn(path: &Path) -> MutexGuard<'static, ()> {
    QUEUES[stripe(path)].lock().await
}

fn stripe(path: &Path) -> usize {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests;
