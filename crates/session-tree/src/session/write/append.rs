//! One append, from lock to release.

use std::borrow::Cow;

use super::super::Session;
use crate::draft::{Draft, Spelling};
use crate::error::{Error, InvalidReason, Loss, Result};
use crate::id::{EntryId, IdKey};
use crate::index::LONGEST_LINE;
use crate::journal::Overlay;
use crate::json::{Doc, ValueRef};
use crate::kind::Kind;
use crate::line::Traits;
use crate::time::Timestamp;
use crate::tree::{Link, Node, Row, SameId};

/// Where new entries go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Below this entry, or as a root; the leaf moves onto the new entry.
    Under(Option<Node>),
    /// Below this entry, without moving the leaf.
    Aside(Option<Node>),
}

impl Place {
    /// The entry that new ones go below.
    pub(super) fn parent(self) -> Option<Node> {
        let (Place::Under(parent) | Place::Aside(parent)) = self;
        parent
    }

    /// The same below another entry.
    pub(super) fn at(self, parent: Option<Node>) -> Self {
        match self {
            Place::Under(_) => Place::Under(parent),
            Place::Aside(_) => Place::Aside(parent),
        }
    }
}

/// Where lines that were written are.
enum Written {
    /// At this position, and not in the index yet.
    At(u64),
    /// In the index already, with whatever came with them.
    ReadIn(Vec<Node>),
}

/// Entries that have their ids but are not written yet.
struct Prepared {
    ids: Vec<EntryId>,
    lines: Vec<u8>,
    /// The length of each line, with its line feed.
    lengths: Vec<usize>,
    time: Timestamp,
}

impl Session {
    /// Appends an entry below the leaf, and moves the leaf onto it.
    ///
    /// # Errors
    ///
    /// Nothing changed, neither in the file nor in memory, except after these:
    ///
    /// - [`Error::Sync`]: the entry is in the file and the leaf is on it, but it may not survive a power cut. The error
    ///   holds its id. The session can still be read; every later append fails with [`Error::Poisoned`].
    /// - [`Error::TornAppend`]: a part of the line stays in the file as a bad line, which readers skip.
    /// - [`Error::Replaced`]: the file is not the one that was opened. The entry is in the rescue file.
    pub fn append(&mut self, draft: &Draft) -> Result<EntryId> {
        self.append_one(Place::Under(self.leaf), draft)
    }

    /// Appends an entry below `parent` (`None`: as a root), and moves the leaf onto it.
    pub fn append_under(&mut self, parent: Option<&str>, draft: &Draft) -> Result<EntryId> {
        let parent = parent.map(|id| self.node(id)).transpose()?;
        self.append_one(Place::Under(parent), draft)
    }

    /// Appends several entries, each below the one before, with one write.
    pub fn append_batch(&mut self, drafts: &[Draft]) -> Result<Vec<EntryId>> {
        self.append_at(Place::Under(self.leaf), drafts)
    }

    pub(super) fn append_one(&mut self, place: Place, draft: &Draft) -> Result<EntryId> {
        let ids = self.append_at(place, std::slice::from_ref(draft))?;
        // One draft gives one id.
        ids.into_iter().next().ok_or_else(|| InvalidReason::NotAnObject.of("entry"))
    }

    pub(super) fn append_at(&mut self, place: Place, drafts: &[Draft]) -> Result<Vec<EntryId>> {
        self.check_writable()?;
        for draft in drafts {
            // Checked before the lines exist: they may take several times the memory of the drafts.
            check_len(draft.min_len())?;
        }
        let place = self.migrate_before_append(place, drafts)?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.lock_and_catch_up(place, drafts)?;
        let result = self.write_locked(place, drafts);
        self.journal.unlock();
        let (ids, time) = result?;
        self.sync_after_append(time).map_err(|error| error.after_append(&ids))?;
        Ok(ids)
    }

    /// Takes the lock; gives the length of the journal, and what happened to it if it is no longer the one that was
    /// read. Torn bytes are nobody's entry: nothing is lost if they are gone.
    pub(super) fn lock_journal(&mut self) -> Result<(u64, Option<Loss>)> {
        let locked = self.journal.lock()?;
        let is_cut = locked.len < self.index.end;
        Ok((locked.len, locked.loss.or(is_cut.then_some(Loss::Truncated))))
    }

    /// Takes the lock and reads what others appended. If the file is no longer the one that was opened, goes on
    /// with its successor or saves everything beside it. Gives the place as the current tree knows it.
    fn lock_and_catch_up(&mut self, place: Place, drafts: &[Draft]) -> Result<Place> {
        let mut place = place;
        loop {
            let (len, loss) = self.lock_journal()?;
            let Some(loss) = loss else {
                let caught_up = self.catch_up_at(place, len);
                return caught_up.inspect_err(|_| self.journal.unlock());
            };
            self.journal.unlock();
            match self.follow_replacement(loss, place)? {
                Some(moved) => place = moved,
                None => return Err(self.rescue(loss, place, drafts)),
            }
        }
    }

    /// Writes the lines; the lock is held and the index is up to date.
    fn write_locked(&mut self, place: Place, drafts: &[Draft]) -> Result<(Vec<EntryId>, Timestamp)> {
        let parent = place.parent();
        let prepared = self.prepare(parent, drafts);
        let begins = drafts.iter().any(Draft::is_conversation);
        let written = self.write_lines(&prepared.lines, begins || self.writer.has_conversation)?;
        self.writer.has_conversation |= begins;
        let last = match written {
            Written::At(at) => self.take_in(at, parent, drafts, &prepared),
            Written::ReadIn(new) => {
                let ours: Vec<Option<Node>> =
                    prepared.ids.iter().map(|id| self.index.tree.node(id.as_str())).collect();
                self.foreign.extend(new.into_iter().filter(|node| !ours.contains(&Some(*node))));
                ours.last().copied().flatten().or(parent)
            }
        };
        self.writer.recent.note(&prepared.ids, &prepared.lines, &prepared.lengths);
        match place {
            Place::Under(_) => self.stand_at(last),
            Place::Aside(_) => self.follow_leaf(),
        }
        Ok((prepared.ids, prepared.time))
    }

    /// Writes whole lines at the end of the journal, with one write.
    fn write_lines(&mut self, lines: &[u8], publish: bool) -> Result<Written> {
        for line in lines.split(|byte| *byte == b'\n') {
            check_len(line.len() as u64)?;
        }
        let at = self.index.known_end();
        // A tail without line feed is closed off in the same write, never glued to, never removed. It is read before
        // anything is written: what follows must not fail.
        let needs_feed = self.index.open_tail || self.index.torn.is_some();
        let tail = self.index.read_tail(&*self.journal).map_err(|error| self.io_error("read", error))?;
        let all = if needs_feed { Cow::Owned([b"\n", lines].concat()) } else { Cow::Borrowed(lines) };
        self.journal.append(at, &all, publish)?;
        let expected = at + all.len() as u64;
        let end = self.journal.len().unwrap_or(expected);
        if end <= expected && !needs_feed {
            return Ok(Written::At(at));
        }
        let new = if end <= expected {
            // A tail that is too long for that is read once more from the journal.
            let (from, tail) = tail.map_or((at, Vec::new()), |tail| (self.index.end, tail));
            let known = [tail, all.into_owned()].concat();
            self.index.catch_up(&Overlay { base: &*self.journal, from, bytes: known }, expected)
        } else {
            // A program that does not lock wrote between our look and our write: our lines are not where we thought.
            self.index.catch_up(&*self.journal, end)
        };
        new.map(Written::ReadIn).map_err(|error| self.io_error("read", error))
    }

    /// Writes the lines that an append would write, with ids that are free now.
    pub(super) fn prepare_lines(&mut self, parent: Option<Node>, drafts: &[Draft]) -> Vec<u8> {
        self.prepare(parent, drafts).lines
    }

    fn prepare(&mut self, parent: Option<Node>, drafts: &[Draft]) -> Prepared {
        let time = self.writer.clock.now();
        let mut prepared = Prepared { ids: Vec::new(), lines: Vec::new(), lengths: Vec::new(), time };
        let mut above = parent.map(|parent| self.index.tree.id(parent));
        let spelling = self.spelling();
        for draft in drafts {
            let id = self.free_id(&prepared.ids);
            let start = prepared.lines.len();
            draft.write_spelled(&mut prepared.lines, &id, above.as_ref(), time, &spelling);
            prepared.lengths.push(prepared.lines.len() - start);
            prepared.ids.push(id.clone());
            above = Some(id);
        }
        prepared
    }

    /// Returns the spelling of the file, which new entries use too.
    pub(crate) fn spelling(&self) -> Spelling {
        if !self.index.writes_uuids() {
            return Spelling::Id;
        }
        let uuid = self.index.header.value().get("uuid").and_then(ValueRef::as_str);
        Spelling::Uuid { header: uuid.map(Cow::into_owned) }
    }

    /// Appends whole lines with one write, and reads them in as the lines of others are read. The leaf stays.
    ///
    /// `compose` writes the lines, ids and parents included, under the lock and knowing all that is in the file. If it
    /// fails nothing is written.
    pub(crate) fn append_composed(
        &mut self,
        compose: impl FnOnce(&mut Self, Timestamp) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.check_writable()?;
        let nowhere = self.migrate_before_append(Place::Aside(None), &[])?;
        self.lock_and_catch_up(nowhere, &[])?;
        let time = self.writer.clock.now();
        let result = compose(self, time).and_then(|lines| self.write_composed(&lines));
        self.journal.unlock();
        result?;
        self.sync_after_append(time)
    }

    fn write_composed(&mut self, lines: &[u8]) -> Result<()> {
        // What repairs and marks is no reason to create a file.
        if let Written::At(at) = self.write_lines(lines, false)? {
            let written = Overlay { base: &*self.journal, from: at, bytes: lines.to_vec() };
            let end = at + lines.len() as u64;
            self.index.catch_up(&written, end).map_err(|error| self.io_error("read", error))?;
        }
        self.follow_leaf();
        Ok(())
    }

    /// Draws an id that no line of the file has.
    pub(crate) fn free_id(&mut self, drawn: &[EntryId]) -> EntryId {
        let is_free = |id: &EntryId| !self.index.tree.holds(id.as_str()) && !drawn.contains(id);
        for _ in 0..100 {
            let id = self.writer.ids.entry_id();
            if is_free(&id) {
                return id;
            }
        }
        loop {
            let id = self.writer.ids.long_entry_id();
            if is_free(&id) {
                return id;
            }
        }
    }

    /// Takes written lines into the index; gives the last entry.
    fn take_in(
        &mut self,
        at: u64,
        parent: Option<Node>,
        drafts: &[Draft],
        prepared: &Prepared,
    ) -> Option<Node> {
        let (mut position, mut last) = (at, parent);
        let mut start = 0;
        for ((draft, id), length) in drafts.iter().zip(&prepared.ids).zip(&prepared.lengths) {
            let line = &prepared.lines[start..start + length - 1];
            let row = Row {
                position,
                len: u32::try_from(length - 1).unwrap_or(u32::MAX),
                kind: draft.kind(),
                role: draft.role(),
                traits: traits_of(draft, line),
                time: Some(prepared.time),
                placeholder: false,
            };
            let link = last.map_or(Link::Root, Link::To);
            last = Some(self.index.tree.push(row, IdKey::of(id.as_str()), link));
            if matches!(draft.kind(), Kind::Label | Kind::SessionInfo)
                && let Ok(doc) = Doc::parse(line)
            {
                self.index.labels.note(draft.kind(), doc.root(), prepared.time);
            }
            position += *length as u64;
            start += length;
        }
        // The ids were free, so there is nothing to compare.
        self.index.tree.resolve_links(|_, _| SameId::Other);
        self.index.end = position;
        last
    }
}

fn check_len(length: u64) -> Result<()> {
    if length > LONGEST_LINE {
        return Err(Error::EntryTooLong { length, limit: LONGEST_LINE });
    }
    Ok(())
}

fn traits_of(draft: &Draft, line: &[u8]) -> Traits {
    let is_interesting = matches!(draft.kind(), Kind::Custom) || draft.role() == crate::kind::Role::Assistant;
    if !is_interesting {
        return Traits::default();
    }
    Doc::parse(line).map(|doc| crate::line::head_of(doc.root()).traits).unwrap_or_default()
}
