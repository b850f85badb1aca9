//! The settings of a session: clock, ids, durability, memory, and how it is opened from a journal.

use super::Session;
use super::write::{NewSession, SyncPolicy, Writer};
use crate::error::{Error, ReadOnlyReason, Result};
use crate::id::IdSource;
use crate::journal::{Journal, MemoryJournal, name_of};
use crate::time::Clock;

/// The settings of a session, and the functions that open or create one with them.
///
/// ```no_run
/// use session_tree::{Options, SyncPolicy};
///
/// let session = Options::new().sync(SyncPolicy::Always).open("session.jsonl")?;
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug)]
pub struct Options {
    cache_bytes: Option<usize>,
    pub(super) writer: Writer,
    #[cfg(feature = "fs")]
    pub(crate) files: super::files::FileOptions,
}

#[cfg(feature = "fs")]
impl Default for Options {
    fn default() -> Self {
        Options::with(crate::time::SystemClock, crate::id::RandomIds)
    }
}

impl Options {
    /// Starts with the operating system's files, clock and random numbers.
    #[cfg(feature = "fs")]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts with the given clock and ids.
    ///
    /// ```
    /// use session_tree::{Message, Clock, EntryId, IdSource, Options, Timestamp};
    ///
    /// struct FixedClock;
    /// impl Clock for FixedClock {
    ///     fn now(&self) -> Timestamp {
    ///         Timestamp::from_millis(1_765_241_574_397)
    ///     }
    /// }
    ///
    /// struct Counter(u32);
    /// impl IdSource for Counter {
    ///     fn entry_id(&mut self) -> EntryId {
    ///         self.0 += 1;
    ///         EntryId::from(format!("{:08x}", self.0))
    ///     }
    ///     fn long_entry_id(&mut self) -> EntryId {
    ///         self.0 += 1;
    ///         EntryId::from(format!("{:032x}", self.0))
    ///     }
    ///     fn session_id(&mut self) -> String {
    ///         "session-1".into()
    ///     }
    /// }
    ///
    /// let mut session = Options::with(FixedClock, Counter(0)).in_memory("/project")?;
    /// assert_eq!(session.append(Message::user("hello"))?, "00000001");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn with(clock: impl Clock + 'static, ids: impl IdSource + 'static) -> Self {
        Options {
            cache_bytes: None,
            writer: Writer { clock: Box::new(clock), ids: Box::new(ids), ..Writer::default() },
            #[cfg(feature = "fs")]
            files: super::files::FileOptions::default(),
        }
    }

    /// Sets the maximum number of bytes of decoded lines that a session keeps in memory. The default is 64 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = Some(bytes);
        self
    }

    /// Sets when entries are made durable.
    pub fn sync(mut self, policy: SyncPolicy) -> Self {
        self.writer.policy = policy;
        self
    }

    /// Sets the clock that dates new entries.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.writer.clock = Box::new(clock);
        self
    }

    /// Sets the source of new ids.
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.writer.ids = Box::new(ids);
        self
    }

    /// Creates a session that exists in memory only.
    pub fn in_memory(self, new: impl Into<NewSession>) -> Result<Session> {
        self.start(Box::new(MemoryJournal::default()), new.into())
    }

    /// Opens a session in any storage, for reading and writing.
    ///
    /// ```
    /// use session_tree::{Message, Options};
    /// use session_tree::journal::MemoryJournal;
    ///
    /// let bytes = br#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    /// let mut session = Options::new().open_journal(MemoryJournal::from_bytes(bytes.to_vec()))?;
    /// session.append(Message::user("hello"))?;
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn open_journal(self, journal: impl Journal + 'static) -> Result<Session> {
        self.open_boxed(Box::new(journal))
    }

    pub(super) fn open_boxed(self, journal: Box<dyn Journal>) -> Result<Session> {
        let read_only = journal.capabilities().read_only.then_some(ReadOnlyReason::Protected);
        self.load_journal(journal, read_only)
    }

    /// Opens a session in any storage for reading: takes no lock and appends nothing.
    pub fn open_journal_read_only(self, journal: impl Journal + 'static) -> Result<Session> {
        self.load_journal(Box::new(journal), Some(ReadOnlyReason::Asked))
    }

    /// Creates a session in any storage. The journal must be empty.
    pub fn create_journal(
        self,
        journal: impl Journal + 'static,
        new: impl Into<NewSession>,
    ) -> Result<Session> {
        self.start(Box::new(journal), new.into())
    }

    pub(crate) fn load_journal(
        self,
        journal: Box<dyn Journal>,
        read_only: Option<ReadOnlyReason>,
    ) -> Result<Session> {
        check_not_empty(&*journal)?;
        let session = Session::load(journal, read_only)?;
        Ok(self.apply_to(session))
    }

    /// Reads a session from bytes: see [`Session::from_bytes`].
    pub fn from_bytes(self, bytes: Vec<u8>) -> Result<Session> {
        let session = Session::from_bytes(bytes)?;
        Ok(self.apply_to(session))
    }

    /// Applies these settings to a session that was loaded or created.
    pub(super) fn apply_to(self, session: Session) -> Session {
        if let Some(bytes) = self.cache_bytes {
            session.docs().set_limit(bytes);
        }
        session.with_writer(self.writer)
    }
}

pub(super) fn check_not_empty(journal: &dyn Journal) -> Result<()> {
    match journal.is_empty() {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::NotASession { path: name_of(journal), reason: "it is empty" }),
        Err(error) => Err(Error::io("read", name_of(journal))(error)),
    }
}
