//! A position in a session: an entry, the current leaf, or the place before the first entry.
//!
//! A base type.

use crate::id::EntryId;

/// A position in a session.
///
/// Methods that need one accept `impl Into<Position>`: an [`EntryId`], a reference to one, or the text of an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Position {
    /// The current leaf of the session, wherever it is.
    #[default]
    Leaf,
    /// An entry.
    Entry(EntryId),
    /// The place before the first entry.
    Start,
}

impl Position {
    /// Returns the entry with this id, or the start of the session if no id is given.
    ///
    /// [`Session::leaf_id`](crate::Session::leaf_id) and the `parentId` of an entry are such ids.
    pub fn entry_or_start(id: Option<impl AsRef<str>>) -> Self {
        id.map_or(Position::Start, |id| Position::Entry(id.as_ref().into()))
    }
}

impl From<EntryId> for Position {
    fn from(id: EntryId) -> Self {
        Position::Entry(id)
    }
}

impl From<&EntryId> for Position {
    fn from(id: &EntryId) -> Self {
        Position::Entry(id.clone())
    }
}

impl From<&str> for Position {
    fn from(id: &str) -> Self {
        Position::Entry(id.into())
    }
}

impl From<&String> for Position {
    fn from(id: &String) -> Self {
        Position::Entry(id.as_str().into())
    }
}
