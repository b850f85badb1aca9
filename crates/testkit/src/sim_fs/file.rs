//! An open file of the simulated disk.

use std::fmt;
use std::io;
use std::sync::MutexGuard;

use session_tree::fs::{FsFile, Meta};

use super::fault::{Call, Fault};
use super::image::{Ino, Op};
use super::{Disk, SimFs};

/// An open file. Its lock dies with it.
pub(super) struct SimFile {
    fs: SimFs,
    ino: Ino,
    handle: u64,
    writable: bool,
}

impl SimFile {
    pub(super) fn new(fs: SimFs, ino: Ino, handle: u64, writable: bool) -> Self {
        Self { fs, ino, handle, writable }
    }

    fn enter_for_writing(&self, call: Call) -> io::Result<MutexGuard<'_, Disk>> {
        let disk = self.fs.enter(call)?;
        if self.writable { Ok(disk) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    /// The open file that holds the lock now.
    fn holder(&self, disk: &Disk) -> Option<u64> {
        disk.locks.iter().find(|(ino, _)| *ino == self.ino).map(|(_, handle)| *handle)
    }

    fn release(&self, disk: &mut Disk) {
        disk.locks.retain(|(ino, handle)| (*ino, *handle) != (self.ino, self.handle));
    }

    /// Writes as much as there is room for.
    fn write(&self, disk: &mut Disk, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(disk.room()).unwrap_or(usize::MAX);
        let fits = bytes.len().min(room);
        if fits == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.perform(Op::Write { ino: self.ino, bytes: bytes[..fits].into() });
        Ok(fits)
    }

    fn write_badly(&self, disk: &mut Disk, bytes: &[u8], fault: Fault) -> io::Result<usize> {
        let part = fault.written().unwrap_or(0).min(bytes.len());
        let written = if part > 0 { self.write(disk, &bytes[..part])? } else { 0 };
        if fault.error_kind().is_some() { Err(fault.to_error()) } else { Ok(written) }
    }
}

impl FsFile for SimFile {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let disk = self.fs.enter(Call::Read)?;
        let Some(file) = disk.image.file(self.ino) else { return Ok(0) };
        let from = usize::try_from(position).unwrap_or(usize::MAX);
        let rest = file.now.as_slice().get(from..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.fs.disk();
        let fault = disk.faults.next(Call::Append);
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        match fault {
            Some(fault) => self.write_badly(&mut disk, bytes, fault),
            None => self.write(&mut disk, bytes),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.enter_for_writing(Call::SetLen)?;
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        disk.perform(Op::SetLen { ino: self.ino, len });
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.fs.disk();
        if let Some(fault) = disk.faults.next(Call::Sync) {
            disk.perform(Op::SyncFailed { ino: self.ino });
            return Err(fault.to_error());
        }
        let honest = !disk.syncs_ignored;
        disk.perform(Op::Sync { ino: self.ino, honest });
        Ok(())
    }

    fn metadata(&self) -> io::Result<Meta> {
        let disk = self.fs.enter(Call::Metadata)?;
        Ok(disk.image.meta(self.ino))
    }

    fn make_private(&self) -> io::Result<()> {
        let mut disk = self.fs.enter(Call::MakePrivate)?;
        disk.perform(Op::SetMode { ino: self.ino, mode: 0o600 });
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut disk = self.fs.enter(Call::Lock)?;
        if self.holder(&disk).is_some() {
            return Ok(false);
        }
        disk.locks.push((self.ino, self.handle));
        Ok(true)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut disk = self.fs.disk();
        let fault = disk.faults.next(Call::Unlock);
        // Whatever a system reports here, the lock is gone.
        self.release(&mut disk);
        fault.map_or(Ok(()), |fault| Err(fault.to_error()))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.release(&mut self.fs.disk());
    }
}

impl fmt::Debug for SimFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimFile(inode {}, handle {})", self.ino, self.handle)
    }
}
