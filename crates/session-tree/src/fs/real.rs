//! The file system of the operating system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::OFlags;

use super::{Access, FileId, Fs, FsFile, LockHolder, Meta};
use crate::time::Timestamp;

/// The file system of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

impl Fs for RealFs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FsFile>> {
        let (is_new, mut flags) = (access == Access::CreateNew, OFlags::NONBLOCK | OFlags::CLOEXEC);
        if is_new {
            flags |= OFlags::NOFOLLOW;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(access != Access::Read).create_new(is_new).mode(0o600);
        // Opening a pipe that has the name of a session must not block.
        let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
        if is_new {
            make_private(&file)?;
        }
        Ok(Box::new(RealFile(file)))
    }

    fn metadata(&self, path: &Path) -> io::Result<Meta> {
        std::fs::metadata(path).map(|meta| convert(&meta))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Sets the mode of a file to 0600. The mode requested at creation is only an upper bound: the umask may clear bits.
fn make_private(file: &File) -> io::Result<()> {
    if file.metadata()?.permissions().mode() & 0o777 != 0o600 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn convert(meta: &std::fs::Metadata) -> Meta {
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let millis = since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
    Meta {
        len: meta.len(),
        modified: Timestamp::from_millis(millis),
        changed: meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec()),
        id: FileId { device: meta.dev(), number: meta.ino() },
        is_file: meta.is_file(),
        is_dir: meta.is_dir(),
        mode: meta.mode() & 0o777,
    }
}

#[derive(Debug)]
struct RealFile(File);

impl FsFile for RealFile {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(buffer, position)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut &self.0, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn metadata(&self) -> io::Result<Meta> {
        self.0.metadata().map(|meta| convert(&meta))
    }

    fn end(&self) -> io::Result<u64> {
        // Cheaper than all of the metadata. Nothing here depends on the position of the file.
        io::Seek::seek(&mut &self.0, io::SeekFrom::End(0))
    }

    fn make_private(&self) -> io::Result<()> {
        make_private(&self.0)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // Some network file systems have no locks. Appends by others are still detected by the length.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock_holder(&self) -> Option<LockHolder> {
        let id = self.metadata().ok()?.id;
        // Only Linux has this file; elsewhere the holder stays unknown.
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        let process = holder_in(&locks, id)?;
        let program = std::fs::read_to_string(format!("/proc/{process}/comm")).ok();
        let program = program.map(|name| name.trim_end().to_owned()).filter(|name| !name.is_empty());
        Some(LockHolder { process, program })
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

/// Finds the process that holds a lock on a file, in the text of `/proc/locks`:
///
/// ```text
/// 1: FLOCK  ADVISORY  WRITE 2387 fd:01:1842 0 EOF
/// 1: -> FLOCK  ADVISORY  WRITE 2390 fd:01:1842 0 EOF      waits
/// ```
///
/// Some file systems report another device there than in the metadata of a file, so a single holder of the same file
/// number counts too.
fn holder_in(locks: &str, id: FileId) -> Option<u32> {
    let mut same_number = Vec::new();
    for line in locks.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, place, ..] = fields.as_slice() else { continue };
        let (Some((device, number)), Ok(process)) = (place.rsplit_once(':'), process.parse()) else {
            continue;
        };
        if number.parse() != Ok(id.number) {
            continue;
        }
        if device_number(device) == Some(id.device) {
            return Some(process);
        }
        same_number.push(process);
    }
    match same_number.as_slice() {
        [process] => Some(*process),
        _ => None,
    }
}

/// Reads a device as `/proc/locks` spells it: major and minor number in hexadecimal digits.
fn device_number(device: &str) -> Option<u64> {
    let (major, minor) = device.split_once(':')?;
    let read = |digits| u32::from_str_radix(digits, 16).ok();
    Some(rustix::fs::makedev(read(major)?, read(minor)?))
}

#[cfg(test)]
mod tests;
