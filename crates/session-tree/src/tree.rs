//! The tree: entries by id and by parent, as compact columns.
//!
//! bytes -> line -> entry -> **tree** -> path -> context
//!
//! Holds for every entry where its line stands and what the envelope says: about fifty bytes, whatever the size of
//! the entry. Bodies are not here. Every walk is iterative and ends, also in damaged files: circles are cut when
//! links are [resolved](Tree::resolve_links), before anything walks the tree.

mod columns;
mod links;
#[cfg(feature = "fs")]
mod parts;
mod walk;
mod withdraw;

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashTable};
use smol_str::SmolStr;

pub use crate::id::Node;
use crate::id::{EntryId, IdKey, Stamp};
use crate::kind::{Kind, Role};
use crate::line::Flags;
use crate::time::Timestamp;

pub(crate) use columns::Columns;
use links::Links;
#[cfg(feature = "fs")]
pub(crate) use parts::TREE_PARTS;
use withdraw::Stacks;

/// The properties of an entry that the index keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub position: u64,
    pub len: u32,
    pub kind: Kind,
    pub role: Role,
    pub flags: u16,
    pub time: Option<Timestamp>,
}

/// The parent of a new entry.
#[derive(Debug)]
pub(crate) enum Link<'a> {
    Root,
    To(Node),
    Named(IdKey<'a>),
}

/// The position and the length of a line.
pub(crate) type Place = (u64, u32);

/// The meaning of the later of two lines that have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameId {
    /// The same line once more.
    Copy,
    /// No line that can be read, although it looked like one.
    Damaged,
    /// Another entry: it counts from now on.
    Other,
}

/// The entries of a session, linked by parent.
#[derive(Debug, Default)]
pub struct Tree {
    /// The stamp of this tree's nodes.
    stamp: Stamp,
    columns: Columns,
    /// Ids that are not eight lower-case hex digits.
    odd_ids: Vec<SmolStr>,
    by_id: HashTable<u32>,
    /// Ids that came from a sidecar, which are not in `by_id`: the numbers of hex ids with their rows, sorted, so that looking
    /// one up needs no table.
    stored: Vec<u64>,
    /// How many rows are known by id.
    learned: usize,
    hasher: DefaultHashBuilder,
    exceptions: Exceptions,
    /// The lines of each id, one above the other, while lines are taken back.
    stacks: Option<Stacks>,
    /// How many rows are not part of the tree.
    hidden: usize,
    /// True if `resolve_links` has work beyond finding ids and parents.
    links_changed: bool,
    links: OnceLock<Links>,
}

/// The rows that are special in some way; each list is usually empty.
#[derive(Debug, Default)]
struct Exceptions {
    /// Entries whose parent was not there when they came, with its id. After `resolve_links`: the orphans.
    waiting: Vec<(u32, IdKey<'static>)>,
    /// Entries that lost their id to a later one: (old, new).
    shadowed: Vec<(u32, u32)>,
    /// Lines that stand in the file twice: (copy, first).
    copies: Vec<(u32, u32)>,
    /// The current holder of the id of an entry that is not part of the tree: (hidden, holder).
    moved: Vec<(u32, u32)>,
    /// Damaged lines whose id and parent could be read.
    placeholders: Vec<u32>,
    /// Roots that came from cutting a circle.
    cut: Vec<u32>,
    /// Some entry stands before its parent in the file, so circles are possible.
    has_forward_links: bool,
}

impl Tree {
    /// Returns the number of entries, without those that lost their id to a later entry.
    pub fn len(&self) -> usize {
        self.columns.len() - self.hidden
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries in file order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + Clone + '_ {
        let is_shown = |row: &u32| self.columns.flags(*row) & Flags::HIDDEN == 0;
        (0..self.columns.len() as u32).filter(is_shown).map(|row| self.node_of_row(row))
    }

    /// Finds an entry by its full id.
    pub fn node(&self, id: &str) -> Option<Node> {
        self.holder(&IdKey::of(id)).and_then(|row| self.node_at(row as usize))
    }

    /// Returns the entry that holds the id of a row: the row itself, or the later line that took the id over.
    pub(crate) fn current(&self, node: Node) -> Option<Node> {
        let row = self.row(node)?;
        match self.node_at(row as usize) {
            Some(node) => Some(node),
            None => self.holder(&self.key_at(row)).and_then(|at| self.node_at(at as usize)),
        }
    }

    /// Finds the row that holds an id, shown or not.
    fn holder(&self, id: &IdKey<'_>) -> Option<u32> {
        let learned = self.by_id.find(hash(&self.hasher, id), |at| self.is_id_at(*at, id)).copied();
        learned.or_else(|| self.stored_holder(id))
    }

    fn stored_holder(&self, id: &IdKey<'_>) -> Option<u32> {
        let IdKey::Hex(number) = *id else { return None };
        let at = self.stored.partition_point(|pair| (pair >> 32) < u64::from(number));
        let pair = self.stored.get(at)?;
        (pair >> 32 == u64::from(number)).then_some(*pair as u32)
    }

    /// Returns true if a node belongs to this tree, so that it is not stale.
    #[inline]
    pub fn contains(&self, node: Node) -> bool {
        node.stamp == self.stamp
    }

    /// Returns the row of a node, unless it is stale. Rows are never removed, so the row exists.
    #[inline]
    pub(crate) fn row(&self, node: Node) -> Option<u32> {
        self.contains(node).then_some(node.row)
    }

    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Makes the nodes of an older reading of the same lines valid for this tree.
    pub(crate) fn keep_nodes_of(&mut self, older: &Tree) {
        self.stamp = older.stamp;
    }

    #[inline]
    pub(crate) fn node_of_row(&self, row: u32) -> Node {
        Node { row, stamp: self.stamp }
    }

    /// Returns the id of an entry; an empty one for a stale node.
    pub fn id(&self, node: Node) -> EntryId {
        self.row(node).map_or_else(|| EntryId::from(""), |row| self.key_at(row).to_id())
    }

    /// Returns the parent of an entry; a root, an orphan and the head of a cut circle have none.
    #[inline]
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.columns.parent(self.row(node)?).map(|row| self.node_of_row(row))
    }

    /// Returns the type of an entry; [`Kind::Opaque`] for a stale node.
    #[inline]
    pub fn kind(&self, node: Node) -> Kind {
        self.row(node).map_or(Kind::Opaque, |row| self.columns.kind(row))
    }

    /// Returns the role of the message that an entry carries; `None` for other entries.
    #[inline]
    pub fn role(&self, node: Node) -> Option<Role> {
        let row = self.row(node)?;
        (self.columns.kind(row) == Kind::Message).then(|| self.columns.role(row))
    }

    /// Returns the time of an entry; one without a readable time has that of the entry before it.
    #[inline]
    pub fn timestamp(&self, node: Node) -> Timestamp {
        Timestamp::from_millis(self.row(node).map_or(0, |row| self.columns.time(row)))
    }

    /// Returns true if an entry is a placeholder for a line that could not be read.
    #[inline]
    pub fn is_placeholder(&self, node: Node) -> bool {
        self.has(node, Flags::PLACEHOLDER)
    }

    /// Returns true for bookkeeping: labels, names, settings, state and leaf markers.
    #[inline]
    pub fn is_bookkeeping(&self, node: Node) -> bool {
        self.kind(node).is_bookkeeping()
    }

    /// Returns true if an answer has text that is not blank.
    #[inline]
    pub fn has_text(&self, node: Node) -> bool {
        self.has(node, Flags::HAS_TEXT)
    }

    /// Returns true if an answer without text ended in an error, an abort or at the length limit.
    #[inline]
    pub fn ended_badly(&self, node: Node) -> bool {
        self.has(node, Flags::ENDED_BADLY)
    }

    /// Returns true if an entry is a custom entry of the engine itself (`session-tree.*`).
    pub fn is_internal(&self, node: Node) -> bool {
        self.has(node, Flags::INTERNAL)
    }

    /// Returns true if an entry keeps the position of the leaf.
    pub fn is_leaf_marker(&self, node: Node) -> bool {
        self.has(node, Flags::LEAF_MARKER)
    }

    /// Returns true if the time of an entry could not be read.
    pub fn has_bad_timestamp(&self, node: Node) -> bool {
        self.has(node, Flags::BAD_TIME)
    }

    /// Returns the entries whose parent is not in the file, with the id of that parent.
    pub fn orphans(&self) -> impl Iterator<Item = (Node, EntryId)> + '_ {
        let is_there = |(row, _): &&(u32, _)| self.columns.flags(*row) & Flags::WITHDRAWN == 0;
        self.exceptions
            .waiting
            .iter()
            .filter(is_there)
            .map(|(row, parent)| (self.node_of_row(*row), parent.to_id()))
    }

    /// Returns the roots that came from cutting a circle of parents.
    pub fn cut_circles(&self) -> impl Iterator<Item = Node> + '_ {
        self.exceptions.cut.iter().map(|row| self.node_of_row(*row))
    }

    /// Returns the entries that lost their id to a later one, with the one that has it now.
    pub(crate) fn moved_ids(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.exceptions.shadowed.iter().map(|(old, new)| (self.node_of_row(*old), self.node_of_row(*new)))
    }

    /// Returns the lines that stand in the file twice, with the first of the two.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.exceptions.copies.iter().map(|(copy, first)| (self.node_of_row(*copy), self.node_of_row(*first)))
    }

    /// Returns the damaged lines whose id could be read, and whether they are part of the tree.
    pub(crate) fn damaged(&self) -> impl Iterator<Item = (Node, bool)> + '_ {
        self.exceptions
            .placeholders
            .iter()
            .map(|at| (self.node_of_row(*at), self.columns.flags(*at) & Flags::HIDDEN == 0))
    }

    /// Returns where the line of an entry stands.
    pub(crate) fn place(&self, node: Node) -> Place {
        self.row(node).map_or((0, 0), |row| self.columns.place(row))
    }

    /// Returns an upper bound for [`Node::index`]: the length of a table with one slot per entry.
    ///
    /// Entries that lost their id to a later one keep their slot, so this can be more than [`len`](Tree::len).
    #[inline]
    pub fn node_bound(&self) -> usize {
        self.columns.len()
    }

    /// Returns the entry with this [index](Node::index); `None` if it is not part of the tree.
    #[inline]
    pub fn node_at(&self, index: usize) -> Option<Node> {
        let flags = self.columns.flags_at(index)?;
        (flags & Flags::HIDDEN == 0).then(|| self.node_of_row(index as u32))
    }

    /// Returns the last row, part of the tree or not.
    pub(crate) fn last_row(&self) -> Option<Node> {
        self.columns.len().checked_sub(1).map(|at| self.node_of_row(at as u32))
    }

    /// Returns true if an id is taken, also by a line that is not part of the tree.
    pub(crate) fn holds(&self, id: &str) -> bool {
        self.holder(&IdKey::of(id)).is_some()
    }

    /// Returns the last entry in file order.
    pub fn last(&self) -> Option<Node> {
        self.nodes().next_back()
    }

    #[inline]
    fn has(&self, node: Node, flag: u16) -> bool {
        self.row(node).is_some_and(|row| self.columns.flags(row) & flag != 0)
    }

    pub(crate) fn key_at(&self, at: u32) -> IdKey<'_> {
        key_in(&self.columns, &self.odd_ids, at)
    }
}

/// Building.
impl Tree {
    /// Makes room for about `entries` more.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.columns.reserve(entries);
    }

    /// Adds an entry after all others. It can be found, and its place is final, after `resolve_links`.
    pub(crate) fn push(&mut self, row: Row, id: IdKey<'_>, link: Link<'_>) -> Node {
        let at = self.columns.len() as u32;
        let parent = self.resolve(at, link);
        let (number, odd) = match id {
            IdKey::Hex(number) => (number, false),
            IdKey::Odd(text) => {
                self.odd_ids.push(SmolStr::new(text));
                (self.odd_ids.len() as u32 - 1, true)
            }
        };
        self.columns.push(row, number, odd, parent);
        if row.flags & Flags::PLACEHOLDER != 0 {
            self.hide_placeholder(at);
        }
        if let Some(links) = self.links.get_mut() {
            links.push(at, parent);
        }
        self.node_of_row(at)
    }

    fn hide_placeholder(&mut self, at: u32) {
        // Hidden until an entry turns out to hang below it.
        self.hide(at);
        self.exceptions.placeholders.push(at);
        self.links_changed = true;
    }

    /// Turns the last entry into a placeholder: its line looked whole but is not.
    pub(crate) fn demote_last(&mut self) {
        let Some(at) = (self.columns.len() as u32).checked_sub(1) else { return };
        self.columns.set_flag(at, Flags::PLACEHOLDER);
        self.hide_placeholder(at);
    }

    /// Takes all rows from `from` on out of the tree.
    pub(crate) fn hide_from(&mut self, from: usize) {
        for at in from as u32..self.columns.len() as u32 {
            self.hide(at);
        }
        self.links.take();
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
            Link::To(node) => return self.row(node),
            Link::Named(parent) => parent,
        };
        // Nearly every entry hangs below the one written just before it.
        if let Some(previous) = at.checked_sub(1).filter(|previous| self.is_id_at(*previous, &parent)) {
            self.links_changed |= self.columns.flags(previous) & Flags::HIDDEN != 0;
            return Some(previous);
        }
        self.exceptions.waiting.push((at, parent.into_owned()));
        None
    }

    fn is_id_at(&self, at: u32, id: &IdKey<'_>) -> bool {
        let number = self.columns.id(at);
        match id {
            IdKey::Hex(wanted) => number == *wanted && self.columns.flags(at) & Flags::ODD_ID == 0,
            IdKey::Odd(_) => self.key_at(at) == *id,
        }
    }

    /// Completes the tree after entries were added: makes them known by id, finds parents, follows ids that
    /// changed hands, cuts circles, shows placeholders that have entries below them.
    ///
    /// `compare` classifies the second of two lines that have the same id.
    pub(crate) fn resolve_links(&mut self, mut compare: impl FnMut(Place, Place) -> SameId) {
        self.learn_ids(&mut compare);
        self.find_parents();
        if !std::mem::take(&mut self.links_changed) {
            return;
        }
        self.follow_moved_ids();
        if self.exceptions.has_forward_links {
            self.exceptions.cut.extend(links::cut_circles(&mut self.columns));
            self.exceptions.cut.sort_unstable();
            self.exceptions.cut.dedup();
        }
        self.show_placeholders();
        self.links.take();
    }

    /// Makes new entries known by id. All at once after loading: a table of its final size is filled much faster
    /// than one that grows entry by entry.
    fn learn_ids(&mut self, compare: &mut dyn FnMut(Place, Place) -> SameId) {
        let (from, to) = (std::mem::replace(&mut self.learned, self.columns.len()), self.columns.len());
        self.by_id.reserve(to - from, |at| hash(&self.hasher, &key_in(&self.columns, &self.odd_ids, *at)));
        for at in from as u32..to as u32 {
            if self.columns.flags(at) & Flags::WITHDRAWAL != 0 && self.take_back(at) {
                continue;
            }
            if let Some(old) = self.stored_holder(&self.key_at(at)) {
                self.resolve_stored_id(old, at, compare);
                continue;
            }
            let Self { columns, odd_ids, hasher, by_id, .. } = self;
            let key = key_in(columns, odd_ids, at);
            let slot = by_id.entry(
                hash(hasher, &key),
                |other| key_in(columns, odd_ids, *other) == key,
                |other| hash(hasher, &key_in(columns, odd_ids, *other)),
            );
            match slot {
                Slot::Vacant(free) => {
                    free.insert(at);
                }
                Slot::Occupied(mut holder) => {
                    let old = *holder.get();
                    let same = same_id(columns, old, at, compare);
                    if same == SameId::Other {
                        *holder.get_mut() = at;
                    }
                    self.share_id(old, at, same);
                }
            }
        }
        self.drop_stacks();
    }

    /// An entry has the id of one that came from a sidecar. What is in `by_id` is found first.
    fn resolve_stored_id(&mut self, stored: u32, at: u32, compare: &mut dyn FnMut(Place, Place) -> SameId) {
        let id = self.key_at(at).into_owned();
        let old = self.holder(&id).unwrap_or(stored);
        let same = same_id(&self.columns, old, at, compare);
        if same == SameId::Other {
            self.forget_id(old, &id);
            self.learn_id(at);
        }
        self.share_id(old, at, same);
    }

    /// Removes a row from the table of ids.
    fn forget_id(&mut self, at: u32, id: &IdKey<'_>) {
        if let Ok(slot) = self.by_id.find_entry(hash(&self.hasher, id), |row| *row == at) {
            slot.remove();
        }
    }

    /// Makes one row, whose id no other row has, known by id.
    fn learn_id(&mut self, at: u32) {
        let Self { columns, odd_ids, hasher, by_id, .. } = self;
        let value = hash(hasher, &key_in(columns, odd_ids, at));
        by_id.insert_unique(value, at, |other| hash(hasher, &key_in(columns, odd_ids, *other)));
    }

    /// Two entries have one id: the later one counts, unless it is a copy or damaged.
    fn share_id(&mut self, old: u32, new: u32, same: SameId) {
        self.links_changed = true;
        let (loses, keeps) = if same == SameId::Other { (old, new) } else { (new, old) };
        self.hide(loses);
        self.move_id(loses, keeps);
        match same {
            SameId::Copy => {
                self.exceptions.copies.push((new, old));
                self.stacks.iter_mut().for_each(|stacks| stacks.note_copy(new, old));
            }
            SameId::Other => {
                self.exceptions.shadowed.push((old, new));
                self.stacks.iter_mut().for_each(|stacks| stacks.note_shadowed(old, new));
            }
            SameId::Damaged if self.columns.flags(new) & Flags::PLACEHOLDER != 0 => {}
            SameId::Damaged => {
                self.columns.set_flag(new, Flags::PLACEHOLDER);
                self.exceptions.placeholders.push(new);
            }
        }
    }

    /// Records the holder of the id of an entry that is not part of the tree.
    fn move_id(&mut self, hidden: u32, holder: u32) {
        self.exceptions.moved.push((hidden, holder));
        self.columns.set_flag(hidden, Flags::LOST_ID);
    }

    fn show_placeholders(&mut self) {
        if self.exceptions.placeholders.is_empty() {
            return;
        }
        let mut has_child = vec![false; self.columns.len()];
        for at in 0..self.columns.len() as u32 {
            if let (0, Some(parent)) = (self.columns.flags(at) & Flags::HIDDEN, self.columns.parent(at)) {
                has_child[parent as usize] = true;
            }
        }
        // Damaged lines are shown if an entry hangs below them, directly or through other damaged lines.
        let mut open: Vec<u32> =
            self.exceptions.placeholders.iter().copied().filter(|at| has_child[*at as usize]).collect();
        while let Some(at) = open.pop() {
            let is_hidden = self.columns.flags(at) & Flags::HIDDEN != 0;
            let is_damaged = self.columns.flags(at) & Flags::PLACEHOLDER != 0;
            let lost_its_id = self.columns.flags(at) & Flags::LOST_ID != 0;
            if is_hidden && is_damaged && !lost_its_id {
                self.columns.clear_flag(at, Flags::HIDDEN);
                self.hidden -= 1;
                open.extend(self.columns.parent(at));
            }
        }
    }

    fn find_parents(&mut self) {
        for (at, parent) in std::mem::take(&mut self.exceptions.waiting) {
            match self.holder(&parent) {
                // An entry that names itself is a root.
                Some(found) if found == at => self.exceptions.cut.push(at),
                Some(found) => {
                    self.exceptions.has_forward_links |= found > at;
                    self.links_changed |= found > at || self.columns.flags(found) & Flags::HIDDEN != 0;
                    self.columns.set_parent(at, Some(found));
                    self.links.take();
                }
                None => self.exceptions.waiting.push((at, parent)),
            }
        }
    }

    fn follow_moved_ids(&mut self) {
        if self.exceptions.moved.is_empty() {
            return;
        }
        let mut now: Vec<u32> = (0..self.columns.len() as u32).collect();
        // Latest first: an id can change hands several times.
        for (from, to) in self.exceptions.moved.iter().rev() {
            now[*from as usize] = now[*to as usize];
        }
        for at in 0..self.columns.len() as u32 {
            let Some(parent) = self.columns.parent(at) else { continue };
            let moved = now[parent as usize];
            if moved != parent {
                self.exceptions.has_forward_links |= moved >= at;
                self.columns.set_parent(at, Some(moved));
            }
        }
    }

    fn links(&self) -> &Links {
        self.links.get_or_init(|| Links::of(&self.columns))
    }
}

fn same_id(columns: &Columns, old: u32, new: u32, compare: &mut dyn FnMut(Place, Place) -> SameId) -> SameId {
    let is_damaged = columns.flags(new) & Flags::PLACEHOLDER != 0;
    if is_damaged { SameId::Damaged } else { compare(columns.place(old), columns.place(new)) }
}

fn key_in<'a>(columns: &Columns, odd_ids: &'a [SmolStr], at: u32) -> IdKey<'a> {
    let number = columns.id(at);
    if columns.flags(at) & Flags::ODD_ID == 0 {
        return IdKey::Hex(number);
    }
    IdKey::Odd(Cow::Borrowed(odd_ids.get(number as usize).map_or("", SmolStr::as_str)))
}

/// Hashes with a secret that differs per tree: ids in a shared session may have been chosen to collide.
fn hash(hasher: &DefaultHashBuilder, id: &IdKey<'_>) -> u64 {
    match id {
        IdKey::Hex(number) => hasher.hash_one(*number),
        IdKey::Odd(text) => hasher.hash_one(&**text),
    }
}

#[cfg(test)]
mod tests;
