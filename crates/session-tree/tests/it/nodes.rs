//! Nodes are valid for one state of one session: elsewhere they name no entry, and never another one.

use std::fs;

use proptest::prelude::*;
use session_tree::cherry_pick::{PickRequest, Selection};
use session_tree::merge::MergeRequest;
use session_tree::{
    BranchSummarySettings, CompactionSettings, EntryId, Error, Extract, Kind, Node, Position, Session,
    Timestamp,
};
use testkit::drawing::session_text;
use testkit::mangle;

use crate::support::drawn;
use crate::support::live::{Folder, options, user};

const SHORT: &str = "
    u1 user one
    a2<u1 assistant two
";

const LONG: &str = "
    x1 user eins
    y2<x1 assistant zwei
    x3<y2 user drei
    y4<x3 assistant vier
";

/// Calls everything that takes a node with one of another session or an earlier state.
fn assert_stale(session: &Session, node: Node) {
    let tree = session.tree();
    assert!(!tree.contains(node));
    assert_eq!(tree.id(node), EntryId::from(""));
    assert_eq!((tree.kind(node), tree.role(node), tree.parent(node)), (Kind::Opaque, None, None));
    assert_eq!(tree.timestamp(node), Timestamp::from_millis(0));
    let flags = [
        tree.is_placeholder(node),
        tree.has_text(node),
        tree.ended_badly(node),
        tree.is_internal(node),
        tree.is_leaf_marker(node),
        tree.has_bad_timestamp(node),
        tree.is_branch_point(node),
    ];
    assert!(!flags.contains(&true), "{flags:?}");
    assert_eq!((tree.children(node).count(), tree.ancestors(node).count()), (0, 0));
    assert_eq!((tree.path(node), tree.subtree(node)), (Vec::new(), Vec::new()));
    assert_eq!(tree.nearest_conversational(node), None);
    if let Some(leaf) = session.leaf() {
        assert!(!tree.is_on_path(node, leaf) && !tree.is_on_path(leaf, node));
        assert_eq!((tree.common_ancestor(leaf, node), tree.common_ancestor(node, leaf)), (None, None));
    }
    assert_eq!((session.label(node), session.line_number(node), session.line_len(node)), (None, 0, 0));

    assert_eq!(failure(session.entry_at(node)), "StaleNode");
    assert_eq!(failure(session.branch_name(node)), "StaleNode");
    assert_eq!(failure(session.position_of(node)), "StaleNode");
    let compaction = CompactionSettings::default();
    assert_eq!(failure(session.plan_compaction_at(node, &compaction)), "StaleNode");
    let settings = BranchSummarySettings::default();
    let unknown = session.plan_branch_summary(Position::Leaf, "unknown", &settings);
    assert!(failure(unknown).starts_with("UnknownEntry"));
    for what in [Extract::Path { at: node }, Extract::Branch { at: node }, Extract::Subtree { root: node }] {
        assert_eq!(failure(session.plan_extract(what)), "StaleNode");
    }
    for selection in
        [Selection::Entry(node), Selection::Turn(node), Selection::Range { after: node, to: node }]
    {
        assert_eq!(failure(session.plan_pick(session, &PickRequest::new(selection))), "StaleNode");
    }
    assert_eq!(failure(session.plan_merge(session, node, &MergeRequest::default())), "StaleNode");
    assert_eq!(failure(session.plan_pop(Some(node))), "StaleNode");
}

fn failure<T>(result: Result<T, Error>) -> String {
    result.err().map_or_else(|| "no error".to_owned(), |error| format!("{error:?}"))
}

#[test]
fn a_node_of_another_session_stands_for_no_entry() {
    let short = Session::from_bytes(session_text(SHORT)).unwrap();
    let long = Session::from_bytes(session_text(LONG)).unwrap();
    for node in long.tree().nodes() {
        assert_stale(&short, node);
    }
    for node in short.tree().nodes() {
        assert_stale(&long, node);
    }
}

#[test]
fn two_sessions_on_one_file_do_not_share_nodes() {
    let dir = Folder::new();
    let path = dir.put("s.jsonl", session_text(LONG));
    let (one, other) = (options().open(&path).unwrap(), options().open(&path).unwrap());
    assert_stale(&one, other.leaf().unwrap());
}

#[test]
fn appends_of_this_and_of_other_sessions_keep_nodes_valid() {
    let dir = Folder::new();
    let path = dir.put("s.jsonl", session_text(LONG));
    let mut session = options().open(&path).unwrap();
    let node = session.node("x3").unwrap();
    options().open(&path).unwrap().append_message(&user("theirs")).unwrap();
    session.append_message(&user("ours")).unwrap();
    assert_eq!(session.tree().len(), 6);
    assert_eq!(session.entry_at(node).unwrap().id(), "x3");
}

#[test]
fn a_node_is_stale_after_another_session_migrated_the_file() {
    let dir = Folder::new();
    let text = concat!(
        r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"ho"}}"#,
        "\n",
    );
    let path = dir.put("s.jsonl", text);
    let mut session = options().open(&path).unwrap();
    let before: Vec<(Node, EntryId)> =
        session.tree().nodes().map(|node| (node, session.tree().id(node))).collect();
    options().open(&path).unwrap().migrate().unwrap().unwrap();
    session.append_message(&user("more")).unwrap();
    assert_eq!(before.len(), 2);
    for (node, id) in before {
        assert_stale(&session, node);
        assert_eq!(session.entry(id.as_str()).unwrap().id(), &id);
    }
}

#[test]
fn a_node_is_stale_after_the_file_was_replaced_by_one_with_other_entries_in_its_rows() {
    let dir = Folder::new();
    let path = dir.put("s.jsonl", session_text(LONG));
    let mut session = options().open(&path).unwrap();
    let node = session.node("x1").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let kept: String =
        text.lines().filter(|line| !line.contains(r#""id":"x1""#)).flat_map(|line| [line, "\n"]).collect();
    let copy = path.with_extension("new");
    fs::write(&copy, kept).unwrap();
    fs::rename(&copy, &path).unwrap();
    session.append_message(&user("more")).unwrap();
    assert_eq!(session.tree().node("y2").unwrap().index(), node.index());
    assert_stale(&session, node);
}

proptest! {
    #![proptest_config(drawn(96))]

    #[test]
    fn no_node_of_any_file_stands_for_an_entry_of_another(one in 0..100_000_u64, other in 0..100_000_u64) {
        let load = |index| Session::from_bytes(mangle::file(5, index).bytes);
        let (Ok(one), Ok(other)) = (load(one), load(other)) else { return Ok(()) };
        for node in one.tree().nodes().take(20) {
            assert_stale(&other, node);
        }
        for node in other.tree().nodes().take(20) {
            assert_stale(&one, node);
        }
    }
}
