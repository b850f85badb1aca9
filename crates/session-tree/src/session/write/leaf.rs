//! The durable position of the leaf.

use super::super::Session;
use super::append::InsertAt;
use crate::draft::Draft;
use crate::error::Result;
use crate::id::EntryId;

impl Session {
    /// Records the position of the leaf, if it was moved and a reader of the file would find another one.
    ///
    /// Appends a marker below the leaf; the leaf itself stays where it is. Other programs that read the format
    /// take the last entry as the position and so end up on the same branch. Returns the id of the marker, or
    /// `None` if none was needed. If the leaf never moved, no marker is written.
    pub fn mark_leaf(&mut self) -> Result<Option<EntryId>> {
        if self.leaf == self.writer.persisted_leaf {
            return Ok(None);
        }
        let found = self.index.leaf(&*self.journal).map_err(|error| self.io_error("read", error))?;
        if found == self.leaf {
            return Ok(None);
        }
        let draft = Draft::leaf_marker(self.leaf_id().as_ref());
        let id = self.append_one(InsertAt::KeepLeaf(self.leaf), &draft)?;
        self.set_leaf(self.leaf);
        self.sync().map_err(|error| error.after_append(std::slice::from_ref(&id)))?;
        Ok(Some(id))
    }
}
