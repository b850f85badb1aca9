//! Migration: old lines as the current version spells them.
//!
//! A side branch of *line*: [`Index`] says which version a session has, this module changes one line of it by
//! splicing, so that everything it does not have to change stays byte for byte. Virtual while reading; the file
//! itself is rewritten only by the writer.

use crate::index::Index;
use crate::json::{Doc, Edit, ValueRef, literal};
use crate::kind::{Kind, Role};
use crate::time::Timestamp;
use crate::tree::Node;

/// Returns the line of an entry as version 3 spells it; `None` if it is spelled so already, or is no JSON.
pub(crate) fn current_line(index: &Index, node: Node, line: &[u8]) -> Option<Vec<u8>> {
    if index.reads_as_written() {
        return None;
    }
    let doc = Doc::parse(line).ok()?;
    let mut edit = Edit::new(doc.root());
    keep_envelope(index, node, doc.root(), &mut edit);
    let mut changed = false;
    if index.version == 1 {
        changed |= add_links(index, node, doc.root(), &mut edit);
    }
    if index.uuid_spelling {
        changed |= rename_uuids(index, node, doc.root(), &mut edit);
    }
    if index.is_old() {
        changed |= rename_hook_message(index, node, doc.root(), &mut edit);
    }
    changed.then(|| edit.document())
}

/// A line may name its type or its time twice, and which one counts depends on where the others of the envelope stand:
/// the one that did count takes the place of all.
fn keep_envelope(index: &Index, node: Node, value: ValueRef<'_>, edit: &mut Edit<'_>) {
    let (kind, time) = (index.tree.kind(node), index.tree.timestamp(node));
    let is_kind = |name: &str| Kind::from_name(name.as_bytes()) == kind;
    let is_time = |text: &str| Timestamp::parse(text) == Some(time);
    keep_one(value, "type", is_kind, edit);
    keep_one(value, "timestamp", is_time, edit);
}

fn keep_one(value: ValueRef<'_>, key: &str, counts: impl Fn(&str) -> bool, edit: &mut Edit<'_>) {
    let mut named = value.members().filter(|(name, _)| name.is_str(key)).map(|(_, value)| value);
    let counted = named.clone().find(|value| value.as_str().is_some_and(|text| counts(&text)));
    if let (Some(_), Some(counted)) = (named.nth(1), counted) {
        edit.replace(key, counted.raw());
    }
}

/// Returns the header line as version 3 spells it; `None` if it is spelled so already.
pub(crate) fn current_header(index: &Index) -> Option<Vec<u8>> {
    let value = index.header.value();
    if !index.is_old() {
        return None;
    }
    let mut edit = Edit::new(value);
    // The current version spells ids `id`, and its header is not a node.
    edit.remove("uuid");
    edit.remove("parentUuid");
    edit.set("version", b"3");
    Some(edit.document())
}

/// Version 1: gives the entry its id and its parent, and a compaction the id it keeps from.
fn add_links(index: &Index, node: Node, value: ValueRef<'_>, edit: &mut Edit<'_>) -> bool {
    let tree = &index.tree;
    for key in ["id", "parentId"] {
        edit.remove(key);
    }
    edit.append("id", literal(tree.id(node).as_str()).as_bytes());
    let parent = tree.parent(node).map_or("null".to_owned(), |parent| literal(tree.id(parent).as_str()));
    edit.append("parentId", parent.as_bytes());
    if tree.kind(node) == Kind::Compaction
        && let Some(kept) = value.get("firstKeptEntryIndex")
        && let Some(number) = kept.as_f64()
    {
        edit.remove("firstKeptEntryIndex");
        // Later entries had no id yet when pi looked one up.
        let target = index.row_of_object(number).filter(|target| *target <= node);
        if let Some(target) = target {
            edit.set("firstKeptEntryId", literal(tree.id(target).as_str()).as_bytes());
        }
    }
    true
}

/// Version 2: messages of extensions changed their role.
fn rename_hook_message(index: &Index, node: Node, value: ValueRef<'_>, edit: &mut Edit<'_>) -> bool {
    if index.tree.role(node) != Some(Role::Custom) {
        return false;
    }
    let Some(message) = value.get("message") else { return false };
    if !message.get("role").is_some_and(|role| role.is_str("hookMessage")) {
        return false;
    }
    let mut inner = Edit::new(message);
    inner.replace("role", b"\"custom\"");
    edit.replace("message", &inner.object_text())
}

/// The early design called its ids `uuid` and made the header a node.
fn rename_uuids(index: &Index, node: Node, value: ValueRef<'_>, edit: &mut Edit<'_>) -> bool {
    let mut changed = false;
    if value.get("id").is_none() {
        changed |= edit.rename("uuid", "id");
    }
    if value.get("parentId").is_none() && value.get("parentUuid").is_some() {
        changed |= edit.rename("parentUuid", "parentId");
        if index.tree.parent(node).is_none() {
            edit.replace("parentUuid", b"null");
        }
    }
    if value.get("firstKeptEntryId").is_none() {
        changed |= edit.rename("firstKeptEntryUuid", "firstKeptEntryId");
    }
    if value.get("type").is_some_and(|kind| kind.is_str("stack_summary")) {
        changed |= edit.replace("type", b"\"branch_summary\"");
    }
    if index.tree.has_bad_timestamp(node) && value.get("timestamp").is_none() {
        edit.append("timestamp", literal(&index.tree.timestamp(node).to_string()).as_bytes());
        changed = true;
    }
    changed
}
