//! The journal: the append-only bytes of one session, and the lock under which they grow.
//!
//! **bytes** -> line -> entry -> tree -> path -> context
//!
//! [`Journal`] is the trait of every storage. [`FileJournal`] and [`MemoryJournal`] implement it here; any other storage can
//! be passed to [`Options::open_journal`](crate::Options::open_journal) and
//! [`Options::create_journal`](crate::Options::create_journal). The feature `conformance` adds a test suite for
//! implementations, `journal::conformance`.

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "fs")]
mod file;
mod lines;
mod memory;
mod source;
#[cfg(feature = "fs")]
mod store;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, FileLoss, Result};
use crate::id::EntryId;

#[cfg(feature = "fs")]
pub use file::FileJournal;
#[cfg(feature = "fs")]
pub(crate) use file::LockWait;
#[cfg(feature = "catalog")]
pub(crate) use lines::read_up_to;
pub(crate) use lines::{Piece, each_line, each_line_while, read_into, read_range};
pub use memory::MemoryJournal;
pub(crate) use source::{ChecksumWriter, Overlay, Reader, checksum, copy_range};
#[cfg(feature = "fs")]
pub use store::Store;

/// Bytes that can be read at a position.
pub trait ReadAt {
    /// Returns the position after the last byte.
    fn len(&self) -> io::Result<u64>;

    /// Returns true if there are no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at a position. A short read is normal; zero means the end.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// The append-only bytes of one session.
///
/// # Contract
///
/// **Bytes.** A journal is a sequence of lines, each of which ends with a line feed. A position is the number of bytes before
/// a line. A storage that keeps lines elsewhere than in a file, such as the rows of a database, numbers them in the same way.
/// Bytes that were read once never change, except through [`replace`](Journal::replace). Reading takes no lock and may happen
/// while others append.
///
/// **Appending.** The engine calls [`lock`](Journal::lock), reads the lines that others have appended, calls
/// [`append`](Journal::append) once with the length that `lock` returned, then [`unlock`](Journal::unlock). Between `lock` and
/// `append` no other handle may take the lock and append; the lock of one session does not affect others, and ends with its
/// process. In a database, `lock` begins a transaction and locks the row of the session; `append` inserts the lines and
/// commits, which may end the lock; `unlock` rolls back what is still open.
///
/// **All or nothing.** When `append` returns, all lines can be read by every other handle and survive the death of this
/// process. After an error none of them is there, except after [`Error::TornAppend`]. A storage that cannot determine the
/// outcome, for example after a lost connection, repeats the append and uses [`NewLine::id`] to insert no line twice.
///
/// **Durability.** When [`sync`](Journal::sync) returns, all appended lines survive a power cut. A storage that commits durably
/// has nothing to do there.
///
/// **Errors.** An [`io::Error`] converts into [`Error`] with `?`. The engine adds the [name](Journal::name) and the operation.
///
/// **Optional operations.** Everything with a default may be left out. [`Capabilities`] announces what is there. A storage that
/// offers [`index`](Journal::index) keeps the [head](crate::line_head) of every line beside it, for lines of `append` as for
/// those of `replace`. All lines of its journals are whole.
pub trait Journal: ReadAt + Send + Sync + fmt::Debug + Any {
    /// Returns the name of the journal in messages: a path, or a URL without secrets.
    fn name(&self) -> Cow<'_, str>;

    /// Returns the file behind the journal, if it is one. The file need not exist yet.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// Returns the address under which a [`Store`] opens the journal, without secrets. None for files and in memory.
    fn address(&self) -> Option<&Path> {
        None
    }

    /// Returns the optional operations of this journal.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns a notice about the state of the journal for its user, such as a lost connection. None if all is well.
    fn notice(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Returns true if others can open the journal. A new session may be kept back until its conversation begins: see
    /// [`NewLines::publish`].
    fn exists(&self) -> bool {
        true
    }

    /// Waits for the lock and returns the state of the journal under it. Fails with [`Error::Locked`] if others hold the lock
    /// for longer than the [limit](Journal::set_lock_wait).
    fn lock(&mut self) -> Result<Locked>;

    /// Sets how long `lock` waits. Without effect where no other handle can hold the lock.
    fn set_lock_wait(&mut self, limit: Duration) {
        let _ = limit;
    }

    /// Releases the lock, if it is still held.
    fn unlock(&mut self);

    /// Appends whole lines under the lock.
    fn append(&mut self, new: &NewLines<'_>) -> Result<()>;

    /// Appends whole lines without the lock, if the journal ends at [`NewLines::at`] and is still the one that was opened. Works
    /// with [`Capabilities::unlocked`].
    ///
    /// Returns false if it does not, or if the lines need the lock for another reason; nothing was appended then, and the engine
    /// takes the lock. A database saves a round trip with it.
    fn append_unlocked(&mut self, new: &NewLines<'_>) -> Result<bool> {
        let _ = new;
        Ok(false)
    }

    /// Makes all appended lines durable.
    fn sync(&mut self) -> Result<()>;

    /// Replaces all bytes in one step, under the lock. The engine migrates old versions with it.
    ///
    /// `write` receives the old bytes and produces the new ones; `verify` reads the new bytes before they take effect. The old
    /// bytes are kept under a name that ends in `keep_as`. After an error nothing has changed.
    fn replace(&mut self, keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        let _ = (keep_as, write, verify);
        Err(io::Error::from(io::ErrorKind::Unsupported).into())
    }

    /// Returns the bytes from a position on, up to the end or to the end of some line before it, in one request. None without
    /// [`Capabilities::changes`].
    ///
    /// The engine then asks for these where it would ask for the length and read: to follow a session, and under the lock.
    fn changes(&self, since: u64) -> io::Result<Option<Vec<u8>>> {
        let _ = since;
        Ok(None)
    }

    /// Calls `take` with every line from a position on, in order, without their bodies. Works with [`Capabilities::index`].
    ///
    /// The engine then opens a session without reading its bodies, except that of the last entry and those of repeated ids.
    fn index(&self, since: u64, take: TakeIndexLine<'_>) -> io::Result<()> {
        let _ = (since, take);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the lines of entries, without line feeds and in the order of the ids, in one request. Works with
    /// [`Capabilities::lines`].
    ///
    /// The last line of an id counts; an id without a line is [`NotFound`](io::ErrorKind::NotFound). The engine then reads one
    /// entry by its id, and the path of a context with one request.
    fn lines(&self, ids: &[EntryId]) -> io::Result<Vec<Vec<u8>>> {
        let _ = ids;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the first line and the lines of entries and all their ancestors, each once and with its line feed, in the order of
    /// the journal and in one request. Works with [`Capabilities::paths`].
    ///
    /// The last line of an id counts; ids without a line are left out. The engine then reads the path to a leaf without the
    /// rest of the session: see [`Options::open_journal_path`](crate::Options::open_journal_path).
    fn paths(&self, ids: &[EntryId]) -> io::Result<Vec<u8>> {
        let _ = ids;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Appends lines of another journal without copying them, and new lines among them, under the lock. Works with
    /// [`Capabilities::fork`].
    ///
    /// `at` is the length of this journal, which has to [exist](Journal::exists) afterwards. Everything is appended, or
    /// nothing, as by [`append`](Journal::append). An implementation recognises its own journals by downcasting the source.
    /// Returns false if the two journals cannot share lines; the engine copies
    /// them then.
    fn fork(&mut self, at: u64, source: &dyn Journal, parts: &[ForkPart<'_>]) -> Result<bool> {
        let _ = (at, source, parts);
        Ok(false)
    }

    /// Opens the journal that has taken the name of this one, if it is another one now.
    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        Ok(None)
    }

    /// Saves `lines` beside a journal that was lost, and returns the place.
    fn rescue(&self, lines: &mut dyn io::Read) -> Result<Option<PathBuf>> {
        let _ = lines;
        Ok(None)
    }
}

/// The optional operations of a journal. All are off by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Capabilities {
    /// Nothing can be appended: sessions are opened read-only.
    pub read_only: bool,
    /// Every writer takes the lock, so the engine need not look for lines that were written despite it.
    pub exclusive: bool,
    /// [`Journal::replace`] works. Without it, sessions of older versions are read-only.
    pub replace: bool,
    /// [`Journal::append_unlocked`] works.
    pub unlocked: bool,
    /// [`Journal::changes`] works.
    pub changes: bool,
    /// [`Journal::index`] works.
    pub index: bool,
    /// [`Journal::lines`] works.
    pub lines: bool,
    /// [`Journal::paths`] works.
    pub paths: bool,
    /// [`Journal::fork`] works, from and to a journal that has this capability.
    pub fork: bool,
}

/// A line without its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLine<'a> {
    /// The position of the line.
    pub position: u64,
    /// The length of the line, without its line feed.
    pub len: u64,
    /// The head that [`line_head`](crate::line_head) made of the line when it was stored.
    pub head: &'a [u8],
}

/// Receives the lines of an index.
pub type TakeIndexLine<'a> = &'a mut dyn FnMut(IndexLine<'_>) -> io::Result<()>;

/// A part of a forked journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkPart<'a> {
    /// Whole lines of the source, with their line feeds.
    Shared(Range<u64>),
    /// A line that only the fork has.
    New(NewLine<'a>),
}

/// Lines to be appended.
#[derive(Debug, Clone, Copy)]
pub struct NewLines<'a> {
    /// The position of the first line: the length of the journal under the lock.
    pub at: u64,
    /// The bytes of all lines, to be appended in one step.
    pub bytes: &'a [u8],
    /// The same bytes line by line.
    pub lines: &'a [NewLine<'a>],
    /// False until the conversation of a new session begins. The journal may keep such lines in memory; with the first append
    /// that sets it, it has to [exist](Journal::exists) with all lines.
    pub publish: bool,
}

/// A line to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLine<'a> {
    /// The bytes, with their line feed.
    pub bytes: &'a [u8],
    /// The id of the entry; none for the header and for lines that are no entries.
    pub id: Option<EntryId>,
    /// The id of the parent; none for a root.
    pub parent: Option<EntryId>,
}

/// Produces the new bytes of a journal that is being replaced. It receives the old bytes.
pub type WriteCopy<'a> = &'a mut dyn FnMut(&dyn ReadAt, &mut dyn io::Write) -> io::Result<()>;

/// Checks the new bytes of a journal before they take effect.
pub type VerifyCopy<'a> = &'a mut dyn FnMut(&dyn ReadAt) -> Result<()>;

/// The state of a journal under its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locked {
    /// The position after the last byte.
    pub len: u64,
    /// The reason why the journal is no longer the one that was opened, if it is not.
    pub loss: Option<FileLoss>,
}

/// The result of replacing a journal.
#[derive(Default)]
pub struct Replaced {
    /// The place of the old bytes.
    pub kept: Option<PathBuf>,
    /// The old bytes, if a program that takes no lock may still append to them. The engine copies such lines.
    pub old: Option<Box<dyn ReadAt>>,
}

impl fmt::Debug for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaced").field("kept", &self.kept).finish_non_exhaustive()
    }
}

/// Returns the path of a journal, or its name, for errors.
pub(crate) fn name_of(journal: &dyn Journal) -> PathBuf {
    journal.path().map_or_else(|| PathBuf::from(&*journal.name()), Path::to_path_buf)
}

/// Adds the operation and the name of the journal to an error that an implementation returned.
pub(crate) fn with_name(
    journal: &dyn Journal,
    error: Error,
    named: impl FnOnce(PathBuf, io::Error) -> Error,
) -> Error {
    match error {
        Error::Journal { source } => named(name_of(journal), source),
        error => error,
    }
}
