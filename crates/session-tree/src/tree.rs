//! The tree: entries by id and by parent, as compact columns.
//!
//! bytes -> line -> entry -> **tree** -> path -> context
//!
//! Holds for every entry where its line stands and what the envelope says: about fifty bytes, whatever the size of
//! the entry. Bodies are not here. Every walk is iterative and ends, also in damaged files: circles are cut when
//! the tree [settles](Tree::settle), before anybody walks it.

mod columns;
mod links;
mod walk;

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use hashbrown::HashTable;
use smol_str::SmolStr;

use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::line::Traits;
use crate::time::Timestamp;

pub(crate) use columns::{Columns, Flags};
use links::Links;
pub use walk::{Children, Depth};

/// A place in a loaded tree; cheap to copy, valid for the session that gave it.
///
/// Nodes are numbered in file order, so comparing them compares positions in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub(crate) u32);

/// What the index notes of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub position: u64,
    pub len: u32,
    pub kind: Kind,
    pub role: Role,
    pub traits: Traits,
    pub time: Option<Timestamp>,
    pub placeholder: bool,
}

/// What a new entry says of its parent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link<'a> {
    Root,
    To(Node),
    Named(&'a str),
}

/// The entries of a session, linked by parent.
#[derive(Debug, Default)]
pub struct Tree {
    columns: Columns,
    /// Ids that are not eight lower-case hex digits.
    odd_ids: Vec<SmolStr>,
    by_id: HashTable<u32>,
    hasher: RandomState,
    /// Entries whose parent was not there when they came, with its id. After settling: the orphans.
    waiting: Vec<(u32, EntryId)>,
    /// Entries that lost their id to a later one: (old, new).
    shadowed: Vec<(u32, u32)>,
    /// Damaged lines whose id and parent could be read.
    placeholders: Vec<u32>,
    /// Roots that came from cutting a circle.
    cut: Vec<u32>,
    /// How many rows are not part of the tree.
    hidden: usize,
    /// Something came that `settle` has to look at.
    unsettled: bool,
    /// Some entry stands before its parent in the file, so circles are possible.
    has_forward_links: bool,
    links: OnceLock<Links>,
}

/// An id as the columns hold it: the number behind eight hex digits, or a place among the odd ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdKey<'a> {
    Hex(u32),
    Odd(&'a str),
}

impl<'a> IdKey<'a> {
    fn of(id: &'a str) -> Self {
        hex8(id.as_bytes()).map_or(IdKey::Odd(id), IdKey::Hex)
    }

    fn hash(self, hasher: &RandomState) -> u64 {
        match self {
            IdKey::Hex(number) => hasher.hash_one(number),
            IdKey::Odd(text) => hasher.hash_one(text),
        }
    }
}

/// Reads exactly eight lower-case hex digits.
fn hex8(text: &[u8]) -> Option<u32> {
    let text: &[u8; 8] = text.try_into().ok()?;
    let mut number = 0;
    for byte in text {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u32::from(digit);
    }
    Some(number)
}

impl Tree {
    /// Returns the number of entries, without those that lost their id to a later entry.
    pub fn len(&self) -> usize {
        self.columns.len() - self.hidden
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries in file order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + Clone + '_ {
        (0..self.columns.len() as u32).map(Node).filter(|node| !self.has(*node, Flags::HIDDEN))
    }

    /// Finds an entry by its full id.
    pub fn node(&self, id: &str) -> Option<Node> {
        self.holder(id).map(Node).filter(|node| !self.has(*node, Flags::HIDDEN))
    }

    /// Finds who holds an id, shown or not.
    fn holder(&self, id: &str) -> Option<u32> {
        let key = IdKey::of(id);
        self.by_id.find(key.hash(&self.hasher), |at| self.key_at(*at) == key).copied()
    }

    /// Returns the id of an entry.
    pub fn id(&self, node: Node) -> EntryId {
        match self.key_at(node.0) {
            IdKey::Hex(number) => hex_id(number),
            IdKey::Odd(text) => EntryId::from(text),
        }
    }

    /// Returns the parent of an entry; a root, an orphan and the head of a cut circle have none.
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.columns.parent(node.0).map(Node)
    }

    /// Returns the type of an entry.
    pub fn kind(&self, node: Node) -> Kind {
        self.columns.kind(node.0)
    }

    /// Returns the role of the message that an entry carries; `None` for other entries.
    pub fn role(&self, node: Node) -> Option<Role> {
        (self.kind(node) == Kind::Message).then(|| self.columns.role(node.0))
    }

    /// Returns the time of an entry; one without a readable time has that of the entry before it.
    pub fn timestamp(&self, node: Node) -> Timestamp {
        Timestamp::from_millis(self.columns.time(node.0))
    }

    /// Tells whether an entry is a placeholder for a line that could not be read.
    pub fn is_placeholder(&self, node: Node) -> bool {
        self.has(node, Flags::PLACEHOLDER)
    }

    /// Tells whether an entry only keeps books: labels, names, settings and state, and our own leaf markers.
    pub fn is_bookkeeping(&self, node: Node) -> bool {
        self.kind(node).is_bookkeeping()
    }

    /// Tells whether an answer has text that is not blank.
    pub fn has_text(&self, node: Node) -> bool {
        self.has(node, Flags::HAS_TEXT)
    }

    /// Tells whether an answer without text ended in an error, an abort or at the length limit.
    pub fn ended_badly(&self, node: Node) -> bool {
        self.has(node, Flags::ENDED_BADLY)
    }

    /// Tells whether an entry is a custom entry of the engine itself (`session-tree.*`).
    pub fn is_internal(&self, node: Node) -> bool {
        self.has(node, Flags::INTERNAL)
    }

    /// Tells whether an entry keeps the position of the leaf.
    pub fn is_leaf_marker(&self, node: Node) -> bool {
        self.has(node, Flags::LEAF_MARKER)
    }

    /// Tells whether the time of an entry could not be read.
    pub fn has_bad_timestamp(&self, node: Node) -> bool {
        self.has(node, Flags::BAD_TIME)
    }

    /// Returns the entries whose parent is not in the file, with the id of that parent.
    pub fn orphans(&self) -> impl Iterator<Item = (Node, &EntryId)> + '_ {
        self.waiting.iter().map(|(node, parent)| (Node(*node), parent))
    }

    /// Returns the roots that came from cutting a circle of parents.
    pub fn cut_circles(&self) -> impl Iterator<Item = Node> + '_ {
        self.cut.iter().copied().map(Node)
    }

    /// Returns the entries that lost their id to a later one, with the one that has it now.
    pub(crate) fn moved_ids(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.shadowed.iter().map(|(old, new)| (Node(*old), Node(*new)))
    }

    /// Returns the damaged lines whose id could be read, and whether they are part of the tree.
    pub(crate) fn damaged(&self) -> impl Iterator<Item = (Node, bool)> + '_ {
        self.placeholders.iter().map(|at| (Node(*at), self.columns.flags(*at) & Flags::HIDDEN == 0))
    }

    /// Returns where the line of an entry stands.
    pub(crate) fn place(&self, node: Node) -> (u64, u32) {
        (self.columns.position(node.0), self.columns.line_len(node.0))
    }

    /// Returns the number of rows, counting those that lost their id.
    pub(crate) fn row_count(&self) -> usize {
        self.columns.len()
    }

    /// Returns the row at a place if it is part of the tree.
    pub(crate) fn shown(&self, at: usize) -> Option<Node> {
        let node = Node(at as u32);
        (at < self.columns.len() && !self.has(node, Flags::HIDDEN)).then_some(node)
    }

    /// Returns the last row, part of the tree or not.
    pub(crate) fn last_row(&self) -> Option<Node> {
        self.columns.len().checked_sub(1).map(|at| Node(at as u32))
    }

    /// Tells whether an id is taken, also by a line that is not part of the tree.
    pub(crate) fn holds(&self, id: &str) -> bool {
        self.holder(id).is_some()
    }

    /// Returns the last entry in file order.
    pub fn last(&self) -> Option<Node> {
        self.nodes().next_back()
    }

    fn has(&self, node: Node, flag: u16) -> bool {
        self.columns.flags(node.0) & flag != 0
    }

    fn key_at(&self, at: u32) -> IdKey<'_> {
        let number = self.columns.id(at);
        if self.columns.flags(at) & Flags::ODD_ID == 0 {
            return IdKey::Hex(number);
        }
        IdKey::Odd(self.odd_ids.get(number as usize).map_or("", SmolStr::as_str))
    }
}

fn hex_id(number: u32) -> EntryId {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0_u8; 8];
    for (at, byte) in text.iter_mut().enumerate() {
        *byte = DIGITS[(number >> (28 - 4 * at) & 15) as usize];
    }
    EntryId::from(std::str::from_utf8(&text).unwrap_or_default())
}

/// Building.
impl Tree {
    /// Makes room for about `entries` more.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.columns.reserve(entries);
        let Self { columns, odd_ids, hasher, by_id, .. } = self;
        by_id.reserve(entries, |at| key_in(columns, odd_ids, *at).hash(hasher));
    }

    /// Adds an entry after all others. If its id is taken, nothing changes and the holder is returned.
    pub(crate) fn push(&mut self, row: Row, id: &str, link: Link<'_>) -> Result<Node, Node> {
        let at = self.columns.len() as u32;
        let key = IdKey::of(id);
        let hash = key.hash(&self.hasher);
        if let Some(holder) = self.by_id.find(hash, |other| self.key_at(*other) == key) {
            return Err(Node(*holder));
        }
        let parent = self.resolve(at, link);
        let (number, odd) = match key {
            IdKey::Hex(number) => (number, false),
            IdKey::Odd(_) => (self.odd_ids.len() as u32, true),
        };
        let Self { columns, odd_ids, hasher, by_id, .. } = self;
        by_id.insert_unique(hash, at, |other| key_in(columns, odd_ids, *other).hash(hasher));
        if odd {
            self.odd_ids.push(SmolStr::new(id));
        }
        self.push_row(row, number, odd, parent);
        Ok(Node(at))
    }

    /// Adds an entry that takes the id of `old`, which thereby leaves the tree.
    pub(crate) fn push_over(&mut self, old: Node, row: Row, link: Link<'_>) -> Node {
        let at = self.columns.len() as u32;
        let (number, odd) = (self.columns.id(old.0), self.columns.flags(old.0) & Flags::ODD_ID != 0);
        let parent = self.resolve(at, link);
        let hash = self.key_at(old.0).hash(&self.hasher);
        if let Some(slot) = self.by_id.find_mut(hash, |other| *other == old.0) {
            *slot = at;
        }
        self.push_row(row, number, odd, parent);
        self.hide(old.0);
        self.shadowed.push((old.0, at));
        self.unsettled = true;
        Node(at)
    }

    fn push_row(&mut self, row: Row, number: u32, odd: bool, parent: Option<u32>) {
        let at = self.columns.len() as u32;
        self.columns.push(row, number, odd, parent);
        if row.placeholder {
            // Not shown until somebody turns out to hang below it.
            self.hide(at);
            self.placeholders.push(at);
            self.unsettled = true;
        }
        if let Some(links) = self.links.get_mut() {
            links.push(at, parent);
        }
    }

    /// Turns the last entry into a placeholder: its line looked whole but is not.
    pub(crate) fn demote_last(&mut self) {
        let Some(at) = (self.columns.len() as u32).checked_sub(1) else { return };
        self.columns.set_flag(at, Flags::PLACEHOLDER);
        self.hide(at);
        self.placeholders.push(at);
        self.unsettled = true;
    }

    fn hide(&mut self, at: u32) {
        if self.columns.flags(at) & Flags::HIDDEN == 0 {
            self.columns.set_flag(at, Flags::HIDDEN);
            self.hidden += 1;
        }
    }

    fn resolve(&mut self, at: u32, link: Link<'_>) -> Option<u32> {
        let parent = match link {
            Link::Root => return None,
            Link::To(node) => return Some(node.0),
            Link::Named(parent) => parent,
        };
        // Nearly every entry hangs below the one written just before it.
        if let Some(previous) = at.checked_sub(1)
            && self.key_at(previous) == IdKey::of(parent)
            && self.columns.flags(previous) & Flags::HIDDEN == 0
        {
            return Some(previous);
        }
        let found = self.holder(parent);
        match found {
            Some(found) => self.unsettled |= self.columns.flags(found) & Flags::HIDDEN != 0,
            None => {
                self.waiting.push((at, EntryId::from(parent)));
                self.unsettled = true;
            }
        }
        found
    }

    /// Brings the links in order after entries came: finds parents that came later, follows ids that changed
    /// hands, cuts circles, shows placeholders that somebody hangs below.
    pub(crate) fn settle(&mut self) {
        if !std::mem::take(&mut self.unsettled) {
            return;
        }
        self.find_late_parents();
        self.follow_moved_ids();
        if self.has_forward_links {
            self.cut.extend(links::cut_circles(&mut self.columns));
            self.cut.sort_unstable();
            self.cut.dedup();
        }
        self.show_placeholders();
        self.links.take();
    }

    fn show_placeholders(&mut self) {
        if self.placeholders.is_empty() {
            return;
        }
        let mut has_child = vec![false; self.columns.len()];
        for at in 0..self.columns.len() as u32 {
            if let (0, Some(parent)) = (self.columns.flags(at) & Flags::HIDDEN, self.columns.parent(at)) {
                has_child[parent as usize] = true;
            }
        }
        // Backwards, so that a row of damaged lines is shown as far as somebody hangs below it.
        for at in self.placeholders.iter().rev().copied() {
            let lost_its_id = self.shadowed.iter().any(|(old, _)| *old == at);
            if has_child[at as usize] && !lost_its_id && self.columns.flags(at) & Flags::HIDDEN != 0 {
                self.columns.clear_flag(at, Flags::HIDDEN);
                self.hidden -= 1;
                if let Some(parent) = self.columns.parent(at) {
                    has_child[parent as usize] = true;
                }
            }
        }
    }

    fn find_late_parents(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for (at, parent) in waiting {
            match self.holder(parent.as_str()) {
                // An entry that names itself is a root.
                Some(found) if found == at => self.cut.push(at),
                Some(found) => {
                    self.has_forward_links |= found > at;
                    self.columns.set_parent(at, Some(found));
                }
                None => self.waiting.push((at, parent)),
            }
        }
    }

    fn follow_moved_ids(&mut self) {
        if self.shadowed.is_empty() {
            return;
        }
        let mut moved: Vec<u32> = (0..self.columns.len() as u32).collect();
        // Latest first: an id can change hands several times.
        for (old, new) in self.shadowed.iter().rev() {
            moved[*old as usize] = moved[*new as usize];
        }
        for at in 0..self.columns.len() as u32 {
            let Some(parent) = self.columns.parent(at) else { continue };
            let now = moved[parent as usize];
            if now != parent {
                self.has_forward_links |= now >= at;
                self.columns.set_parent(at, Some(now));
            }
        }
    }

    fn links(&self) -> &Links {
        self.links.get_or_init(|| Links::of(&self.columns))
    }
}

fn key_in<'a>(columns: &Columns, odd_ids: &'a [SmolStr], at: u32) -> IdKey<'a> {
    let number = columns.id(at);
    if columns.flags(at) & Flags::ODD_ID == 0 {
        return IdKey::Hex(number);
    }
    IdKey::Odd(odd_ids.get(number as usize).map_or("", SmolStr::as_str))
}

#[cfg(test)]
mod tests;
