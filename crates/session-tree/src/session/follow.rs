//! Entries that other processes append.

use std::collections::HashSet;

use super::Session;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::index::{self, Index};
use crate::journal::{Overlay, name_of};
use crate::tree::Node;

impl Session {
    /// Returns the entries that others appended since the last call, in file order.
    ///
    /// Every append looks for them; [`catch_up`](Session::catch_up) looks without appending.
    pub fn take_appended_by_others(&mut self) -> Result<Vec<Entry>> {
        let nodes = std::mem::take(&mut self.appended_by_others);
        let entries = nodes.iter().map(|node| self.entry_at(*node)).collect();
        if Result::is_err(&entries) {
            // The next call returns them.
            self.appended_by_others = nodes;
        }
        entries
    }

    /// Replaces the index by one that was read from the beginning, and returns the old one. Entries that are new, or were not
    /// returned yet, count as appended by others.
    pub(super) fn replace_index(&mut self, index: Index, leaf: Option<Node>) -> Index {
        let old = std::mem::replace(&mut self.index, index);
        let unreported: HashSet<Node> = std::mem::take(&mut self.appended_by_others).into_iter().collect();
        let is_reported =
            |id: &EntryId| old.tree.node(id.as_str()).is_some_and(|node| !unreported.contains(&node));
        let tree = &self.index.tree;
        self.appended_by_others = tree.nodes().filter(|node| !is_reported(&tree.id(*node))).collect();
        self.set_leaf(leaf);
        self.forget_lines();
        old
    }

    /// Indexes everything up to `len`.
    pub(super) fn catch_up_to(&mut self, len: u64) -> Result<()> {
        let changes = if len > self.index.end { self.changes()? } else { None };
        let is_enough = |bytes: &Vec<u8>| self.index.end + bytes.len() as u64 >= len;
        self.catch_up_with(changes.filter(is_enough).as_deref(), len)
    }

    /// Returns the bytes after the last indexed line, if the journal can return them in one request.
    fn changes(&self) -> Result<Option<Vec<u8>>> {
        if !self.journal.capabilities().changes {
            return Ok(None);
        }
        self.journal.changes(self.index.end).map_err(|error| self.io_error("read", error))
    }

    fn catch_up_with(&mut self, changes: Option<&[u8]>, len: u64) -> Result<()> {
        let is_certain = self.index.known_rows() == self.index.tree.node_bound();
        if len == self.index.end && is_certain {
            // The torn line was removed by its writer.
            self.index.torn = None;
            return Ok(());
        }
        let (rows, leaf) = (self.index.known_rows(), self.leaf_id());
        let from = self.index.end;
        let new = match changes {
            Some(bytes) => self.index.catch_up(&Overlay { base: &*self.journal, from, bytes }, len),
            None => self.index.catch_up(&*self.journal, len),
        };
        let new = new.map_err(|error| self.io_error("read", error))?;
        self.appended_by_others.extend(new);
        if self.index.tree.has_withdrawals(rows) {
            // A repair was undone: the leaf may be one of the entries that are gone.
            let known = leaf.and_then(|leaf| self.index.tree.node(leaf.as_str()));
            let leaf = known.map_or_else(|| self.recorded_leaf(), |leaf| Ok(Some(leaf)))?;
            self.set_leaf(leaf);
        }
        self.follow_leaf();
        Ok(())
    }

    /// Moves the leaf to the line that holds its id now: another program may have appended a different line with that id.
    pub(super) fn follow_leaf(&mut self) {
        let holder = |node: Node| self.index.tree.current(node).unwrap_or(node);
        self.leaf = self.leaf.map(holder);
        self.writer.persisted_leaf = self.writer.persisted_leaf.map(holder);
    }

    pub(crate) fn io_error(&self, action: &'static str, source: std::io::Error) -> Error {
        Error::Io { action, path: name_of(&*self.journal), source }
    }

    /// Reads the entries that others have appended since, without writing or locking, and returns them in file order.
    ///
    /// The leaf stays where it is.
    pub fn catch_up(&mut self) -> Result<Vec<Entry>> {
        let changes = self.changes()?;
        let len = match &changes {
            Some(bytes) => self.index.end + bytes.len() as u64,
            None => self.journal.len().map_err(|error| self.io_error("read", error))?,
        };
        // A whole line may take as many bytes as the torn one that it replaces.
        let has_news = len != self.index.known_end() || self.index.torn.is_some();
        if len >= self.index.end && has_news {
            self.catch_up_with(changes.as_deref(), len)?;
        }
        self.take_appended_by_others()
    }

    /// Reads the entries that others have appended since, as [`catch_up`](Session::catch_up) does, also from a file that has
    /// replaced that of the session. The application decides when to poll.
    ///
    /// ```no_run
    /// # use session_tree::Session;
    /// let mut session = Session::open_read_only("session.jsonl")?;
    /// loop {
    ///     for entry in session.poll()? {
    ///         println!("{} {}", entry.id(), entry.type_name());
    ///     }
    ///     std::thread::sleep(std::time::Duration::from_millis(200));
    /// }
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn poll(&mut self) -> Result<Vec<Entry>> {
        match self.reload_if_replaced()? {
            Some(entries) => Ok(entries),
            None => self.catch_up(),
        }
    }

    /// Reads the session from its beginning if its journal was replaced or truncated. Returns the entries that no call has
    /// returned before.
    fn reload_if_replaced(&mut self) -> Result<Option<Vec<Entry>>> {
        // A failure to look is no evidence of a replacement.
        let successor = self.journal.reopened().unwrap_or_default();
        let is_exclusive = self.journal.capabilities().exclusive;
        let is_truncated = || !is_exclusive && self.journal.len().is_ok_and(|len| len < self.index.end);
        if successor.is_none() && !is_truncated() {
            return Ok(None);
        }
        let journal = successor.as_ref().unwrap_or(&self.journal);
        let index = index::load_journal(&**journal)?;
        let leaf = index.leaf(&**journal).map_err(|error| self.io_error("read", error))?;
        if let Some(journal) = successor {
            self.journal = journal;
        }
        self.replace_index(index, leaf);
        self.take_appended_by_others().map(Some)
    }
}
