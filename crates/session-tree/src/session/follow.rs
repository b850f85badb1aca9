//! Seeing what others append.

use super::Session;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::journal::name_of;

impl Session {
    /// Returns the entries that others appended since this was last asked, in file order.
    ///
    /// Every append looks for them; [`catch_up`](Session::catch_up) looks without appending.
    pub fn take_foreign_entries(&mut self) -> Result<Vec<Entry>> {
        let nodes = std::mem::take(&mut self.foreign);
        nodes.into_iter().map(|node| self.entry_at(node)).collect()
    }

    /// Takes in everything up to `len`.
    pub(super) fn catch_up_to(&mut self, len: u64) -> Result<()> {
        if len == self.index.end {
            // Whoever wrote half a line took it back.
            self.index.torn = None;
            return Ok(());
        }
        let (rows, leaf) = (self.index.tree.row_count(), self.leaf_id());
        let new = self.index.catch_up(&*self.journal, len).map_err(|error| self.io_error("read", error))?;
        self.foreign.extend(new);
        if self.index.tree.has_withdrawals(rows) {
            // Somebody took a repair back: the leaf may be one of the entries that are gone.
            let known = leaf.and_then(|leaf| self.index.tree.node(leaf.as_str()));
            let asked = || self.index.leaf(&*self.journal);
            self.leaf = match known {
                Some(leaf) => Some(leaf),
                None => asked().map_err(|error| self.io_error("read", error))?,
            };
        }
        Ok(())
    }

    pub(crate) fn io_error(&self, action: &'static str, source: std::io::Error) -> Error {
        Error::Io { action, path: name_of(&*self.journal), source }
    }

    /// Reads what others appended since, without writing or locking; gives the new entries in file order.
    ///
    /// The leaf stays where it is: somebody else's append moves nobody.
    pub fn catch_up(&mut self) -> Result<Vec<Entry>> {
        let len = self.journal.len().map_err(|error| self.io_error("read", error))?;
        if len >= self.index.end && len != self.index.known_end() {
            self.catch_up_to(len)?;
        }
        self.take_foreign_entries()
    }

    /// Turns the session into a stream of what others append to its file.
    pub fn follow(self) -> Follower {
        Follower { session: self }
    }
}

/// Watches the file of a session for entries that others append.
///
/// Polling is left to the application: it knows its own clock, event loop and file watcher.
///
/// ```no_run
/// # use session_tree::Session;
/// let mut follower = Session::open_read_only("session.jsonl")?.follow();
/// loop {
///     for entry in follower.poll()? {
///         println!("{} {}", entry.id(), entry.type_name());
///     }
///     std::thread::sleep(std::time::Duration::from_millis(200));
/// }
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug)]
pub struct Follower {
    session: Session,
}

impl Follower {
    /// Returns the entries that came since the last call.
    pub fn poll(&mut self) -> Result<Vec<Entry>> {
        if self.session.journal_was_replaced() {
            return self.session.reload();
        }
        self.session.catch_up()
    }

    /// Returns the session as far as it was read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Gives the session back.
    pub fn into_session(self) -> Session {
        self.session
    }
}

impl Session {
    /// Tells whether the path of the session names another file now, or a shorter one.
    fn journal_was_replaced(&self) -> bool {
        let Ok(now) = self.journal.reopened() else { return false };
        let shorter = now.len().is_ok_and(|len| len < self.index.end);
        shorter || now.identity() != self.journal.identity()
    }

    /// Reads the session anew from its path; gives the entries that were not known before.
    fn reload(&mut self) -> Result<Vec<Entry>> {
        let journal = self.journal.reopened()?;
        let index = crate::index::load(&*journal, journal.path())?;
        let old = std::mem::replace(&mut self.index, index);
        self.journal = journal;
        self.forget_lines();
        self.leaf = self.index.leaf(&*self.journal).map_err(|error| self.io_error("read", error))?;
        let new = self
            .index
            .tree
            .nodes()
            .filter(|node| old.tree.node(self.index.tree.id(*node).as_str()).is_none());
        new.map(|node| self.entry_at(node)).collect()
    }
}
