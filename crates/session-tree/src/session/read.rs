//! Reading entries of an open session.

use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::{DocCache, ReadAhead, Session};
use crate::diagnostic::{Diagnostic, Problem};
use crate::entry::{Entry, Envelope, Message, PlainResult};
use crate::error::{Error, Result};
use crate::id::{EntryId, Stamp};
use crate::index::{LONGEST_LINE, Label};
use crate::json::Doc;
use crate::kind::Role;
use crate::migrate;
use crate::position::Position;
use crate::tree::Node;

/// The bytes of lines that are read with one request before a context is built.
const READ_AHEAD: u64 = 4 << 20;

impl Session {
    /// Finds an entry by its full id.
    pub fn node(&self, id: impl AsRef<str>) -> Result<Node> {
        let id = id.as_ref();
        self.index.tree.node(id).ok_or_else(|| Error::UnknownEntry { id: EntryId::from(id) })
    }

    /// Finds the entry at a position; none at the start of the session.
    pub(crate) fn node_of(&self, position: &Position) -> Result<Option<Node>> {
        match position {
            Position::Leaf => Ok(self.leaf),
            Position::Entry(id) => self.node(id).map(Some),
            Position::Start => Ok(None),
        }
    }

    /// Reads an entry by its full id.
    pub fn entry(&self, id: impl AsRef<str>) -> Result<Entry> {
        self.entry_at(self.node(id)?)
    }

    /// Fails with [`Error::StalePlan`] if a plan was made for another session.
    pub(crate) fn check_plan(&self, session: Stamp) -> Result<()> {
        if self.stamp == session { Ok(()) } else { Err(Error::StalePlan) }
    }

    /// Fails with [`Error::StaleNode`] if a node belongs to another session, or to this one before it was read again.
    pub(crate) fn check_node(&self, node: Node) -> Result<Node> {
        if self.index.tree.contains(node) { Ok(node) } else { Err(Error::StaleNode) }
    }

    /// Reads the entry of a node.
    ///
    /// # Errors
    ///
    /// [`Error::StaleNode`] if the node belongs to another session, or to this one before it was read again.
    pub fn entry_at(&self, node: Node) -> Result<Entry> {
        let tree = &self.index.tree;
        let (raw, doc) = self.decoded(node)?;
        let envelope = Envelope {
            id: tree.id(node),
            parent_id: tree.parent(node).map(|parent| tree.id(parent)),
            kind: tree.kind(node),
            timestamp: tree.timestamp(node),
        };
        Ok(Entry::new(node, envelope, doc, raw))
    }

    /// Calls `take` with the raw line of a tool result, without decoding it. Returns none for other entries, and for lines
    /// that are spelled in another way than pi spells them.
    pub fn with_plain_result<T>(
        &self,
        node: Node,
        take: impl FnOnce(PlainResult<'_>) -> T,
    ) -> Result<Option<T>> {
        let is_result = self.index.tree.role(node) == Some(Role::ToolResult);
        if !is_result || !self.stands_as_written(node) {
            return Ok(None);
        }
        let (position, len) = self.index.tree.place(self.check_node(node)?);
        if u64::from(len) > LONGEST_LINE {
            return Ok(None);
        }
        self.with_bytes(position, len as usize, |line| PlainResult::read(line).map(take))
    }

    /// Returns the message that a context shows for an entry, if it is known already.
    pub(crate) fn known_message(&self, node: Node) -> Option<Message> {
        self.docs().message(self.index.tree.row(node)?)
    }

    /// Records the message that a context shows for an entry.
    pub(crate) fn note_message(&self, node: Node, message: &Message) {
        if let Some(row) = self.index.tree.row(node) {
            self.docs().note_message(row, message);
        }
    }

    /// Reads the current entry; none before the first one.
    pub fn leaf_entry(&self) -> Result<Option<Entry>> {
        self.leaf.map(|leaf| self.entry_at(leaf)).transpose()
    }

    /// Returns the position of an entry; no entry is the start of the session.
    ///
    /// # Errors
    ///
    /// [`Error::StaleNode`] if the node belongs to another session, or to this one before it was read again.
    pub fn position_of(&self, node: impl Into<Option<Node>>) -> Result<Position> {
        let node = node.into().map(|node| self.check_node(node)).transpose()?;
        Ok(Position::entry_or_start(node.map(|node| self.index.tree.id(node))))
    }

    /// Returns the current position: the entry of the leaf, or the start of the session.
    pub fn position(&self) -> Position {
        Position::entry_or_start(self.leaf_id())
    }

    /// Returns the id of the current position; none before the first entry.
    pub fn leaf_id(&self) -> Option<EntryId> {
        self.leaf.map(|leaf| self.index.tree.id(leaf))
    }

    /// Reads all entries in file order.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        self.index.tree.nodes().map(|node| self.entry_at(node))
    }

    /// Returns the entries from the root to a position; empty if there is no such entry. (`getBranch` in pi.)
    pub fn branch_path(&self, to: impl Into<Position>) -> Vec<Node> {
        let end = self.node_of(&to.into()).unwrap_or_default();
        end.map_or_else(Vec::new, |end| self.index.tree.path(end))
    }

    /// Returns the label of an entry.
    pub fn label(&self, node: Node) -> Option<&Label> {
        if self.index.labels.is_empty() {
            return None;
        }
        self.index.labels.get(&self.index.tree.key_at(self.index.tree.row(node)?))
    }

    /// Returns all labels whose target exists, in the order in which the targets were first labelled.
    pub fn labels(&self) -> Vec<(Node, &Label)> {
        let all = self.index.labels.in_order().into_iter();
        all.filter_map(|(target, label)| Some((self.index.tree.node(target.as_str())?, label))).collect()
    }

    /// Returns the name of the session.
    pub fn name(&self) -> Option<&str> {
        self.index.labels.name()
    }

    /// Returns the problems that were found in the file so far, in file order.
    ///
    /// Loading checks the shape of every line; bodies are checked when they are first used. `check` checks everything.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = self.index.diagnostics();
        found.extend(self.late_diagnostics.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        found.sort_by_key(|diagnostic| diagnostic.bytes.start);
        found
    }

    /// Returns the line number of an entry, counted from 1.
    pub fn line_number(&self, node: Node) -> u64 {
        self.index.line_number(node)
    }

    /// Returns the length of the line of an entry in bytes.
    pub fn line_len(&self, node: Node) -> u64 {
        u64::from(self.index.tree.place(node).1)
    }

    /// Reads the exact bytes of the line of an entry, without its line feed.
    pub(crate) fn line_at(&self, node: Node) -> Result<Arc<[u8]>> {
        if self.index.reads_as_written()
            && let Some(doc) = self.known_doc(node)
        {
            return Ok(doc.shared_text());
        }
        self.read_line(node)
    }

    fn read_line(&self, node: Node) -> Result<Arc<[u8]>> {
        let (position, len) = self.index.tree.place(self.check_node(node)?);
        if u64::from(len) > LONGEST_LINE {
            return Ok(Arc::default());
        }
        if let Some((_, line)) = self.lines_by_id(&[node])?.pop() {
            return Ok(line);
        }
        self.with_bytes(position, len as usize, |line| line.into())
    }

    /// Reads the lines of the last of these entries into the cache, with one request, if the journal can.
    pub(crate) fn read_ahead(&self, nodes: impl DoubleEndedIterator<Item = Node>) -> Result<()> {
        if !self.journal.capabilities().lines {
            return Ok(());
        }
        let mut room = READ_AHEAD;
        let fits = |node: &Node| {
            room = room.saturating_sub(self.line_len(*node));
            room > 0
        };
        let wanted: Vec<Node> =
            nodes.rev().filter(|node| self.known_doc(*node).is_none()).take_while(fits).collect();
        for (node, line) in self.lines_by_id(&wanted)? {
            self.parse_line(node, &line);
        }
        Ok(())
    }

    /// Reads the lines of entries by their ids, if the journal can. Entries whose id another line has are left out.
    fn lines_by_id(&self, nodes: &[Node]) -> Result<Vec<(Node, Arc<[u8]>)>> {
        let tree = &self.index.tree;
        // Entries of version 1 have no ids in their lines.
        if !self.journal.capabilities().lines || self.index.version == 1 {
            return Ok(Vec::new());
        }
        let holders = nodes.iter().copied().filter(|node| tree.current(*node) == Some(*node));
        let holders: Vec<Node> = holders.collect();
        let ids: Vec<EntryId> = holders.iter().map(|node| tree.id(*node)).collect();
        let lines = if ids.is_empty() { Ok(Vec::new()) } else { self.journal.lines(&ids) };
        let lines = lines.map_err(|error| self.io_error("read", error))?;
        let lines = holders.into_iter().zip(lines);
        // A line that took over the id was appended since; the tree does not have it yet.
        let is_known = |(node, line): &(Node, Vec<u8>)| line.len() as u64 == self.line_len(*node);
        Ok(lines.filter(is_known).map(|(node, line)| (node, line.into())).collect())
    }

    /// Calls `take` with a range of the journal. Ranges that are read in file order are cheap.
    pub(crate) fn with_bytes<T>(
        &self,
        position: u64,
        len: usize,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        // Taken out instead of locked: `take` may read from the session itself, and then uses another window.
        let mut ahead = self.take_window(position);
        let read = ahead.read(&*self.journal, (position, len), self.index.end, take);
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).push(ahead);
        read.map_err(|source| self.io_error("read", source))
    }

    /// Takes the window that was used near a position, or else any other.
    fn take_window(&self, position: u64) -> ReadAhead {
        let mut idle = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.iter().position(|ahead| ahead.is_near(position)) {
            Some(at) => idle.swap_remove(at),
            None => idle.pop().unwrap_or_default(),
        }
    }

    /// Returns true if the raw line of an entry can be used: it needs no migration, and its ends are not damaged.
    pub(crate) fn stands_as_written(&self, node: Node) -> bool {
        self.index.reads_as_written() && !self.index.tree.is_placeholder(node)
    }

    /// Calls `read` with a part of the raw line of an entry, without decoding the line. `range` is cut at its end.
    ///
    /// Returns `None` if the bytes are not what [`entry_at`](Session::entry_at) would decode: the line is damaged, or its
    /// version of the format is migrated on reading.
    pub fn peek_raw<T>(
        &self,
        node: Node,
        range: Range<u64>,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let (position, len) = self.index.tree.place(self.check_node(node)?);
        let end = range.end.min(u64::from(len)).min(range.start.saturating_add(LONGEST_LINE));
        let start = range.start.min(end);
        if !self.stands_as_written(node) {
            return Ok(None);
        }
        self.with_bytes(position + start, (end - start) as usize, read)
    }

    /// Drops everything that was read, because the journal has other bytes now.
    pub(super) fn forget_lines(&self) {
        self.docs().clear();
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.late_diagnostics.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the cached text of an entry.
    pub(crate) fn known_doc(&self, node: Node) -> Option<Doc> {
        self.docs().get(self.index.tree.row(node)?)
    }

    /// Returns the line of an entry, and its text in version 3. Reports a line that cannot be parsed.
    fn decoded(&self, node: Node) -> Result<(Arc<[u8]>, Option<Doc>)> {
        match self.known_doc(node) {
            Some(doc) if self.index.reads_as_written() => Ok((doc.shared_text(), Some(doc))),
            Some(doc) => Ok((self.read_line(node)?, Some(doc))),
            None => {
                let raw = self.read_line(node)?;
                let doc = self.parse_line(node, &raw);
                Ok((raw, doc))
            }
        }
    }

    fn parse_line(&self, node: Node, raw: &Arc<[u8]>) -> Option<Doc> {
        if self.index.tree.is_placeholder(node) {
            return None;
        }
        let current = migrate::current_line(&self.index, node, raw);
        let text = current.map_or_else(|| raw.clone(), Arc::from);
        match Doc::parse(text) {
            Ok(doc) => {
                self.docs().put(node.row, doc.clone());
                Some(doc)
            }
            Err(error) => {
                self.report_damage(node, error.reason);
                None
            }
        }
    }

    fn report_damage(&self, node: Node, reason: &'static str) {
        let problem = Problem::Placeholder { id: self.index.tree.id(node), reason };
        let diagnostic = self.index.at(node, problem);
        let mut found = self.late_diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        if !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }

    /// Returns the number of cached lines.
    #[cfg(test)]
    pub(crate) fn decoded_lines(&self) -> usize {
        self.docs().len()
    }

    pub(super) fn docs(&self) -> MutexGuard<'_, DocCache> {
        // A panic cannot have left the cache inconsistent: it holds only whole documents.
        self.docs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
