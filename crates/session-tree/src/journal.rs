//! The journal: the append-only bytes of one session, and the lock under which they grow.
//!
//! **bytes** -> line -> entry -> tree -> path -> context
//!
//! Its unit is a line at a position. A position is the number of bytes before the line, counting all lines and
//! their line feeds; a journal that keeps lines elsewhere than in a file (rows of a database, say) only has to
//! number them so. Files, memory and, in tests, a simulated disk stand behind the trait.

mod lines;
mod memory;
mod source;

#[cfg(feature = "fs")]
mod file;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Loss;
use crate::error::Result;

#[cfg(feature = "fs")]
pub use file::FileJournal;
#[cfg(feature = "fs")]
pub(crate) use file::{LockWait, OpenFile};
pub(crate) use lines::{Piece, each_line, each_line_while, read_into, read_range};
pub use memory::MemoryJournal;
pub(crate) use source::{Overlay, Reader, copy_range};

/// Bytes that can be read at a position.
pub trait ReadAt {
    /// Returns the position after the last byte.
    fn len(&self) -> io::Result<u64>;

    /// Tells whether there are no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at a position; a short read is normal, zero is the end.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// The append-only bytes of one session.
///
/// Reading takes no lock. Appending goes: [`lock`](Journal::lock), read what others appended since, then
/// [`append`](Journal::append) at the length that was found, then [`unlock`](Journal::unlock).
pub trait Journal: ReadAt + Send + Sync + fmt::Debug {
    /// Returns the file behind the journal, if it is one. The file need not exist yet.
    fn path(&self) -> Option<&Path>;

    /// Tells whether the journal can be read by others already. A new one is held back until a conversation begins.
    fn exists(&self) -> bool {
        true
    }

    /// Returns what tells the file behind the journal from others, if there is one.
    fn identity(&self) -> Option<(u64, u64)> {
        None
    }

    /// Returns when the file behind the journal last changed, if there is one.
    fn changed(&self) -> io::Result<Option<i64>> {
        Ok(None)
    }

    /// Waits for the append lock and returns the state under it. Fails with [`Error::Locked`](crate::Error::Locked) if
    /// another program holds the lock for longer than the [limit](Journal::set_lock_wait).
    fn lock(&mut self) -> Result<Locked>;

    /// Sets how long to wait for the append lock. Without effect on journals that no other program can lock.
    fn set_lock_wait(&mut self, limit: Duration) {
        let _ = limit;
    }

    /// Gives the append lock back.
    fn unlock(&mut self);

    /// Writes whole lines at `at`, which must be the length found under the lock. All or nothing: after an error
    /// the journal is as before, or the error says what stayed behind.
    ///
    /// `publish`: the journal has to exist afterwards; one that was held back is created with all its lines.
    fn append(&mut self, at: u64, lines: &[u8], publish: bool) -> Result<()>;

    /// Makes everything durable that was appended.
    fn sync(&mut self) -> Result<()>;

    /// Replaces all bytes in one step, under the lock, keeping the old ones under a name ending in `keep_as`.
    ///
    /// `write` produces the new bytes; `verify` reads them back before they take effect. After an error nothing
    /// has changed. Returns where the old bytes are.
    fn replace(
        &mut self,
        keep_as: &str,
        write: WriteCopy<'_>,
        verify: VerifyCopy<'_>,
    ) -> Result<Option<PathBuf>>;

    /// Opens what the path of this journal names now, after somebody replaced the file behind it.
    fn reopened(&self) -> Result<Box<dyn Journal>>;

    /// Saves `lines` beside a journal that was lost, and tells where.
    fn rescue(&self, lines: &mut dyn io::Read) -> Result<Option<PathBuf>>;
}

/// Returns what errors call a journal: its path, or that it is in memory.
pub(crate) fn name_of(journal: &dyn Journal) -> PathBuf {
    journal.path().map_or_else(|| "memory".into(), Path::to_path_buf)
}

/// Produces the new bytes of a journal that is being replaced.
pub type WriteCopy<'a> = &'a mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>;

/// Checks the new bytes of a journal before they take effect.
pub type VerifyCopy<'a> = &'a mut dyn FnMut(&dyn ReadAt) -> Result<()>;

/// The state of a journal under its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locked {
    /// The position after the last byte.
    pub len: u64,
    /// What happened to the journal since it was opened, if it is no longer the same.
    pub loss: Option<Loss>,
}
