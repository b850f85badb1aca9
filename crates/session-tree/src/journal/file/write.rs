//! Appending to a file, creating it, replacing it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::{FileJournal, State};
use crate::error::{Error, FileLoss, ReadOnlyReason, Result};
use crate::fs::{Access, Appender, FileId, FsFile};
use crate::journal::{
    Capabilities, Journal, Locked, NewLines, Replaced, VerifyCopy, WriteCopy, copy_range, read_range,
};

/// The suffix of unfinished files.
const UNFINISHED: &str = ".session-tree.tmp";

/// The failures that later writes have to take into account.
#[derive(Debug, Default)]
pub(super) struct WriteState {
    /// The operation whose failure left the state of the disk unknown, and its error.
    poisoned: Option<(&'static str, io::Error)>,
    /// Directories in which a new name may not have reached the disk yet.
    unsynced_directories: Vec<PathBuf>,
}

impl FileJournal {
    fn directory(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    fn name_with(&self, prefix: &str, suffix: &str) -> PathBuf {
        let mut name = OsString::from(prefix);
        name.push(self.path.file_name().unwrap_or_default());
        name.push(suffix);
        self.path.with_file_name(name)
    }

    /// Creates an empty file beside the journal, private to its owner. Its lock shows other processes that it is in use.
    fn temporary(&self) -> Result<(PathBuf, Box<dyn FsFile>)> {
        self.remove_leftovers();
        let mut tries = 0;
        loop {
            let path = self.name_with(".", &format!(".{}-{tries}{UNFINISHED}", std::process::id()));
            let created = self.fs.open(&path, Access::CreateNew).and_then(|file| {
                let is_kept = self.keep_in_use(&path, file.as_ref());
                is_kept.map(|is_kept| (file, is_kept)).inspect_err(|_| drop(self.fs.remove_file(&path)))
            });
            match created {
                Ok((file, true)) => return Ok((path, file)),
                Ok((_, false)) => tries += 1,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 10_000 => tries += 1,
                Err(source) => return Err(Error::Io { action: "create", path, source }),
            }
        }
    }

    /// Locks a new file. Returns false if another process removed it as a leftover before it was locked.
    fn keep_in_use(&self, path: &Path, file: &dyn FsFile) -> io::Result<bool> {
        Ok(file.try_lock()? && self.is_name_of(path, file)?)
    }

    fn is_name_of(&self, path: &Path, file: &dyn FsFile) -> io::Result<bool> {
        match self.fs.metadata(path) {
            Ok(named) => Ok(named.id == file.metadata()?.id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the unfinished files of processes that were killed. A failure leaves clutter, nothing else.
    fn remove_leftovers(&self) {
        let directory = self.directory();
        let (Ok(files), Ok(real)) = (self.fs.read_dir(directory), self.fs.canonical(directory)) else {
            return;
        };
        for path in files {
            let Some(name) = path.file_name() else { continue };
            let bytes = name.as_encoded_bytes();
            let is_ours = bytes.starts_with(b".") && bytes.ends_with(UNFINISHED.as_bytes());
            // A link may lead anywhere.
            if is_ours && self.fs.canonical(&path).is_ok_and(|target| target == real.join(name)) {
                self.remove_leftover(&path);
            }
        }
    }

    fn remove_leftover(&self, path: &Path) {
        let Ok(file) = self.fs.open(path, Access::Append) else { return };
        let is_private = file.metadata().is_ok_and(|meta| meta.is_file && meta.mode == 0o600);
        let is_unused = || matches!(file.try_lock(), Ok(true));
        if is_private && is_unused() && matches!(self.is_name_of(path, file.as_ref()), Ok(true)) {
            drop(self.fs.remove_file(path));
        }
    }

    /// Creates the file with the bytes that `write` produces: all of them, or no file.
    fn create_with(&mut self, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<()> {
        let directory = self.directory().to_path_buf();
        let new_names = self.directories_to_sync();
        self.fs.create_dir_all(&directory).map_err(Error::io("create", &directory))?;
        let (temporary, file) = self.temporary()?;
        // Read now: nothing may fail after the file has its name.
        let id = file.metadata().map(|meta| meta.id).map_err(Error::io("create", &self.path));
        let result = id.and_then(|id| {
            self.fill_copy(file.as_ref(), &temporary, write, verify)?;
            let copy = self.link_or_copy(&temporary, file.as_ref(), &self.path)?;
            Ok(copy.unwrap_or((file, id)))
        });
        // The temporary name is removed in any case. A failure leaves clutter that no list shows.
        drop(self.fs.remove_file(&temporary));
        let (file, id) = result?;
        drop(file.unlock());
        self.state = State::Open { file, id };
        self.sync_names(new_names);
        Ok(())
    }

    /// Lists the directories that get a new name when the file is created: its own, and those above directories
    /// that do not exist yet.
    fn directories_to_sync(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for directory in self.directory().ancestors().filter(|path| !path.as_os_str().is_empty()) {
            found.push(directory.to_path_buf());
            if self.fs.metadata(directory).is_ok() {
                break;
            }
        }
        found
    }

    /// Makes new names durable. Directories that fail are synced again by the next `sync`, which reports the error.
    fn sync_names(&mut self, directories: Vec<PathBuf>) {
        let failed = directories.into_iter().filter(|directory| self.fs.sync_dir(directory).is_err());
        self.write_state.unsynced_directories = failed.collect();
    }

    /// Gives a file a second name, which must be free. Where the system has no hard links, the second name is that of a copy,
    /// which is returned.
    fn link_or_copy(
        &self,
        from: &Path,
        file: &dyn FsFile,
        to: &Path,
    ) -> Result<Option<(Box<dyn FsFile>, FileId)>> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: to.into() },
            _ => Error::Io { action: "create", path: to.into(), source },
        };
        match self.fs.hard_link(from, to) {
            Ok(()) => return Ok(None),
            Err(error) if has_no_links(&error) => {}
            Err(error) => return Err(failed(error)),
        }
        let copy = self.fs.open(to, Access::CreateNew).map_err(failed)?;
        match copy_all(file, copy.as_ref()).and_then(|()| copy.metadata()) {
            Ok(meta) => Ok(Some((copy, meta.id))),
            Err(source) => {
                drop(self.fs.remove_file(to));
                Err(Error::Io { action: "write", path: to.into(), source })
            }
        }
    }

    /// Gives a file the first of several names that is free.
    fn link_to_free(&self, from: &Path, file: &dyn FsFile, name: impl Fn(u32) -> PathBuf) -> Result<PathBuf> {
        for path in (0..10_000).map(name) {
            match self.link_or_copy(from, file, &path) {
                Err(Error::Exists { .. }) => {}
                linked => return linked.map(|_| path),
            }
        }
        Err(Error::Exists { path: self.path.clone() })
    }

    /// Removes the bytes of a failed write, unless another program wrote after them.
    fn undo_append(&mut self, at: u64, lines: &[u8], source: io::Error) -> Error {
        let path = self.path.clone();
        let State::Open { file, .. } = &self.state else { return Error::Append { path, source } };
        match remainder_of(file.as_ref(), at, lines) {
            Remainder::Nothing => return Error::Append { path, source },
            Remainder::OnlyOurs if file.set_len(at).is_ok() => {
                if let Err(error) = file.sync() {
                    // After a power cut the entry could reappear although it was reported as not written.
                    self.write_state.poisoned = Some(("append", error));
                }
                return Error::Append { path, source };
            }
            Remainder::OnlyOurs | Remainder::Unknown => {}
        }
        // Another program wrote after the fragment, or truncating failed: end the line so that no later line continues it.
        if !matches!(file.append(b"\n"), Ok(1)) {
            self.write_state.poisoned = Some(("append", Error::repeated(&source)));
        }
        Error::TornAppend { path, source }
    }

    /// Keeps the current file under a second name.
    fn keep(&self, suffix: &str) -> Result<PathBuf> {
        let State::Open { file, .. } = &self.state else { return Err(Error::NotSaved) };
        let name = |count| match count {
            0 => self.name_with("", &format!(".{suffix}")),
            count => self.name_with("", &format!(".{suffix}-{count}")),
        };
        self.link_to_free(&self.path, file.as_ref(), name)
    }

    fn fill_copy(
        &self,
        file: &dyn FsFile,
        path: &Path,
        write: WriteCopy<'_>,
        verify: VerifyCopy<'_>,
    ) -> Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 20, Appender(file));
        write(self, &mut out).and_then(|()| out.flush()).map_err(Error::io("write", path))?;
        drop(out);
        file.sync().map_err(Error::io("sync", path))?;
        verify(&file)
    }

    fn check_writable(&self) -> Result<()> {
        if self.protected {
            return Err(Error::ReadOnly { reason: ReadOnlyReason::Protected });
        }
        match &self.write_state.poisoned {
            Some((operation, error)) => {
                let source = Error::repeated(error);
                Err(Error::Poisoned { path: self.path.clone(), operation, source })
            }
            None => Ok(()),
        }
    }
}

impl Journal for FileJournal {
    fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn capabilities(&self) -> Capabilities {
        // Not exclusive: pi appends without a lock.
        Capabilities { read_only: self.protected, replace: true, ..Capabilities::default() }
    }

    fn exists(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    fn lock(&mut self) -> Result<Locked> {
        self.check_writable()?;
        let (file, id) = match &self.state {
            State::Unsaved(lines) => return Ok(Locked { len: lines.len() as u64, loss: None }),
            State::Open { file, id } => (file, *id),
        };
        self.take_lock(file.as_ref())?;
        // Under the lock the path must still name the file that is locked.
        let state = match self.fs.metadata(&self.path) {
            Ok(meta) if meta.id == id => Ok(Locked { len: meta.len, loss: None }),
            Ok(_) => file.end().map(|len| Locked { len, loss: Some(FileLoss::Replaced) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                file.end().map(|len| Locked { len, loss: Some(FileLoss::Deleted) })
            }
            Err(error) => Err(error),
        };
        let locked = state.map_err(|source| {
            drop(file.unlock());
            Error::Io { action: "read", path: self.path.clone(), source }
        })?;
        self.locked_len = locked.len;
        Ok(locked)
    }

    fn set_lock_wait(&mut self, limit: std::time::Duration) {
        self.lock_wait.limit = limit;
    }

    fn unlock(&mut self) {
        if let State::Open { file, .. } = &self.state {
            // Ignored: closing the descriptor releases the lock.
            drop(file.unlock());
        }
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.check_writable()?;
        match &mut self.state {
            State::Unsaved(lines) if !new.publish => {
                lines.extend_from_slice(new.bytes);
                Ok(())
            }
            State::Unsaved(lines) => {
                let all = [lines.as_slice(), new.bytes].concat();
                self.create_with(&mut |_, out| out.write_all(&all), &mut |_| Ok(()))
            }
            State::Open { file, .. } => {
                let written = write_whole(file.as_ref(), new.at, new.bytes);
                written.map_err(|source| self.undo_append(new.at, new.bytes, source))
            }
        }
    }

    fn sync(&mut self) -> Result<()> {
        let State::Open { file, .. } = &self.state else { return Ok(()) };
        if self.protected {
            return Ok(());
        }
        self.check_writable()?;
        let names = &self.write_state.unsynced_directories;
        let result = file.sync().and_then(|()| names.iter().try_for_each(|name| self.fs.sync_dir(name)));
        match result {
            Ok(()) => {
                self.write_state.unsynced_directories.clear();
                Ok(())
            }
            Err(source) => {
                // The kernel may have dropped the pages, and would report success for the next sync.
                self.write_state.poisoned = Some(("sync", Error::repeated(&source)));
                Err(Error::Sync { path: self.path.clone(), appended: Vec::new(), source })
            }
        }
    }

    fn replace(&mut self, keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        self.check_writable()?;
        if let State::Unsaved(_) = &self.state {
            // There is no old file to keep.
            return self.create_with(write, verify).map(|()| Replaced::default());
        }
        // The new bytes are made from these; a line that was written after the lock was taken is not among them.
        let before = self.locked_len;
        let needed = before + before / 10;
        let available = self.fs.free_space(self.directory()).unwrap_or(u64::MAX);
        if available < needed {
            return Err(Error::NoSpace { path: self.path.clone(), needed, available });
        }
        let (temporary, copy) = self.temporary()?;
        let kept = self.fill_copy(copy.as_ref(), &temporary, write, verify).and_then(|()| self.keep(keep_as));
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                drop(self.fs.remove_file(&temporary));
                return Err(error);
            }
        };
        let directory = self.directory().to_path_buf();
        // The second name must be durable before the first one names the new file. The copy has been locked since it
        // was created: a writer that waits for the lock of the old file finds the new one locked too.
        let renamed = self
            .fs
            .sync_dir(&directory)
            .and_then(|()| copy.metadata())
            .and_then(|meta| self.unchanged(before).map(|()| meta))
            .and_then(|meta| self.fs.rename(&temporary, &self.path).map(|()| meta));
        match renamed {
            Ok(meta) => {
                let old = std::mem::replace(&mut self.state, State::Open { file: copy, id: meta.id });
                self.sync_names(vec![directory]);
                let State::Open { file, .. } = old else { return Ok(Replaced::default()) };
                // The old bytes are as private as the new ones. Best effort: we may not own the file.
                drop(file.make_private());
                Ok(Replaced { kept: Some(kept), old: Some(Box::new(file)) })
            }
            Err(source) => {
                drop(self.fs.remove_file(&temporary));
                drop(self.fs.remove_file(&kept));
                Err(Error::Io { action: "replace", path: self.path.clone(), source })
            }
        }
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        let access = if self.protected { Access::Read } else { Access::Append };
        let journal = FileJournal::open(self.fs.clone(), &self.path, access)?;
        if journal.file_id() == self.file_id() {
            return Ok(None);
        }
        Ok(Some(Box::new(journal.with_lock_wait(self.lock_wait.clone()))))
    }

    fn rescue(&self, lines: &mut dyn Read) -> Result<Option<PathBuf>> {
        let (temporary, file) = self.temporary()?;
        let rescue = self
            .fill_copy(file.as_ref(), &temporary, &mut |_, out| io::copy(lines, out).map(drop), &mut |_| {
                Ok(())
            })
            .and_then(|()| {
                let stem = self.path.file_stem().unwrap_or_default();
                self.link_to_free(&temporary, file.as_ref(), |count| {
                    let mut name = stem.to_os_string();
                    name.push(format!(".rescue-{}.jsonl", count + 1));
                    self.path.with_file_name(name)
                })
            });
        drop(self.fs.remove_file(&temporary));
        let rescue = rescue?;
        self.fs.sync_dir(self.directory()).map_err(Error::io("sync", self.directory()))?;
        Ok(Some(rescue))
    }
}

impl FileJournal {
    fn unchanged(&self, len: u64) -> io::Result<()> {
        let State::Open { file, .. } = &self.state else { return Ok(()) };
        // A program without a lock may have appended.
        if file.end()? == len { Ok(()) } else { Err(io::ErrorKind::ResourceBusy.into()) }
    }
}

/// Writes lines with one system call if possible. After a short write the next call reports the reason.
fn write_whole(file: &dyn FsFile, at: u64, lines: &[u8]) -> io::Result<()> {
    let mut rest = lines;
    let mut stalls = 0;
    while !rest.is_empty() {
        match file.append(rest) {
            Ok(0) if stalls == 1 => {
                return Err(io::Error::new(io::ErrorKind::WriteZero, "the system takes no more bytes"));
            }
            Ok(0) => stalls += 1,
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if rest.is_empty() {
            return Ok(());
        }
        let expected = at + (lines.len() - rest.len()) as u64;
        if file.end()? != expected {
            // A program without a lock wrote at the same time: the rest would not follow the beginning.
            return Err(io::Error::new(io::ErrorKind::WriteZero, "another program wrote at the same time"));
        }
    }
    Ok(())
}

/// The bytes that a failed write left at the end of a file.
enum Remainder {
    Nothing,
    /// A part of the new bytes, and nothing after it.
    OnlyOurs,
    Unknown,
}

fn remainder_of(file: &dyn FsFile, at: u64, lines: &[u8]) -> Remainder {
    let len = file.end();
    let extra = len.ok().and_then(|len| len.checked_sub(at)).and_then(|extra| usize::try_from(extra).ok());
    let Some(extra) = extra else { return Remainder::Unknown };
    if extra == 0 {
        return Remainder::Nothing;
    }
    let found = || read_range(&file, at, extra);
    match lines.get(..extra) {
        Some(ours) if found().is_ok_and(|found| found == ours) => Remainder::OnlyOurs,
        _ => Remainder::Unknown,
    }
}

/// Appends the bytes of one file to another, and makes them durable.
fn copy_all(from: &dyn FsFile, to: &dyn FsFile) -> io::Result<()> {
    copy_range(&from, 0..from.end()?, &mut Appender(to))?;
    to.sync()
}

fn has_no_links(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::CrossesDevices
    )
}
