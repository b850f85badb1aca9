//! A session: a header, its entries and a leaf, kept in one file or in memory.
//!
//! The only owner of changes. The modules below it open sessions, read entries, append, and follow other writers.

mod ahead;
mod cache;
#[cfg(feature = "fs")]
mod files;
mod follow;
mod lines;
mod options;
mod path;
mod read;
mod write;

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use crate::diagnostic::Diagnostic;
use crate::entry::Header;
use crate::error::{ReadOnlyReason, Result};
use crate::id::Stamp;
use crate::index::{self, Index};
#[cfg(feature = "fs")]
use crate::journal::name_of;
use crate::journal::{Journal, MemoryJournal, copy_range};
use crate::tree::{Node, Tree};

pub(crate) use ahead::ReadAhead;
use cache::DocCache;
pub use lines::RawLines;
pub use options::Options;
#[cfg(feature = "conformance")]
pub(crate) use path::path_to_leaf;
pub(crate) use write::split_lines;
pub use write::{NewHeader, NewSession, SyncPolicy};

/// An open session.
///
/// Reading methods take `&self`. The tree they walk is an index in memory; the bodies of entries are read from the
/// journal when they are used, and cached.
#[derive(Debug)]
pub struct Session {
    /// Tells this session apart from all others of the process, for the plans that are made for it.
    pub(crate) stamp: Stamp,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) index: Index,
    pub(crate) leaf: Option<Node>,
    pub(crate) read_only: Option<ReadOnlyReason>,
    /// Entries that others appended and that were not returned yet.
    appended_by_others: Vec<Node>,
    docs: Mutex<DocCache>,
    /// One window for each thread that reads.
    ahead: Mutex<Vec<ReadAhead>>,
    /// Problems that were found by decoding lines after loading.
    late_diagnostics: Mutex<Vec<Diagnostic>>,
    writer: write::Writer,
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Session>();
    is_send_and_sync::<Options>();
};

impl Session {
    /// Reads a session from bytes, such as the content of a file that came over a network.
    ///
    /// ```
    /// # use session_tree::Session;
    /// let bytes = concat!(
    ///     r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#, "\n",
    ///     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
    /// );
    /// let session = Session::from_bytes(bytes.into())?;
    /// assert_eq!(session.tree().len(), 1);
    /// assert_eq!(session.leaf_id().unwrap(), "a");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::load(Box::new(MemoryJournal::from_bytes(bytes)), Some(ReadOnlyReason::Asked))
    }

    /// Reads a session from its journal.
    pub(crate) fn load(journal: Box<dyn Journal>, read_only: Option<ReadOnlyReason>) -> Result<Self> {
        let index = index::load_journal(&*journal)?;
        Self::with_index(journal, index, read_only)
    }

    /// Continues with the index of a sidecar, and reads the lines that were appended since.
    #[cfg(feature = "fs")]
    pub(crate) fn load_from(
        journal: Box<dyn Journal>,
        mut index: Index,
        read_only: Option<ReadOnlyReason>,
    ) -> Result<Self> {
        let path = name_of(&*journal);
        let caught_up = journal.len().and_then(|len| match len > index.end {
            true => index.catch_up(&*journal, len).and_then(|_| index.complete(&*journal)),
            false => Ok(()),
        });
        caught_up.map_err(crate::error::Error::io("read", path))?;
        Self::with_index(journal, index, read_only)
    }

    fn with_index(
        journal: Box<dyn Journal>,
        index: Index,
        read_only: Option<ReadOnlyReason>,
    ) -> Result<Self> {
        let mut session = Self::new(journal, index);
        session.set_leaf(session.recorded_leaf()?);
        let by_version = || session.index.read_only_reason().or_else(|| session.cannot_migrate());
        session.read_only = read_only.or_else(by_version);
        Ok(session)
    }

    pub(crate) fn new(journal: Box<dyn Journal>, index: Index) -> Self {
        Self {
            stamp: Stamp::fresh(),
            journal,
            index,
            leaf: None,
            read_only: None,
            appended_by_others: Vec::new(),
            docs: Mutex::default(),
            ahead: Mutex::default(),
            late_diagnostics: Mutex::default(),
            writer: write::Writer::default(),
        }
    }

    /// Returns the position of the leaf that the journal records.
    pub(crate) fn recorded_leaf(&self) -> Result<Option<Node>> {
        self.index.leaf(&*self.journal).map_err(|error| self.io_error("read", error))
    }

    /// Moves the leaf to the position that the journal records.
    pub(crate) fn set_leaf(&mut self, leaf: Option<Node>) {
        self.leaf = leaf;
        self.writer.persisted_leaf = leaf;
    }

    /// Returns the location of the session in its storage: a path, or a URL.
    pub fn location(&self) -> Cow<'_, str> {
        self.journal.name()
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.index.header
    }

    /// Returns the file behind the session, or its address in a [`Store`](crate::journal::Store); it need not exist yet.
    pub fn file(&self) -> Option<&Path> {
        self.journal.path().or_else(|| self.journal.address())
    }

    /// Returns a notice about the storage for the user, such as a lost connection: see [`Journal::notice`].
    pub fn notice(&self) -> Option<Cow<'_, str>> {
        self.journal.notice()
    }

    /// Returns the number of bytes of the session, as far as they are known.
    pub fn size(&self) -> u64 {
        self.index.known_end()
    }

    /// Returns true if others can open the session.
    pub fn is_saved(&self) -> bool {
        self.journal.exists()
    }

    /// Returns the reason why the session cannot be written, if it cannot.
    pub fn read_only(&self) -> Option<&ReadOnlyReason> {
        self.read_only.as_ref()
    }

    /// Writes all lines of the session, byte for byte.
    pub fn write_to(&self, out: &mut dyn Write) -> Result<()> {
        copy_range(&*self.journal, 0..self.index.known_end(), out)
            .map_err(|error| self.io_error("copy", error))
    }

    /// Returns the tree of all entries.
    pub fn tree(&self) -> &Tree {
        &self.index.tree
    }

    /// Returns the current position; none before the first entry.
    pub fn leaf(&self) -> Option<Node> {
        self.leaf
    }
}
