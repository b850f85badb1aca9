//! The target of a pick or a merge: the path of the leaf, and the entries of a source that are on it already.

use std::collections::{BTreeSet, HashMap};

use super::MessageReader;
use crate::error::Result;
use crate::file_ops::FileOps;
use crate::id::EntryId;
use crate::kind::Kind;
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// The path of a session's leaf.
pub(crate) struct Target<'s> {
    pub(crate) session: &'s Session,
    pub(crate) path: Vec<Node>,
    by_id: HashMap<EntryId, Node>,
}

/// The deepest entry that the path has in common with a source, as each of the two knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommonAncestor {
    pub(crate) here: Node,
    pub(crate) there: Node,
}

impl<'s> Target<'s> {
    pub(crate) fn of(session: &'s Session) -> Self {
        let path = session.branch_path(Position::Leaf);
        let by_id = path.iter().map(|node| (session.tree().id(*node), *node)).collect();
        Self { session, path, by_id }
    }

    /// Finds an entry of a source on the path.
    ///
    /// Forks keep ids and times, so an entry of another session is the same one if both agree.
    pub(crate) fn same_entry(&self, source: &Session, node: Node) -> Option<Node> {
        let (ours, theirs) = (self.session.tree(), source.tree());
        let found = *self.by_id.get(&theirs.id(node))?;
        let agrees = ours.kind(found) == theirs.kind(node) && ours.timestamp(found) == theirs.timestamp(node);
        agrees.then_some(found)
    }

    /// Finds the deepest entry that this path and the path to an entry of a source have in common.
    pub(crate) fn common_ancestor(&self, source: &Session, at: Node) -> Option<CommonAncestor> {
        let mut above = source.tree().ancestors(at);
        above.find_map(|there| self.same_entry(source, there).map(|here| CommonAncestor { here, there }))
    }

    /// Returns the part of the path below an entry; all of it without one.
    pub(crate) fn since(&self, base: Option<Node>) -> &[Node] {
        let start = base.and_then(|base| self.path.iter().rposition(|node| *node == base));
        &self.path[start.map_or(0, |place| place + 1)..]
    }

    /// Returns the files that tools changed on the path below an entry.
    pub(crate) fn changed_since(&self, base: Option<Node>) -> Result<BTreeSet<String>> {
        let files = touched(self.session, self.since(base))?;
        Ok(files.modified_files().into_iter().map(String::from).collect())
    }
}

/// Collects the files that tools touched in some entries. Files that summaries list do not count.
pub(crate) fn touched(session: &Session, nodes: &[Node]) -> Result<FileOps> {
    let reader = MessageReader::verbatim(session);
    let mut files = FileOps::default();
    for node in nodes.iter().copied().filter(|node| session.tree().kind(*node) == Kind::Message) {
        if let Some(message) = reader.message(node)? {
            files.add_message(&message);
        }
    }
    Ok(files)
}
