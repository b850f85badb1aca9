//! Writing: appends, moves of the leaf, durability.
//!
//! draft -> **entry** -> **bytes**
//!
//! An append takes the lock, reads the lines that others appended, draws a free id, writes one whole line, and releases the
//! lock. Memory changes only after the line is written.

mod append;
mod create;
mod entries;
mod loss;
mod migration;

use std::fmt;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::id::{EntryId, IdSource};
use crate::journal::with_name;
use crate::time::{Clock, Timestamp};
use crate::tree::Node;

use super::Session;
pub(crate) use append::split_lines;
#[cfg(feature = "fs")]
pub(crate) use create::check_id;
pub use create::{NewHeader, NewSession};
use loss::RecentLines;

/// The time at which entries are made durable, that is, safe from a power cut.
///
/// With every policy an entry is in the file when the append returns, and survives the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// Before every append returns.
    Always,
    /// When [`Session::sync`] is called, at the first append a second after the last sync, and at the end.
    #[default]
    Periodic,
    /// When [`Session::sync`] is called, when the operating system writes its buffers, and at the end.
    Os,
}

/// The writing half of a session.
pub(crate) struct Writer {
    pub(super) clock: Box<dyn Clock>,
    pub(super) ids: Box<dyn IdSource>,
    pub(super) policy: SyncPolicy,
    /// The time of the oldest entry that is not durable yet.
    pub(super) unsynced_since: Option<Timestamp>,
    /// True if an entry of a new session begins a conversation, so that its file is created.
    pub(super) has_conversation: bool,
    /// The leaf that the journal records. A different leaf was moved since.
    pub(crate) persisted_leaf: Option<Node>,
    /// The latest lines that this session wrote.
    pub(super) recent: RecentLines,
}

impl Default for Writer {
    fn default() -> Self {
        Writer {
            clock: Box::new(Unset(0)),
            ids: Box::new(Unset(0)),
            policy: SyncPolicy::default(),
            unsynced_since: None,
            has_conversation: false,
            persisted_leaf: None,
            recent: RecentLines::default(),
        }
    }
}

/// The clock and the ids of a session that was opened without [`Options`](super::Options), which is read-only.
struct Unset(u64);

impl Clock for Unset {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

impl IdSource for Unset {
    fn entry_id(&mut self) -> EntryId {
        self.0 += 1;
        EntryId::from(format!("{:08x}", self.0))
    }

    fn long_entry_id(&mut self) -> EntryId {
        self.entry_id()
    }

    fn session_id(&mut self) -> String {
        self.entry_id().to_string()
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("policy", &self.policy)
            .field("unsynced_since", &self.unsynced_since)
            .finish()
    }
}

impl Session {
    /// Sets how long an append waits for another program that holds the lock of the file.
    pub fn set_lock_wait(&mut self, limit: Duration) {
        self.journal.set_lock_wait(limit);
    }

    /// Fails with [`Error::Locked`] if another program holds the lock of the file, so that an append would fail as well.
    pub fn check_lock(&mut self) -> Result<()> {
        self.lock_journal()?;
        self.journal.unlock();
        Ok(())
    }

    pub(super) fn with_writer(mut self, writer: Writer) -> Self {
        // The recorded leaf belongs to the journal, not to the settings.
        self.writer = Writer { persisted_leaf: self.writer.persisted_leaf, ..writer };
        self
    }

    /// Makes everything durable that was appended so far: before a request leaves, before a tool starts, after a turn.
    ///
    /// After a failure nothing more is written: the operating system may have dropped the data that it could not write,
    /// and would report success the next time.
    pub fn sync(&mut self) -> Result<()> {
        if self.writer.unsynced_since.is_some() {
            self.journal.sync().map_err(|error| {
                with_name(&*self.journal, error, |path, source| Error::Sync {
                    path,
                    appended: Vec::new(),
                    source,
                })
            })?;
            self.writer.unsynced_since = None;
        }
        Ok(())
    }

    /// Returns true if everything that was appended is durable.
    pub fn is_durable(&self) -> bool {
        self.writer.unsynced_since.is_none()
    }

    /// Returns the time of the clock that dates new entries, for messages with a time of their own.
    pub fn now(&self) -> Timestamp {
        self.writer.clock.now()
    }

    /// Syncs after an append if the policy requires it.
    fn sync_after_append(&mut self, now: Timestamp) -> Result<()> {
        let since = *self.writer.unsynced_since.get_or_insert(now);
        let due = match self.writer.policy {
            SyncPolicy::Always => true,
            SyncPolicy::Periodic => now.as_millis() - since.as_millis() >= 1000,
            SyncPolicy::Os => false,
        };
        if due { self.sync() } else { Ok(()) }
    }

    fn check_writable(&self) -> Result<()> {
        match &self.read_only {
            Some(reason) => Err(Error::ReadOnly { reason: reason.clone() }),
            None => Ok(()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.read_only.is_none() {
            // Errors cannot be reported here; callers that need them call `sync` before.
            drop(self.sync());
        }
    }
}
