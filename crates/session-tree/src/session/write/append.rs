//! One append, from lock to release.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;

use super::super::Session;
use crate::draft::{Draft, Spelling};
use crate::error::{Error, FileLoss, InvalidReason, Result};
use crate::id::EntryId;
use crate::index::LONGEST_LINE;
use crate::journal::{NewLine, NewLines, Overlay, with_name};
use crate::json::ValueRef;
use crate::line::{Parent, Scan, Scanner};
use crate::position::Position;
use crate::time::Timestamp;
use crate::tree::Node;

/// The parent of new entries, and whether the leaf moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct InsertAt {
    /// None makes the first of them a root.
    pub(super) parent: Option<Node>,
    /// True if the leaf moves onto the last of them.
    pub(super) moves_leaf: bool,
}

impl InsertAt {
    /// Below an entry, which moves the leaf.
    pub(super) fn below(parent: Option<Node>) -> Self {
        InsertAt { parent, moves_leaf: true }
    }
}

/// The lines of drafts.
struct Composed {
    ids: Vec<EntryId>,
    bytes: Vec<u8>,
    time: Timestamp,
    /// True if the conversation has begun: see [`NewLines::publish`].
    publish: bool,
}

impl Session {
    /// Appends a message or a [`Draft`] below the leaf, and moves the leaf onto it.
    ///
    /// ```
    /// use session_tree::{Message, Options};
    ///
    /// let mut session = Options::new().in_memory("/project")?;
    /// let prompt = session.append(Message::user("Build a CLI"))?;
    /// let answer = session.append(Message::assistant().text("Done.").build())?;
    /// session.append_under(&prompt, Message::assistant().text("Which language?").build())?;   // a second branch
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing changed, neither in the file nor in memory, except after these:
    ///
    /// - [`Error::Sync`]: the entry is in the file and the leaf is on it, but it may not survive a power cut. The error
    ///   holds its id. The session can still be read; every later append fails with [`Error::Poisoned`].
    /// - [`Error::TornAppend`]: a part of the line stays in the file as a bad line, which readers skip.
    /// - [`Error::Replaced`]: the file is not the one that was opened. The entry is in the rescue file.
    pub fn append(&mut self, new: impl TryInto<Draft, Error: Into<Error>>) -> Result<EntryId> {
        self.append_one(InsertAt::below(self.leaf), &new.try_into().map_err(Into::into)?)
    }

    /// Appends a message or a [`Draft`] below `parent`, and moves the leaf onto it.
    ///
    /// Tasks that share a session name the parent, so that their entries do not chain.
    ///
    /// # Errors
    ///
    /// As [`Session::append`]; [`Error::UnknownEntry`] if there is no such parent.
    pub fn append_under(
        &mut self,
        parent: impl Into<Position>,
        new: impl TryInto<Draft, Error: Into<Error>>,
    ) -> Result<EntryId> {
        let parent = self.node_of(&parent.into())?;
        self.append_one(InsertAt::below(parent), &new.try_into().map_err(Into::into)?)
    }

    /// Returns the id of an entry that is going to be appended, for [`Draft::with_id`]: who shows a message while it grows
    /// can name it before it is stored.
    pub fn new_id(&mut self) -> EntryId {
        self.free_id(&mut HashSet::new())
    }

    /// Appends several entries, each below the one before, with one write.
    pub fn append_batch(&mut self, drafts: &[Draft]) -> Result<Vec<EntryId>> {
        self.append_at(InsertAt::below(self.leaf), drafts)
    }

    /// Appends several entries below the leaf that the journal records, each below the one before, with one write.
    ///
    /// A session that is opened now has this leaf. Writers that use this method continue the entries of each other instead of
    /// making branches. A log that several programs extend is written so.
    ///
    /// ```
    /// use session_tree::{Draft, Message, Options, Session};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("session.jsonl");
    /// let mut one = Options::new().create(&path, "/project")?;
    /// one.append(Message::user("hello"))?;
    /// let mut other = Session::open(&path)?;
    /// one.append_batch_to_end(&[Draft::message(&Message::user("first"))?])?;
    /// other.append_batch_to_end(&[Draft::message(&Message::user("second"))?])?;
    /// assert_eq!(other.context()?.items.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Session::append`].
    pub fn append_batch_to_end(&mut self, drafts: &[Draft]) -> Result<Vec<EntryId>> {
        self.append_found(InsertAt::below(self.leaf), drafts, |session, place| {
            Ok(InsertAt { parent: session.recorded_leaf()?, ..place })
        })
    }

    pub(super) fn append_one(&mut self, place: InsertAt, draft: &Draft) -> Result<EntryId> {
        let ids = self.append_at(place, std::slice::from_ref(draft))?;
        // One draft gives one id.
        ids.into_iter().next().ok_or_else(|| InvalidReason::NotAnObject.of("entry"))
    }

    pub(super) fn append_at(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<Vec<EntryId>> {
        self.append_found(place, drafts, |_, place| Ok(place))
    }

    /// Appends entries at the place that `find` returns once no line of others is unknown.
    fn append_found(
        &mut self,
        place: InsertAt,
        drafts: &[Draft],
        find: impl Fn(&Self, InsertAt) -> Result<InsertAt>,
    ) -> Result<Vec<EntryId>> {
        self.check_writable()?;
        for draft in drafts {
            // Checked before the lines exist: they may take several times the memory of the drafts.
            check_len(draft.min_len())?;
        }
        let place = self.migrate_before_append(place, drafts)?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let (ids, time) = match self.write_unlocked(place, drafts, &find)? {
            Some(written) => written,
            None => {
                let place = self.lock_and_catch_up(place, drafts)?;
                let result = find(self, place).and_then(|place| self.write_locked(place, drafts));
                self.journal.unlock();
                result?
            }
        };
        self.sync_after_append(time).map_err(|error| error.after_append(&ids))?;
        Ok(ids)
    }

    /// Takes the lock. Returns the length of the journal, and the kind of loss if it is no longer the one that was read. Torn
    /// bytes belong to no entry: their removal is no loss.
    pub(crate) fn lock_journal(&mut self) -> Result<(u64, Option<FileLoss>)> {
        let locked =
            self.journal.lock().map_err(|error| with_name(&*self.journal, error, Error::io_at("lock")))?;
        let is_cut = locked.len < self.index.end;
        Ok((locked.len, locked.loss.or(is_cut.then_some(FileLoss::Truncated))))
    }

    /// Takes the lock and reads the lines that others appended. If the file is no longer the one that was opened, continues
    /// with its successor, or saves everything beside it. Returns the place in the current tree.
    fn lock_and_catch_up(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<InsertAt> {
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

    /// Writes the lines of drafts without the lock. Returns none if nothing was written, because the journal cannot do that or
    /// others have appended.
    fn write_unlocked(
        &mut self,
        place: InsertAt,
        drafts: &[Draft],
        find: impl Fn(&Self, InsertAt) -> Result<InsertAt>,
    ) -> Result<Option<(Vec<EntryId>, Timestamp)>> {
        let index = &self.index;
        let is_whole = index.torn.is_none() && !index.open_tail && index.end == index.known_end();
        let is_certain = index.known_rows() == index.tree.node_bound();
        if !(self.journal.capabilities().unlocked && is_whole && is_certain) {
            return Ok(None);
        }
        // The journal refuses the lines if others have appended.
        let (at, place) = (index.end, find(self, place)?);
        let composed = self.compose(place, drafts);
        let lines = split_lines(&composed.bytes);
        check_lines(&lines)?;
        let new = NewLines { at, bytes: &composed.bytes, lines: &lines, publish: composed.publish };
        if !self.journal.append_unlocked(&new).map_err(|error| self.append_error(error))? {
            return Ok(None);
        }
        let written = Overlay { base: &*self.journal, from: at, bytes: &composed.bytes };
        let new = self.index.catch_up(&written, at + composed.bytes.len() as u64);
        let new = new.map_err(|error| self.io_error("read", error))?;
        self.note_written(place, &composed, &lines, new);
        Ok(Some((composed.ids, composed.time)))
    }

    /// Writes the lines of drafts; the lock is held and the index is up to date.
    fn write_locked(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<(Vec<EntryId>, Timestamp)> {
        let composed = self.compose(place, drafts);
        let lines = split_lines(&composed.bytes);
        let new = self.write_lines(&composed.bytes, &lines, composed.publish)?;
        self.note_written(place, &composed, &lines, new);
        Ok((composed.ids, composed.time))
    }

    fn compose(&mut self, place: InsertAt, drafts: &[Draft]) -> Composed {
        let time = self.writer.clock.now();
        let (ids, bytes) = self.prepare(place.parent, drafts, time);
        let publish = self.writer.has_conversation || drafts.iter().any(Draft::is_conversation);
        Composed { ids, bytes, time, publish }
    }

    /// Moves the leaf onto entries that were written. `new` also has those that others wrote at the same time.
    fn note_written(&mut self, place: InsertAt, composed: &Composed, lines: &[NewLine<'_>], new: Vec<Node>) {
        self.writer.has_conversation = composed.publish;
        let ours: Vec<Node> =
            composed.ids.iter().filter_map(|id| self.index.tree.node(id.as_str())).collect();
        if new.len() > ours.len() {
            let known: HashSet<Node> = ours.iter().copied().collect();
            self.appended_by_others.extend(new.into_iter().filter(|node| !known.contains(node)));
        }
        self.writer.recent.note(lines);
        if place.moves_leaf {
            self.set_leaf(ours.last().copied().or(place.parent));
        } else {
            self.follow_leaf();
        }
    }

    /// Writes whole lines at the end of the journal, with one write, and indexes them as loading does. Returns the new
    /// entries, including those that a program without a lock wrote at the same time.
    fn write_lines(&mut self, bytes: &[u8], lines: &[NewLine<'_>], publish: bool) -> Result<Vec<Node>> {
        check_lines(lines)?;
        let at = self.index.known_end();
        // A tail without line feed is ended by the same write; it is never continued or removed. It is read before anything is
        // written, because nothing may fail afterwards.
        let needs_feed = self.index.open_tail || self.index.torn.is_some();
        let tail = self.index.read_tail(&*self.journal).map_err(|error| self.io_error("read", error))?;
        let (all, lines) = if needs_feed {
            let feed = NewLine { bytes: b"\n", id: None, parent: None };
            (Cow::Owned([b"\n", bytes].concat()), Cow::Owned([&[feed], lines].concat()))
        } else {
            (Cow::Borrowed(bytes), Cow::Borrowed(lines))
        };
        let end = at + all.len() as u64;
        self.append_to_journal(&NewLines { at, bytes: &all, lines: &lines, publish })?;
        let is_exclusive = self.journal.capabilities().exclusive;
        let found = if is_exclusive { end } else { self.journal.len().unwrap_or(end) };
        let new = match found {
            // A program without a lock wrote before this append, so the lines have other positions.
            longer if longer > end => self.index.catch_up(&*self.journal, longer),
            _ => {
                // A tail that is too long to keep is read once more from the journal.
                let (from, bytes) = match tail {
                    Some(tail) if !tail.is_empty() => (self.index.end, Cow::Owned([&tail, &*all].concat())),
                    Some(_) | None => (at, all),
                };
                self.index.catch_up(&Overlay { base: &*self.journal, from, bytes: &bytes }, end)
            }
        };
        new.map_err(|error| self.io_error("read", error))
    }

    pub(crate) fn append_to_journal(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.journal.append(new).map_err(|error| self.append_error(error))
    }

    fn append_error(&self, error: Error) -> Error {
        with_name(&*self.journal, error, |path, source| Error::Append { path, source })
    }

    /// Writes the lines of drafts, each below the one before, with ids that are free now. Returns the ids and the lines.
    pub(super) fn prepare(
        &mut self,
        parent: Option<Node>,
        drafts: &[Draft],
        time: Timestamp,
    ) -> (Vec<EntryId>, Vec<u8>) {
        let above = parent.map(|parent| self.index.tree.id(parent));
        let (mut ids, mut lines): (Vec<EntryId>, _) = (Vec::with_capacity(drafts.len()), Vec::new());
        let (spelling, mut drawn) = (self.spelling(), HashSet::new());
        for draft in drafts {
            let is_free = |id: &&EntryId| !self.index.tree.holds(id.as_str()) && !drawn.contains(*id);
            let wanted = draft.wanted_id().filter(is_free).cloned();
            let id = wanted.unwrap_or_else(|| self.free_id(&mut drawn));
            drawn.insert(id.clone());
            draft.write_spelled(&mut lines, &id, ids.last().or(above.as_ref()), time, &spelling);
            ids.push(id);
        }
        (ids, lines)
    }

    /// Returns the spelling of the file, which new entries use too.
    pub(crate) fn spelling(&self) -> Spelling {
        if !self.index.writes_uuids() {
            return Spelling::Id;
        }
        let uuid = self.index.header.value().get("uuid").and_then(ValueRef::as_str);
        Spelling::Uuid { header: uuid.map(Cow::into_owned) }
    }

    /// Appends whole lines with one write, and indexes them like lines of others. The leaf stays.
    ///
    /// `compose` produces the lines with their ids and parents, under the lock and after catching up. If it fails, nothing is
    /// written.
    pub(crate) fn append_composed(
        &mut self,
        compose: impl FnOnce(&mut Self, Timestamp) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.check_writable()?;
        let nowhere = self.migrate_before_append(InsertAt { parent: None, moves_leaf: false }, &[])?;
        self.lock_and_catch_up(nowhere, &[])?;
        let time = self.writer.clock.now();
        // Repairs and markers are no reason to create a file.
        let composed = compose(self, time);
        let result = composed.and_then(|lines| self.write_lines(&lines, &split_lines(&lines), false));
        self.journal.unlock();
        result?;
        self.follow_leaf();
        self.sync_after_append(time)
    }

    /// Draws an id that neither a line of the file nor one of the `drawn` entries has, and adds it to these.
    pub(crate) fn free_id(&mut self, drawn: &mut HashSet<EntryId>) -> EntryId {
        let Self { index, writer, .. } = self;
        let draw = |tries| if tries < 100 { writer.ids.entry_id() } else { writer.ids.long_entry_id() };
        draw_free(drawn, draw, |id| index.tree.holds(id.as_str()))
    }
}

/// Splits the bytes of lines, and reads the id and the parent of each.
pub(crate) fn split_lines(bytes: &[u8]) -> Vec<NewLine<'_>> {
    let scanner = Scanner::default();
    let line = |bytes| match scanner.scan(bytes) {
        Scan::Object(head) if !head.is_header() => {
            let parent = match &head.parent {
                Parent::Id(parent) => Some(parent.to_id()),
                Parent::Absent | Parent::Null => None,
            };
            NewLine { bytes, id: head.id.map(|id| id.to_id()), parent }
        }
        _ => NewLine { bytes, id: None, parent: None },
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

/// Draws until an id is neither taken nor among those drawn before. `draw` receives the number of failed tries.
fn draw_free<I: Clone + Eq + Hash>(
    drawn: &mut HashSet<I>,
    mut draw: impl FnMut(usize) -> I,
    is_taken: impl Fn(&I) -> bool,
) -> I {
    let mut tries = 0;
    loop {
        let id = draw(tries);
        if !is_taken(&id) && drawn.insert(id.clone()) {
            return id;
        }
        tries += 1;
    }
}

fn check_lines(lines: &[NewLine<'_>]) -> Result<()> {
    lines.iter().try_for_each(|line| check_len(line.bytes.len() as u64 - 1))
}

fn check_len(length: u64) -> Result<()> {
    if length > LONGEST_LINE {
        return Err(Error::EntryTooLong { length, limit: LONGEST_LINE });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
