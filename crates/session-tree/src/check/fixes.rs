//! Fixes that `repair` can apply, and the records of applied repairs.

use std::fmt;
use std::ops::Range;

use super::REPAIR;
use crate::error::Result;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::session::Session;
use crate::tree::Node;

/// A fix that a repair can apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Appends an entry without content that has the id of the lost one, so that its descendants have their ancestors
    /// again, in other programs too.
    Stub {
        /// The id that was lost.
        id: EntryId,
        /// The parent; `None` for a root.
        parent: Option<EntryId>,
        /// True if the parent is inferred from the order of the lines instead of read from the file.
        inferred: bool,
    },
    /// Appends entries again that are whole but share their line with something else.
    Recover {
        /// The entries, in the order of the file.
        entries: Vec<Recovered>,
    },
    /// Ends the last line.
    LineFeed,
    /// Appends a marker, so that other programs continue from the same entry.
    LeafMarker {
        /// The entry to continue from.
        target: Option<EntryId>,
    },
    /// Makes the entry a root; only possible in a copy.
    Detach {
        /// The entry.
        id: EntryId,
    },
    /// Leaves bytes out; only possible in a copy.
    Omit {
        /// The bytes.
        bytes: Range<u64>,
    },
    /// Writes the readable entries below a new header; only possible in a copy.
    NewHeader,
}

/// A whole entry on a line with something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The id of the entry.
    pub id: EntryId,
    /// The range of its bytes in the file.
    pub bytes: Range<u64>,
    /// True for a bookkeeping entry, which is never a leaf.
    pub(crate) is_aside: bool,
}

/// The record of a repair.
pub(crate) struct RepairRecord {
    pub(crate) node: Node,
    pub(crate) restored: Vec<EntryId>,
    /// The marker of the leaf that the repair appended.
    pub(crate) marker: Option<EntryId>,
    /// The leaf before the repair; none if the record has no such field.
    pub(crate) leaf_before: Option<Option<EntryId>>,
    pub(crate) infers: bool,
    /// The record of the repair that this one undid.
    pub(crate) undoes: Option<EntryId>,
}

impl RepairRecord {
    fn read(node: Node, data: ValueRef<'_>) -> Self {
        let id = |value: ValueRef<'_>| value.as_str().map(|id| EntryId::from(&*id));
        RepairRecord {
            node,
            restored: data.get("restored").into_iter().flat_map(|ids| ids.items()).filter_map(id).collect(),
            marker: data.get("marker").and_then(id),
            leaf_before: data.get("leafBefore").map(id),
            infers: data.get("inferred").and_then(ValueRef::as_bool) == Some(true),
            undoes: data.get("undoes").and_then(id),
        }
    }
}

impl Fix {
    /// Returns true if appending is not enough, so that only a copy of the file can be repaired this way.
    pub fn needs_copy(&self) -> bool {
        match self {
            Fix::Detach { .. } | Fix::Omit { .. } | Fix::NewHeader => true,
            Fix::Stub { .. } | Fix::Recover { .. } | Fix::LineFeed | Fix::LeafMarker { .. } => false,
        }
    }

    /// Returns true if the fix is inferred from the order of the lines instead of read from the file.
    pub fn is_inferred(&self) -> bool {
        matches!(self, Fix::Stub { inferred: true, .. })
    }

    /// Returns the ids of the entries that would be restored.
    #[cfg(feature = "fs")]
    pub(crate) fn restored(&self) -> impl Iterator<Item = &EntryId> {
        let (stub, recovered) = match self {
            Fix::Stub { id, .. } => (Some(id), &[][..]),
            Fix::Recover { entries } => (None, entries.as_slice()),
            Fix::LineFeed
            | Fix::LeafMarker { .. }
            | Fix::Detach { .. }
            | Fix::Omit { .. }
            | Fix::NewHeader => (None, &[][..]),
        };
        stub.into_iter().chain(recovered.iter().map(|entry| &entry.id))
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::Stub { id, parent, inferred } => {
                write!(f, "append an empty entry {id} ")?;
                match parent {
                    Some(parent) => write!(f, "below {parent}")?,
                    None => f.write_str("as a root")?,
                }
                f.write_str(if *inferred { ", which is a guess" } else { "" })
            }
            Fix::Recover { entries } => {
                let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
                write!(f, "append again what is whole: {}", ids.join(", "))
            }
            Fix::LineFeed => f.write_str("end the last line"),
            Fix::LeafMarker { target } => {
                let target = target.as_ref().map_or("the start", EntryId::as_str);
                write!(f, "append a marker, so that other programs go on from {target}")
            }
            Fix::Detach { id } => write!(f, "make {id} a root"),
            Fix::Omit { bytes } => write!(f, "leave out the bytes {}..{}", bytes.start, bytes.end),
            Fix::NewHeader => f.write_str("write the entries that can be read below a new header"),
        }
    }
}

impl Session {
    /// Returns the records of repairs and of undone repairs, in file order.
    pub(crate) fn repair_records(&self) -> Result<Vec<RepairRecord>> {
        let mut found = Vec::new();
        for node in self.tree().nodes().filter(|node| self.tree().is_internal(*node)) {
            let entry = self.entry_at(node)?;
            let is_record =
                |value: &ValueRef<'_>| value.get("customType").is_some_and(|name| name.is_str(REPAIR));
            let data = entry.value().filter(is_record).and_then(|value| value.get("data"));
            found.extend(data.map(|data| RepairRecord::read(node, data)));
        }
        Ok(found)
    }
}
