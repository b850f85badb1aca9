//! The source of a merge: the entries of a branch that are new here.

use crate::cherry_pick::{CommonAncestor, MessageReader, Target, Unit, units_of};
use crate::entry::Message;
use crate::error::Result;
use crate::file_ops::FileOps;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::Node;

/// An earlier merge of the same branch into the current path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierMerge {
    /// The branch summary that it wrote.
    pub entry: EntryId,
    /// The last entry of the source that it covers.
    pub source_leaf: EntryId,
}

/// The new entries of a source.
pub(super) struct Incoming<'s> {
    pub(super) source: &'s Session,
    pub(super) base: Option<CommonAncestor>,
    pub(super) earlier: Option<EarlierMerge>,
    /// The last entry that counts.
    pub(super) leaf: Node,
    /// Everything on the source's path that is new, oldest first.
    pub(super) segment: Vec<Node>,
    /// The new entries that have content, after the latest compaction.
    pub(super) entries: Vec<Node>,
    pub(super) files: FileOps,
    /// Reads the messages with the context edits of the branch applied.
    pub(super) reader: MessageReader<'s>,
}

impl<'s> Incoming<'s> {
    /// Collects the new entries. Returns `None` without new entries.
    pub(super) fn of(here: &Target<'_>, source: &'s Session, tip: Node) -> Result<Option<Self>> {
        let tree = source.tree();
        let Some(leaf) = finished(source, tip)? else { return Ok(None) };
        let base = here.common_ancestor(source, leaf);
        let path = tree.path(leaf);
        let place = |node: Node| path.iter().position(|other| *other == node);
        let base_place = base.map(|base| base.there).and_then(place);
        let (earlier, merged_place) = earlier_merge(here, source, &path, base_place)?.unzip();
        let start = merged_place.or(base_place);
        let segment = path[start.map_or(0, |place| place + 1)..].to_vec();
        let abandoned = source.abandoned_nodes(Some(leaf), start.map(|place| path[place]));
        let (covered, files) = source.covered(&abandoned, false, &mut |_, _| {})?;
        let reader = MessageReader::edited(source, &segment)?;
        let has_content = |message: Message| !matches!(message.role(), Role::System | Role::Other);
        let mut entries = Vec::new();
        for node in covered {
            if reader.message(node)?.is_some_and(has_content) {
                entries.push(node);
            }
        }
        let is_new = !entries.is_empty();
        Ok(is_new.then_some(Self { source, base, earlier, leaf, segment, entries, files, reader }))
    }
}

/// Returns the last entry of a path that counts: not a line that cannot be read, not bookkeeping, and nothing of an
/// answer whose tools have not all returned.
fn finished(source: &Session, tip: Node) -> Result<Option<Node>> {
    let tree = source.tree();
    let Some(tip) = source.readable(Some(tip)).and_then(|tip| tree.nearest_conversational(tip)) else {
        return Ok(None);
    };
    let is_last_said = |node: &Node| matches!(tree.role(*node), Some(Role::Assistant | Role::User));
    let Some(last) = tree.ancestors(tip).find(is_last_said) else { return Ok(Some(tip)) };
    let path = tree.path(tip);
    let from = path.iter().position(|node| *node == last).unwrap_or_default();
    let units = units_of(&MessageReader::verbatim(source), &path[from..])?;
    if units.first().is_some_and(Unit::is_open) {
        let above = source.readable(tree.parent(last));
        return Ok(above.and_then(|above| tree.nearest_conversational(above)));
    }
    Ok(Some(tip))
}

/// Finds the merge on the current path that covers most of the source's path below the base, and the last place that it
/// covers.
///
/// A merge covers all entries above the entry it ended at.
fn earlier_merge(
    here: &Target<'_>,
    source: &Session,
    path: &[Node],
    base: Option<usize>,
) -> Result<Option<(EarlierMerge, usize)>> {
    let mut furthest: Option<(EarlierMerge, usize)> = None;
    for node in here.path.iter().copied() {
        if here.session.tree().kind(node) != Kind::BranchSummary {
            continue;
        }
        let Some(merged) = merged_at(here.session, source, node)? else { continue };
        let common = path.last().and_then(|leaf| source.tree().common_ancestor(*leaf, merged));
        let place = path.iter().position(|other| Some(*other) == common);
        if place > furthest.as_ref().map_or(base, |(_, best)| Some(*best))
            && let Some(place) = place
        {
            let source_leaf = source.tree().id(merged);
            furthest = Some((EarlierMerge { entry: here.session.tree().id(node), source_leaf }, place));
        }
    }
    Ok(furthest)
}

/// Returns the last entry of the source that a merge covers; none if it is no merge of this source.
fn merged_at(session: &Session, source: &Session, node: Node) -> Result<Option<Node>> {
    let entry = session.entry_at(node)?;
    let Some(merge) = entry.value().and_then(|value| value.get("details")?.get("merge")) else {
        return Ok(None);
    };
    let leaf = merge.get("sourceLeafId").and_then(ValueRef::as_str);
    let found = leaf.and_then(|leaf| source.tree().node(&leaf));
    // A merge without a session is of the session it was written in; its forks keep the ids.
    let named = merge.get("sourceSession").and_then(|session| session.get("id")?.as_str());
    Ok(found.filter(|_| named.is_none_or(|named| named == source.header().id())))
}
