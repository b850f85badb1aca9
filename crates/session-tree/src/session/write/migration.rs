//! Writing an old session in the current version.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;

use super::super::Session;
use super::append::{InsertAt, split_lines};
use super::loss::same_node;
use crate::draft::Draft;
use crate::error::{Error, Mismatch, ReadOnlyReason, Result};
use crate::index::{self, Index, LineAt, NonEntryKind};
use crate::journal::{
    ChecksumWriter, NewLines, Overlay, ReadAt, Replaced, checksum, copy_range, name_of, read_range, with_name,
};
use crate::migrate;
use crate::tree::Node;

impl Session {
    /// Writes the session in the current version, if it has an older one. Returns the path of the original.
    ///
    /// The new file is written beside the old one, read back and compared, and takes its name in one step.
    pub fn migrate(&mut self) -> Result<Option<PathBuf>> {
        self.check_writable()?;
        self.migrate_at(InsertAt::below(self.leaf), &[]).map(|(_, kept)| kept)
    }

    /// Returns true if the next append writes the whole file in the current version first.
    ///
    /// A file that spells its ids `uuid` is continued in its own spelling instead.
    pub fn needs_migration(&self) -> bool {
        self.index.is_old() && !self.index.writes_uuids()
    }

    /// Returns the reason why an old session cannot be written, if its storage cannot replace it.
    pub(crate) fn cannot_migrate(&self) -> Option<ReadOnlyReason> {
        let is_fixed = self.needs_migration() && !self.journal.capabilities().replace;
        is_fixed.then_some(ReadOnlyReason::OldVersion { version: self.index.version })
    }

    /// Migrates before the first append. Returns the place in the new tree.
    pub(super) fn migrate_before_append(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<InsertAt> {
        if !self.needs_migration() {
            return Ok(place);
        }
        self.migrate_at(place, drafts).map(|(place, _)| place)
    }

    /// Migrates, or continues with the file of another program that has migrated first. If the file is lost, saves its
    /// entries and the drafts.
    fn migrate_at(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<(InsertAt, Option<PathBuf>)> {
        let mut place = place;
        // A program without a lock may append while the copy is made.
        let mut tries = 20;
        loop {
            if !self.index.is_old() {
                return Ok((place, None));
            }
            let (len, loss) = self.lock_journal()?;
            let Some(loss) = loss else {
                let kept = self.catch_up_at(place, len).and_then(|place| self.migrate_locked(place));
                self.journal.unlock();
                match kept {
                    Err(error) if tries > 0 && is_busy(&error) => tries -= 1,
                    kept => return kept,
                }
                continue;
            };
            self.journal.unlock();
            match self.follow_replacement(loss, place)? {
                Some(moved) => place = moved,
                None => return Err(self.rescue(loss, place, drafts)),
            }
        }
    }

    fn migrate_locked(&mut self, place: InsertAt) -> Result<(InsertAt, Option<PathBuf>)> {
        let path = name_of(&*self.journal);
        let ended;
        let index = if self.index.torn.is_some() {
            // The torn line gets a line feed: if its id can be read, it keeps its place in the tree.
            let feed = Overlay { base: &*self.journal, from: self.index.known_end(), bytes: b"\n" };
            ended = index::load(&feed, Some(&path))?;
            &ended
        } else {
            &self.index
        };
        let written = Cell::new(0);
        let mut write = |source: &dyn ReadAt, out: &mut dyn Write| {
            let mut summing = ChecksumWriter { out, sum: 0 };
            write_current(index, source, &mut summing)?;
            written.set(summing.sum);
            Ok(())
        };
        let tree = &self.index.tree;
        let held = [place.parent, self.leaf];
        let mut loaded = None;
        let mut verify = |copy: &dyn ReadAt| {
            let failed = |mismatch| Error::Verify { path: path.clone(), mismatch };
            let sum = copy.len().and_then(|len| checksum(copy, len)).map_err(Error::io("read", &path))?;
            if sum != written.get() {
                return Err(failed(Mismatch::Bytes));
            }
            let found = index::load(copy, Some(&path))?;
            compare(index, &found).map_err(failed)?;
            // A torn line that now has an end may be an entry and shift the rows after it.
            let find = |node| same_node(tree, node, &found.tree);
            let missing = |node: Option<Node>| {
                failed(Mismatch::Missing { id: node.map_or_else(|| "".into(), |node| tree.id(node)) })
            };
            let [parent, leaf] = held.map(|node| find(node).ok_or_else(|| missing(node)));
            let (parent, leaf) = (parent?, leaf?);
            loaded = Some((found, parent, leaf));
            Ok(())
        };
        let replaced = self.journal.replace(&format!("bak-v{}", self.index.version), &mut write, &mut verify);
        let Replaced { kept, old } =
            replaced.map_err(|error| with_name(&*self.journal, error, Error::io_at("replace")))?;
        let Some((loaded, parent, leaf)) = loaded else { return Ok((place, kept)) };
        let old_index = self.replace_index(loaded, leaf);
        if let Some(old) = old {
            self.copy_late_lines(old_index, &*old)?;
        }
        Ok((InsertAt { parent, ..place }, kept))
    }

    /// Copies lines that a program without a lock wrote to the old file while it lost its name.
    fn copy_late_lines(&mut self, mut old: Index, source: &dyn ReadAt) -> Result<()> {
        let len = source.len().unwrap_or(0);
        if len <= old.known_end() {
            return Ok(());
        }
        let late = old.catch_up(source, len).map_err(|error| self.io_error("read", error))?;
        let mut lines = Vec::new();
        for node in late {
            let (position, len) = old.tree.place(node);
            let raw = read_range(source, position, len as usize);
            let raw = raw.map_err(|error| self.io_error("read", error))?;
            lines.extend(migrate::current_line(&old, node, &raw).unwrap_or(raw));
            lines.push(b'\n');
        }
        let at = self.index.known_end();
        let new = split_lines(&lines);
        self.append_to_journal(&NewLines { at, bytes: &lines, lines: &new, publish: true })?;
        self.writer.unsynced_since.get_or_insert(self.writer.clock.now());
        self.catch_up_to(at + lines.len() as u64)
    }
}

/// Returns true if the replacement failed because the file grew.
fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
}

/// Writes every line of a session in version 3. Bad and blank lines stay as they are.
fn write_current(index: &Index, source: &dyn ReadAt, out: &mut dyn Write) -> io::Result<()> {
    for line in index.lines() {
        let (position, len) = index.place_of(line);
        let changed = match line {
            LineAt::NonEntry(gap) if gap.kind == NonEntryKind::Header => migrate::current_header(index),
            LineAt::NonEntry(_) => None,
            LineAt::Row(node) => {
                let raw = read_range(source, position, len as usize)?;
                migrate::current_line(index, node, &raw)
            }
        };
        match changed {
            Some(bytes) => out.write_all(&bytes)?,
            None => copy_range(source, position..position + u64::from(len), out)?,
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Compares the tree of a rewritten copy with the tree it was made from.
fn compare(old: &Index, new: &Index) -> Result<(), Mismatch> {
    if old.tree.len() != new.tree.len() {
        return Err(Mismatch::Count { found: new.tree.len(), expected: old.tree.len() });
    }
    for (one, other) in old.tree.nodes().zip(new.tree.nodes()) {
        let (before, after) = (old.tree.id(one), new.tree.id(other));
        if before != after || old.tree.parent(one).map(Node::index) != new.tree.parent(other).map(Node::index)
        {
            return Err(Mismatch::Place { found: after, expected: before });
        }
    }
    Ok(())
}
