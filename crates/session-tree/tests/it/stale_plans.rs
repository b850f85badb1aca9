//! Plans belong to one session in one state: applied elsewhere, or too late, they fail and change nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_tree::cherry_pick::{PickRequest, Selection};
use session_tree::fs::RealFs;
use session_tree::merge::MergeRequest;
use session_tree::{
    CompactionSettings, Destination, Error, Extract, ForkPosition, KeepFrom, NewBranchSummary, NewCompaction,
    Session,
};
use testkit::drawing::session_text;

use crate::support::live::{Folder, options, user};

/// Two branches below `a2`; the leaf is at `a6`.
const TREE: &str = "
    u1 user one
    a2<u1 assistant two
    u3<a2 user three
    a4<u3 assistant four
    u5<a2 user five
    a6<u5 assistant six
";

/// A session and a copy of its bytes in another file, with the same ids.
struct Pair {
    dir: Folder,
    path: PathBuf,
    session: Session,
    twin: Session,
}

fn pair() -> Pair {
    let dir = Folder::new();
    let (path, copy) = (dir.put("s.jsonl", session_text(TREE)), dir.put("t.jsonl", session_text(TREE)));
    let (session, twin) = (options().open(&path).unwrap(), options().open(copy).unwrap());
    Pair { dir, path, session, twin }
}

impl Pair {
    /// Applies a plan to the copy, which must refuse it and stay unchanged.
    fn refused<T: std::fmt::Debug>(&mut self, apply: impl FnOnce(&mut Session) -> Result<T, Error>) {
        let before = (self.twin.leaf_id(), fs::read(self.dir.at("t.jsonl")).unwrap());
        assert_stale(&apply(&mut self.twin));
        assert_eq!((self.twin.leaf_id(), fs::read(self.dir.at("t.jsonl")).unwrap()), before);
    }
}

fn assert_stale<T: std::fmt::Debug>(result: &Result<T, Error>) {
    assert!(matches!(result, Err(Error::StalePlan)), "{result:?}");
}

fn summary() -> NewBranchSummary {
    NewBranchSummary { summary: "Tried three.".into(), ..NewBranchSummary::default() }
}

/// Replaces the file by one without the first entry, and lets the session detect it.
fn replace(path: &Path, session: &mut Session) {
    let text = fs::read_to_string(path).unwrap();
    let kept: String =
        text.lines().filter(|line| !line.contains(r#""id":"u1""#)).flat_map(|line| [line, "\n"]).collect();
    let copy = path.with_extension("new");
    fs::write(&copy, kept).unwrap();
    fs::rename(&copy, path).unwrap();
    session.append_label_change("a2", Some("noticed")).unwrap();
    assert_eq!(session.tree().node("u1"), None);
}

#[test]
fn a_navigation_or_pop_of_another_session_is_refused() {
    let mut pair = pair();
    let plan = pair.session.plan_navigation("u3").unwrap();
    pair.refused(|twin| twin.apply_navigation(&plan, None, None));
    let noop = pair.session.plan_navigation("a6").unwrap();
    pair.refused(|twin| twin.apply_navigation(&noop, None, None));
    let pop = pair.session.plan_pop(None).unwrap();
    pair.refused(|twin| twin.apply_pop(&pop, &summary()));
    pair.session.apply_pop(&pop, &summary()).unwrap();
}

#[test]
fn a_plan_that_found_the_leaf_in_place_is_refused_once_the_leaf_moved() {
    let Pair { dir: _dir, mut session, .. } = pair();
    let plan = session.plan_navigation("a6").unwrap();
    assert!(plan.is_noop);
    session.branch("a4").unwrap();
    assert_stale(&session.apply_navigation(&plan, None, None));
    assert_eq!(session.leaf_id().unwrap(), "a4");
}

#[test]
fn a_pop_is_refused_after_the_leaf_moved() {
    let Pair { dir: _dir, mut session, .. } = pair();
    let pop = session.plan_pop(None).unwrap();
    session.append_message(&user("more")).unwrap();
    assert_stale(&session.apply_pop(&pop, &summary()));
}

#[test]
fn a_pick_or_merge_is_refused_by_another_session_and_after_the_leaf_moved() {
    let mut pair = pair();
    let request = PickRequest::new(Selection::Entry(pair.session.node("u3").unwrap()));
    let pick = pair.session.plan_pick(&pair.session, &request).unwrap();
    pair.refused(|twin| twin.apply_pick(&pick));
    let tip = pair.session.node("a4").unwrap();
    let merge = pair.session.plan_merge(&pair.session, tip, &MergeRequest::default()).unwrap();
    pair.refused(|twin| twin.apply_merge(&merge));
    pair.session.append_message(&user("more")).unwrap();
    assert_stale(&pair.session.apply_pick(&pick));
    assert_stale(&pair.session.apply_merge(&merge));
}

#[test]
fn a_fast_forward_to_an_entry_that_is_gone_is_refused() {
    let Pair { dir: _dir, path, mut session, .. } = pair();
    session.reset_leaf();
    let tip = session.node("u1").unwrap();
    let plan = session.plan_merge(&session, tip, &MergeRequest::default()).unwrap();
    let leaf = session.leaf_id();
    replace(&path, &mut session);
    session.reset_leaf();
    assert_stale(&session.apply_merge(&plan));
    assert_eq!(session.leaf_id(), leaf);
}

#[test]
fn a_compaction_is_refused_by_another_session_and_on_another_branch() {
    let mut pair = pair();
    let settings = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
    let plan = pair.session.plan_compaction(&settings).unwrap();
    let new = NewCompaction {
        summary: plan.summary_text(Some("All of it."), None),
        keep: KeepFrom::Entry(plan.first_kept.clone()),
        tokens_before: plan.tokens_before,
        details: None,
        usage: None,
        from_hook: false,
    };
    pair.refused(|twin| twin.apply_compaction(&plan, &new));
    pair.session.branch("a4").unwrap();
    assert_stale(&pair.session.apply_compaction(&plan, &new));
    pair.session.branch("a6").unwrap();
    pair.session.append_message(&user("more")).unwrap();
    pair.session.apply_compaction(&plan, &new).unwrap();
}

#[test]
fn a_fork_is_refused_by_another_session_and_when_its_target_is_gone() {
    let mut pair = pair();
    let plan = pair.session.plan_fork("u1", ForkPosition::At).unwrap();
    pair.refused(|twin| twin.fork(&plan, Destination::Memory, options()));
    replace(&pair.path, &mut pair.session);
    assert_stale(&pair.session.fork(&plan, Destination::Memory, options()));
}

#[test]
fn an_extract_is_refused_by_another_session_and_after_the_file_was_replaced() {
    let mut pair = pair();
    let at = pair.session.node("a4").unwrap();
    let plan = pair.session.plan_extract(Extract::Path { at }).unwrap();
    pair.refused(|twin| twin.extract(&plan, Destination::Memory, options()));
    pair.session.append_message(&user("more")).unwrap();
    assert_eq!(pair.session.extract(&plan, Destination::Memory, options()).unwrap().tree().len(), 4);
    replace(&pair.path, &mut pair.session);
    assert_stale(&pair.session.extract(&plan, Destination::Memory, options()));
    let header = options().new_header("/project");
    let mut out = Vec::new();
    assert_stale(&pair.session.write_extract(&plan, &header, &mut out));
    assert!(out.is_empty());
}

#[test]
fn an_extract_of_a_whole_session_that_grew_is_refused() {
    let Pair { dir: _dir, mut session, .. } = pair();
    let plan = session.plan_extract(Extract::All).unwrap();
    assert_eq!(session.extract(&plan, Destination::Memory, options()).unwrap().tree().len(), 6);
    session.append_message(&user("more")).unwrap();
    assert_stale(&session.extract(&plan, Destination::Memory, options()));
}

#[test]
fn a_repair_is_refused_by_another_session_and_after_the_file_was_replaced() {
    let dir = Folder::new();
    let text = String::from_utf8(session_text(TREE)).unwrap();
    let damaged = text.replacen(r#""id":"u3""#, r#""id":"u3"#, 1);
    let (path, other) = (dir.put("s.jsonl", &damaged), dir.put("t.jsonl", &damaged));
    let (mut session, mut twin) = (options().open(&path).unwrap(), options().open(&other).unwrap());
    let plan = session.plan_repair(&session.check().unwrap());
    assert!(!plan.is_empty());
    assert_stale(&twin.apply_repair(&plan));
    assert_stale(&twin.write_repaired_copy(&plan, Arc::new(RealFs), &dir.at("copy.jsonl")));
    let foreign = twin.plan_repair(&session.check().unwrap());
    assert_stale(&twin.apply_repair(&foreign));
    assert_eq!(fs::read_to_string(&other).unwrap(), damaged);
    replace(&path, &mut session);
    assert_stale(&session.apply_repair(&plan));
}
