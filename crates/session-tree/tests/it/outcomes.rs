//! Outcomes of selecting an entry, of moving the leaf, and of forking: one table each.

use session_tree::{
    BranchSummarySettings, Destination, ForkPosition, Message, NewBranchSummary, Position, Session,
};
use testkit::drawing::{EVERY_TYPE, session_text};

use crate::support::live::{Folder, lines, options, shape};

fn open(dir: &Folder, drawing: &str) -> Session {
    let mut session = options().open(dir.put("s.jsonl", session_text(drawing))).unwrap();
    session.branch("k8").unwrap();
    session
}

#[test]
fn the_selected_entry_decides_about_the_leaf_and_the_editor() {
    // selected, new leaf, text in the editor
    let table: [(&str, Option<&str>, Option<&str>); 13] = [
        // A prompt or a message of an extension moves the leaf to the parent and returns the text.
        ("u3", Some("a2"), Some("second prompt")),
        ("m7", Some("b6"), Some("mind the gap")),
        ("u9", Some("x8"), Some("last prompt")),
        // At the root the conversation becomes empty.
        ("u1", None, Some("first prompt")),
        ("w1", None, Some("hello")),
        // Any other entry becomes the leaf, and the editor stays empty.
        ("a2", Some("a2"), None),
        ("c4", Some("c4"), None),
        ("r5", Some("r5"), None),
        ("b6", Some("b6"), None),
        ("k8", Some("k8"), None),
        ("s8", Some("s8"), None),
        ("p8", Some("p8"), None),
        ("x8", Some("x8"), None),
    ];
    for (selected, leaf, editor) in table {
        let dir = Folder::new();
        let mut session = open(&dir, EVERY_TYPE);
        let before = lines(session.file().unwrap());
        let plan = session.plan_navigation(selected).unwrap();
        assert_eq!(plan.new_leaf.as_ref().map(|id| id.as_str()), leaf, "{selected}");
        assert_eq!(plan.editor_text.as_deref(), editor, "{selected}");
        let done = session.apply_navigation(&plan, None, None).unwrap();
        assert_eq!(done.summary_entry, None, "{selected}");
        assert_eq!(session.leaf_id().as_ref().map(|id| id.as_str()), leaf, "{selected}");
        assert_eq!(lines(session.file().unwrap()), before, "{selected}: a move alone writes nothing");
        // The next message is a child of the new leaf.
        let said = session.append(Message::user("another try")).unwrap();
        let parent = session.entry(said.as_str()).unwrap().parent_id().map(ToString::to_string);
        assert_eq!(parent.as_deref(), leaf, "{selected}");
    }
}

#[test]
fn moving_the_leaf_writes_only_summaries() {
    let dir = Folder::new();
    let mut session = open(&dir, EVERY_TYPE);
    let entries = session.tree().len();
    session.branch("a2").unwrap();
    assert_eq!((session.leaf_id().unwrap().as_str(), session.tree().len()), ("a2", entries));
    assert!(session.branch("unknown").is_err());
    assert_eq!(session.leaf_id().unwrap(), "a2", "a bad target changes nothing");
    session.reset_leaf();
    assert_eq!((session.leaf(), session.tree().len()), (None, entries));

    // old leaf, target, `fromId` and parent of the summary
    let table: [(&str, Option<&str>, &str, Option<&str>); 2] =
        [("k8", Some("a2"), "k8", Some("a2")), ("k8", None, "k8", None)];
    for (old, target, from, parent) in table {
        session.branch(old).unwrap();
        let summary = NewBranchSummary { summary: "tried".into(), ..NewBranchSummary::default() };
        let written = session.branch_with_summary(Position::entry_or_start(target), &summary).unwrap();
        assert_eq!(session.leaf_id().unwrap(), written, "the summary is the new leaf");
        let entry = session.entry(written.as_str()).unwrap();
        assert_eq!(entry.parent_id().map(|id| id.as_str()), parent);
        let from_id = entry.value().unwrap().get("fromId").unwrap().as_str().unwrap().into_owned();
        assert_eq!(from_id, from);
    }
    session.reset_leaf();
    let root = session.append(Message::user("from scratch")).unwrap();
    assert_eq!(session.entry(root.as_str()).unwrap().parent_id(), None);
}

#[test]
fn a_summary_covers_what_is_left_behind_the_common_ancestor() {
    let parted = "
        a user a
        b<a assistant b
        c<b user c
        d<c assistant d
        e<d user e
        f<e assistant f
        g<c assistant g
        h<g user h
    ";
    let compacted = "
        a user a
        b<a assistant b
        c<b user c
        d<c assistant d
        k<d compaction keep=d so far
        e<k user e
        f<e assistant f
        g<b assistant g
    ";
    // drawing, old leaf, target, covered
    let table: [(&str, &str, &str, &[&str]); 6] = [
        (parted, "f", "h", &["d", "e", "f"]),
        (parted, "f", "g", &["d", "e", "f"]),
        (parted, "h", "f", &["g", "h"]),
        (parted, "f", "d", &["e", "f"]),
        (parted, "d", "f", &[]),
        // The summary of the compaction replaces earlier entries; the kept entries are summarised again.
        (compacted, "f", "g", &["k", "d", "e", "f"]),
    ];
    for (drawing, old, target, covered) in table {
        let session = Session::from_bytes(session_text(drawing)).unwrap();
        let settings = BranchSummarySettings::default();
        let plan = session.plan_branch_summary(old, target, &settings).unwrap();
        let found: Vec<String> =
            plan.covered.iter().map(|node| session.tree().id(*node).to_string()).collect();
        assert_eq!(found, covered, "{old} -> {target}");
    }
}

#[test]
fn a_move_stays_in_the_file_and_a_fork_makes_a_new_one() {
    let dir = Folder::new();
    let mut session = open(&dir, EVERY_TYPE);
    let before = lines(session.file().unwrap());

    let plan = session.plan_navigation("u3").unwrap();
    let tried = NewBranchSummary { summary: "tried".into(), ..NewBranchSummary::default() };
    session.apply_navigation(&plan, Some(&tried), None).unwrap();
    let after = lines(session.file().unwrap());
    assert_eq!(after[..before.len()], before[..], "all branches are kept");
    assert_eq!(after.len(), before.len() + 1, "the summary is all that is new");

    // prompt, entries of the fork, text in the editor
    let table: [(&str, &[&str], &str); 3] = [
        ("u3", &["u1", "a2<u1"], "second prompt"),
        ("u9", &["u1", "a2<u1", "s8<a2", "p8<s8", "t8<p8", "x8<t8"], "last prompt"),
        ("u1", &[], "first prompt"),
    ];
    for (at, (prompt, held, editor)) in table.into_iter().enumerate() {
        let plan = session.plan_fork(prompt, ForkPosition::Before).unwrap();
        assert_eq!(plan.editor_text.as_deref(), Some(editor), "{prompt}");
        let to = Destination::File(dir.at(&format!("fork-{at}.jsonl")));
        let fork = session.fork(&plan, to, options()).unwrap();
        assert_eq!(shape(&fork), held, "{prompt}: the path and nothing else, no summary");
        let parent = fork.header().parent_session().unwrap().into_owned();
        assert_eq!(std::path::Path::new(&parent), session.file().unwrap(), "{prompt}");
        assert_eq!(lines(session.file().unwrap()), after, "{prompt}: the old file stays as it was");
    }
    for other in ["a2", "c4", "k8", "s8"] {
        assert!(session.plan_fork(other, ForkPosition::Before).is_err(), "{other} is no prompt");
    }
}
