//! A file system in memory that knows what a disk may forget.
//!
//! It stands where `RealFs` stands. Every file and directory has two states: what programs see, and what is sure to
//! be there after a power cut. Each change is logged, so that all disks a crash could leave behind can be mounted
//! and opened one after the other. Every call can be made to fail. Never touches the disk of the machine.
//!
//! ```
//! use std::path::Path;
//! use session_tree::fs::{Access, Fs};
//! use testkit::sim_fs::{CrashKind, SimFs};
//!
//! let fs = SimFs::new();
//! let file = fs.open(Path::new("/a"), Access::CreateNew)?;
//! file.append(b"kept")?;
//! file.sync()?;
//! fs.sync_dir(Path::new("/"))?;
//! file.append(b"?")?;
//!
//! let left: Vec<_> = fs
//!     .crash_states(1)
//!     .filter(|state| state.completed == fs.op_count() && state.kind == CrashKind::PowerCut)
//!     .map(|state| state.fs.bytes("/a").unwrap_or_default())
//!     .collect();
//! assert!(left.contains(&b"kept".to_vec()) && left.contains(&b"kept?".to_vec()));
//! assert!(left.iter().all(|bytes| bytes.starts_with(b"kept")));
//! # Ok::<(), std::io::Error>(())
//! ```

mod content;
mod crash;
mod fault;
mod file;
mod image;
mod variants;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_tree::fs::{Access, Fs, FsFile, Meta};

pub use crash::{CrashKind, CrashState, CrashStates};
pub use fault::{Call, Fault};

use fault::Faults;
use file::SimFile;
use image::{Image, Ino, Name, Node, Op, ROOT};

/// A simulated file system; a clone is another view of the same disk.
#[derive(Clone)]
pub struct SimFs {
    disk: Arc<Mutex<Disk>>,
}

struct Disk {
    image: Image,
    /// The disk before the first logged operation.
    start: Image,
    log: Vec<Op>,
    /// Which open file holds the lock of which file.
    locks: Vec<(Ino, u64)>,
    handles: u64,
    capacity: Option<u64>,
    syncs_ignored: bool,
    faults: Faults,
}

impl Default for SimFs {
    fn default() -> Self {
        Self::new()
    }
}

impl SimFs {
    /// Makes an empty disk.
    pub fn new() -> Self {
        Self::mounted(Image::new())
    }

    fn mounted(image: Image) -> Self {
        let disk = Disk {
            start: image.clone(),
            image,
            log: Vec::new(),
            locks: Vec::new(),
            handles: 0,
            capacity: None,
            syncs_ignored: false,
            faults: Faults::default(),
        };
        Self { disk: Arc::new(Mutex::new(disk)) }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        // A test that panicked elsewhere has already failed; its disk may still be looked at.
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call and lets it fail if it is its turn.
    fn enter(&self, call: Call) -> io::Result<MutexGuard<'_, Disk>> {
        let mut disk = self.disk();
        match disk.faults.next(call) {
            Some(fault) => Err(fault.to_error()),
            None => Ok(disk),
        }
    }

    /// Puts a file there, with its directories, durable at once. Counts as no call; replaces what was there.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        let path = path.as_ref();
        if let Ok((dir, name)) = disk.place(path)
            && disk.image.entry(dir, &name).is_some()
        {
            disk.perform(Op::Remove { dir, name });
        }
        if let Some(parent) = path.parent() {
            disk.make_dirs(parent, true)?;
        }
        let (dir, name) = disk.place(path)?;
        let ino = disk.create(dir, name, 0o600)?;
        disk.perform(Op::Write { ino, bytes: bytes.into() });
        disk.perform(Op::Sync { ino, honest: true });
        disk.perform(Op::SyncDir { dir, honest: true });
        Ok(())
    }

    /// Makes directories, durable at once. Counts as no call.
    pub fn put_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.disk().make_dirs(path.as_ref(), true)
    }

    /// Appends as another program would that knows no locks. Counts as no call.
    pub fn append_as_other(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        let ino = disk.find_file(path.as_ref())?;
        disk.perform(Op::Write { ino, bytes: bytes.into() });
        Ok(())
    }

    /// Sets the permission bits of a file. Counts as no call.
    pub fn set_mode(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
        let mut disk = self.disk();
        let ino = disk.find_file(path.as_ref())?;
        disk.perform(Op::SetMode { ino, mode });
        Ok(())
    }

    /// Returns what programs see in a file now. Counts as no call.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let disk = self.disk();
        let ino = disk.find_file(path.as_ref()).ok()?;
        Some(disk.image.file(ino)?.now.as_slice().to_vec())
    }

    /// Returns the paths of all files, in order. Counts as no call.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.disk().image.paths()
    }

    /// Limits how many bytes all files may have together.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk().capacity = bytes;
    }

    /// Lets every sync report success without making anything durable, as a disk does that lies.
    pub fn ignore_syncs(&self, ignored: bool) {
        self.disk().syncs_ignored = ignored;
    }

    /// Lets the `n`-th call from now on fail, the next one being the first.
    pub fn fail_at(&self, n: u64, fault: Fault) {
        self.disk().faults.arm(n, fault);
    }

    /// Forgets all faults that were asked for.
    pub fn clear_faults(&self) {
        self.disk().faults.clear();
    }

    /// Returns the number of faults that took effect.
    pub fn faults_fired(&self) -> u64 {
        self.disk().faults.fired()
    }

    /// Returns all calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.disk().faults.calls().to_vec()
    }

    /// Returns the number of changes so far: a point in time for [`CrashState::completed`].
    pub fn op_count(&self) -> usize {
        self.disk().log.len()
    }

    /// Clears the log of changes; data that is not durable yet stays so.
    pub fn forget_history(&self) {
        let mut disk = self.disk();
        disk.start = disk.image.clone();
        disk.log.clear();
    }

    /// Returns a separate disk in the state that a new process would find: nothing is lost, no lock is held.
    pub fn killed(&self) -> SimFs {
        Self::mounted(self.disk().image.remounted())
    }

    /// Walks all disks that a crash after any logged change could leave behind; choices are drawn from `seed`.
    pub fn crash_states(&self, seed: u64) -> CrashStates {
        let disk = self.disk();
        CrashStates::new(disk.start.clone(), disk.log.clone(), 0, seed)
    }

    /// Walks all disks that a crash right now could leave behind; choices are drawn from `seed`.
    pub fn crash_states_now(&self, seed: u64) -> CrashStates {
        let disk = self.disk();
        CrashStates::new(disk.image.clone(), Vec::new(), disk.log.len(), seed)
    }
}

impl fmt::Debug for SimFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disk = self.disk();
        let mut map = f.debug_map();
        for path in disk.image.paths() {
            let text = disk.find_file(&path).ok().and_then(|ino| {
                Some(String::from_utf8_lossy(disk.image.file(ino)?.now.as_slice()).into_owned())
            });
            map.entry(&path, &text.unwrap_or_default());
        }
        map.finish()
    }
}

impl Disk {
    fn perform(&mut self, op: Op) {
        self.image.apply(&op);
        self.log.push(op);
    }

    fn find(&self, path: &Path) -> io::Result<Ino> {
        let mut at = ROOT;
        for name in names(path) {
            at = self.image.lookup(at, name)?;
        }
        Ok(at)
    }

    fn find_file(&self, path: &Path) -> io::Result<Ino> {
        let ino = self.find(path)?;
        match self.image.node(ino) {
            Node::File(_) => Ok(ino),
            Node::Dir(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn find_dir(&self, path: &Path) -> io::Result<Ino> {
        let ino = self.find(path)?;
        match self.image.node(ino) {
            Node::Dir(_) => Ok(ino),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Finds the directory in which a name is, or would be.
    fn place(&self, path: &Path) -> io::Result<(Ino, Name)> {
        let mut names = names(path);
        let name = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        let mut dir = ROOT;
        for name in names {
            dir = self.image.lookup(dir, name)?;
        }
        match self.image.node(dir) {
            Node::Dir(_) => Ok((dir, name.into())),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn create(&mut self, dir: Ino, name: Name, mode: u32) -> io::Result<Ino> {
        if self.image.entry(dir, &name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let ino = self.image.next_ino();
        self.perform(Op::CreateFile { dir, name, mode });
        Ok(ino)
    }

    fn make_dirs(&mut self, path: &Path, durable: bool) -> io::Result<()> {
        let mut dir = ROOT;
        for name in names(path) {
            if self.image.entry(dir, name).is_none() {
                self.perform(Op::CreateDir { dir, name: name.into() });
                if durable {
                    self.perform(Op::SyncDir { dir, honest: true });
                }
            }
            dir = self.image.lookup(dir, name)?;
            if let Node::File(_) = self.image.node(dir) {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        Ok(())
    }

    /// The bytes that may still be written.
    fn room(&self) -> u64 {
        self.capacity.map_or(u64::MAX, |all| all.saturating_sub(self.image.used()))
    }
}

impl Fs for SimFs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FsFile>> {
        let mut disk = self.enter(Call::Open)?;
        let ino = match access {
            Access::CreateNew => {
                let (dir, name) = disk.place(path)?;
                disk.create(dir, name, 0o600)?
            }
            Access::Read | Access::Append => disk.find_file(path)?,
        };
        let needed = if access == Access::Read { 0o400 } else { 0o600 };
        if disk.image.file(ino).is_some_and(|file| file.mode & needed != needed) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        disk.handles += 1;
        Ok(Box::new(SimFile::new(self.clone(), ino, disk.handles, access != Access::Read)))
    }

    fn metadata(&self, path: &Path) -> io::Result<Meta> {
        let disk = self.enter(Call::Metadata)?;
        let ino = disk.find(path)?;
        Ok(disk.image.meta(ino))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let disk = self.enter(Call::Canonical)?;
        disk.find(path)?;
        Ok(Path::new("/").join(names(path).iter().collect::<PathBuf>()))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let disk = self.enter(Call::ReadDir)?;
        let dir = disk.find_dir(path)?;
        Ok(disk.image.names(dir).map(|name| path.join(name)).collect())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.enter(Call::CreateDir)?.make_dirs(path, false)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.enter(Call::Link)?;
        let ino = disk.find_file(from)?;
        let (dir, name) = disk.place(to)?;
        if disk.image.entry(dir, &name).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        disk.perform(Op::Link { dir, name, ino });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.enter(Call::Rename)?;
        let ino = disk.find_file(from)?;
        let (from, to) = (disk.place(from)?, disk.place(to)?);
        match disk.image.entry(to.0, &to.1) {
            // Two names of one file: the standard asks for nothing to happen.
            Some(old) if old == ino => return Ok(()),
            Some(old) if matches!(disk.image.node(old), Node::Dir(_)) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            _ => {}
        }
        disk.perform(Op::Rename { from, to });
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.enter(Call::Remove)?;
        disk.find_file(path)?;
        let (dir, name) = disk.place(path)?;
        disk.perform(Op::Remove { dir, name });
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.enter(Call::SyncDir)?;
        let dir = disk.find_dir(path)?;
        let honest = !disk.syncs_ignored;
        disk.perform(Op::SyncDir { dir, honest });
        Ok(())
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        let disk = self.enter(Call::FreeSpace)?;
        disk.find(path)?;
        Ok(disk.room())
    }
}

/// The names on the way to a path; a relative path starts at the root.
fn names(path: &Path) -> Vec<&OsStr> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => {
                names.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    names
}

#[cfg(test)]
mod tests;
