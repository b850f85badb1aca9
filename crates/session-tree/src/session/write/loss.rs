//! When the file behind a session was replaced, deleted or cut by somebody else.

use std::io::{self, Read};
use std::path::PathBuf;

use super::super::Session;
use super::append::Place;
use crate::draft::Draft;
use crate::error::{Error, Loss, ReadOnlyReason, Result};
use crate::index;
use crate::journal::{Reader, name_of, read_range};
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
        match self.write_rescue(place, drafts) {
            Ok(rescue) => {
                self.read_only = Some(ReadOnlyReason::Lost { what: loss });
                Error::Replaced { path: name_of(&*self.journal), what: loss, rescue }
            }
            Err(error) => error,
        }
    }

    /// A file that lost its name can still be read by who has it open. It may be larger than memory.
    fn write_rescue(&mut self, place: Place, drafts: &[Draft]) -> Result<Option<PathBuf>> {
        let lines = self.prepare_lines(place.parent(), drafts);
        let (end, is_open) = self.readable_end().map_err(|error| self.io_error("read", error))?;
        let feed: &[u8] = if is_open { b"\n" } else { b"" };
        let known = Reader::new(&*self.journal, 0..end);
        self.journal.rescue(&mut known.chain(feed).chain(lines.as_slice()))
    }

    /// Returns where that which can be read ends, and whether it ends in the middle of a line.
    fn readable_end(&self) -> io::Result<(u64, bool)> {
        let end = self.journal.len()?.min(self.index.known_end());
        let Some(last) = end.checked_sub(1) else { return Ok((0, false)) };
        Ok((end, read_range(&*self.journal, last, 1)? != b"\n"))
    }
}

pub(super) fn same_node(old: &Tree, node: Option<Node>, new: &Tree) -> Option<Option<Node>> {
    match node {
        None => Some(None),
        Some(node) => new.node(old.id(node).as_str()).map(Some),
    }
}
