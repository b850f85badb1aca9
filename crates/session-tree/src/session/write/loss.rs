//! When the file behind a session was replaced, deleted or cut by somebody else.

use std::io::{self, Read};

use super::super::Session;
use super::append::Place;
use crate::draft::Draft;
use crate::error::{Error, Loss, ReadOnlyReason, Result};
use crate::index;
use crate::journal::{ReadAt, name_of};
use crate::tree::{Node, Tree};

impl Session {
    /// If somebody put a new file with the same session in place (a migration, say), goes on with that one.
    /// Gives the place in it; `None` if the session is not there any more.
    pub(super) fn follow_replacement(&mut self, loss: Loss, place: Place) -> Result<Option<Place>> {
        if loss != Loss::Replaced {
            return Ok(None);
        }
        let Ok(journal) = self.journal.reopened() else { return Ok(None) };
        let Ok(index) = index::load(&*journal, journal.path()) else { return Ok(None) };
        let same = index.header.id() == self.index.header.id();
        let find = |node: Option<Node>| same_node(&self.index.tree, node, &index.tree);
        let (parent, leaf) = (find(place.parent()), find(self.leaf));
        let (Some(parent), Some(leaf), true) = (parent, leaf, same) else { return Ok(None) };
        self.journal = journal;
        self.adopt(index, leaf);
        Ok(Some(place.at(parent)))
    }

    /// Saves all that this session can still read, and the lines that were to be appended, beside the lost file.
    pub(super) fn rescue(&mut self, loss: Loss, place: Place, drafts: &[Draft]) -> Error {
        let lines = self.prepare_lines(place.parent(), drafts);
        let bytes = match self.readable_bytes() {
            Ok(bytes) => bytes,
            // A part of a session under the name of a rescue would be believed to be all of it.
            Err(error) => return self.io_error("read", error),
        };
        let feed: &[u8] = if bytes.last().is_none_or(|last| *last == b'\n') { b"" } else { b"\n" };
        let mut all = bytes.as_slice().chain(feed).chain(lines.as_slice());
        let path = name_of(&*self.journal);
        let rescue = match self.journal.rescue(&mut all) {
            Ok(rescue) => rescue,
            Err(error) => return error,
        };
        self.read_only = Some(ReadOnlyReason::Lost { what: loss });
        Error::Replaced { path, what: loss, rescue }
    }

    /// Reads what is left of the journal; a file that lost its name can still be read by who has it open.
    fn readable_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Reader { source: &*self.journal, at: 0, to: self.index.end }.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

pub(super) fn same_node(old: &Tree, node: Option<Node>, new: &Tree) -> Option<Option<Node>> {
    match node {
        None => Some(None),
        Some(node) => new.node(old.id(node).as_str()).map(Some),
    }
}

/// Reads a journal from front to back.
pub(crate) struct Reader<'j, R: ReadAt + ?Sized> {
    pub(crate) source: &'j R,
    pub(crate) at: u64,
    pub(crate) to: u64,
}

impl<R: ReadAt + ?Sized> Read for Reader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let read = self.source.read_at(self.at, &mut buffer[..room])?;
        self.at += read as u64;
        Ok(read)
    }
}
