//! A simulated file system that skips or ignores some calls, one kind at a time.
//!
//! To the disk, a call that does nothing looks the same as a call that was never made, so the engine stays unchanged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use session_tree::fs::{Access, Fs, FsFile, Meta};
use testkit::sim_fs::SimFs;

/// A system call that is skipped, or whose result is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiskBug {
    /// File contents are never synced.
    NoFileSync = 1,
    /// Directories are never synced.
    NoDirectorySync,
    /// A new file gets its name before its contents are synced.
    NameBeforeContent,
    /// A file is replaced by overwriting it.
    RewriteInPlace,
    /// A migration does not keep the original.
    NoBackup,
    /// A short write is treated as a complete one.
    ShortWriteUnnoticed,
    /// A partial write is not rolled back.
    NoRollback,
    /// A failed sync is treated as a successful one.
    SyncErrorIgnored,
}

static CURRENT: AtomicU8 = AtomicU8::new(0);

/// Selects the bug of the whole process, or none.
pub(super) fn select(bug: Option<DiskBug>) {
    CURRENT.store(bug.map_or(0, |bug| bug as u8), Ordering::Relaxed);
}

fn has(bug: DiskBug) -> bool {
    CURRENT.load(Ordering::Relaxed) == bug as u8
}

/// Wraps a simulated disk so that the selected bug takes effect.
pub(super) fn faulty(fs: &SimFs) -> Arc<dyn Fs> {
    Arc::new(FaultyFs(fs.clone()))
}

#[derive(Debug)]
struct FaultyFs(SimFs);

impl FaultyFs {
    fn overwrite(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.0.bytes(from).unwrap_or_default();
        let file = self.0.open(to, Access::Append)?;
        file.set_len(0)?;
        file.append(&bytes)?;
        self.0.remove_file(from)
    }
}

impl Fs for FaultyFs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FsFile>> {
        let file = self.0.open(path, access)?;
        Ok(Box::new(FaultyFile { file, is_new: access == Access::CreateNew }))
    }

    fn metadata(&self, path: &Path) -> io::Result<Meta> {
        self.0.metadata(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.read_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir_all(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let is_backup = to.extension().is_some_and(|ending| ending.to_string_lossy().starts_with("bak"));
        if has(DiskBug::NoBackup) && is_backup { Ok(()) } else { self.0.hard_link(from, to) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if has(DiskBug::RewriteInPlace) { self.overwrite(from, to) } else { self.0.rename(from, to) }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if has(DiskBug::NoDirectorySync) { Ok(()) } else { self.0.sync_dir(path) }
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        self.0.free_space(path)
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn FsFile>,
    is_new: bool,
}

impl FsFile for FaultyFile {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(position, buffer)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.append(bytes)?;
        Ok(if has(DiskBug::ShortWriteUnnoticed) { bytes.len() } else { written })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if has(DiskBug::NoRollback) { Ok(()) } else { self.file.set_len(len) }
    }

    fn sync(&self) -> io::Result<()> {
        if has(DiskBug::NoFileSync) || has(DiskBug::NameBeforeContent) && self.is_new {
            return Ok(());
        }
        let synced = self.file.sync();
        if has(DiskBug::SyncErrorIgnored) { Ok(()) } else { synced }
    }

    fn metadata(&self) -> io::Result<Meta> {
        self.file.metadata()
    }

    fn make_private(&self) -> io::Result<()> {
        self.file.make_private()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
