//! A file replaced by another one of the same session: entries of the old file are found again by id, or are gone.

use std::fs;
use std::path::Path;

use session_tree::cherry_pick::{PickRequest, Selection};
use session_tree::merge::MergeRequest;
use session_tree::{Entry, Error, NewBranchSummary, Session};
use testkit::drawing::session_text;
use testkit::sim_fs::{Fault, SimFs};

use crate::support::live::{Folder, codes, options, user};

const SIX: &str = "
    u1 user one
    a2<u1 assistant two
    u3<a2 user three
    a4<u3 assistant four
    u5<a4 user five
    a6<u5 assistant six
";

fn six(dir: &Folder) -> (std::path::PathBuf, Session) {
    let path = dir.put("s.jsonl", session_text(SIX));
    let session = options().open(&path).unwrap();
    (path, session)
}

/// Removes lines from a file like an editor that renames.
fn without(path: &Path, ids: &[&str]) {
    let text = fs::read_to_string(path).unwrap();
    let is_kept = |line: &&str| !ids.iter().any(|id| line.contains(&format!("\"id\":\"{id}\"")));
    let kept: String = text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
    let copy = path.with_extension("new");
    fs::write(&copy, kept).unwrap();
    fs::rename(&copy, path).unwrap();
}

fn ids(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.id().to_string()).collect()
}

#[test]
fn unreported_entries_are_reported_after_the_file_got_shorter() {
    let dir = Folder::new();
    let (path, mut session) = six(&dir);
    let theirs = options().open(&path).unwrap().append_message(&user("theirs")).unwrap();
    session.append_message(&user("ours")).unwrap();
    without(&path, &["u1", "a2", "u3", "a4"]);
    assert_eq!(ids(&session.poll().unwrap()), [theirs.as_str()]);
    assert_eq!(session.poll().unwrap().len(), 0);
    assert_eq!(session.tree().len(), 4);
}

#[test]
fn entries_of_a_replacing_file_are_reported() {
    let dir = Folder::new();
    let (path, mut session) = six(&dir);
    without(&path, &["u1"]);
    let theirs = options().open(&path).unwrap().append_message(&user("theirs")).unwrap();
    session.append_message(&user("ours")).unwrap();
    assert_eq!(ids(&session.take_appended_by_others().unwrap()), [theirs.as_str()]);
}

#[test]
fn a_plan_finds_its_entry_by_id_after_a_replacement() {
    let dir = Folder::new();
    let (path, mut session) = six(&dir);
    let plan = session.plan_navigation("u5").unwrap();
    without(&path, &["u1"]);
    session.append_message(&user("more")).unwrap();
    session.apply_navigation(&plan, None, None).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "a4");
}

#[test]
fn a_plan_to_an_entry_that_is_gone_is_refused() {
    let dir = Folder::new();
    let (path, mut session) = six(&dir);
    let plan = session.plan_navigation("u5").unwrap();
    without(&path, &["u1", "a2", "u3", "a4"]);
    session.append_message(&user("more")).unwrap();
    let before = session.leaf_id();
    let summary = NewBranchSummary { summary: "x".into(), ..NewBranchSummary::default() };
    for summary in [None, Some(&summary)] {
        assert!(matches!(session.apply_navigation(&plan, summary, None), Err(Error::StalePlan)));
    }
    assert_eq!(session.leaf_id(), before);
}

/// After the replacement the row of the old leaf holds another entry.
#[test]
fn a_pick_or_a_merge_that_was_planned_before_the_file_was_replaced_is_refused() {
    let dir = Folder::new();
    let (path, mut session) = six(&dir);
    let request = PickRequest {
        allow_present: true,
        ..PickRequest::new(Selection::Entry(session.node("u5").unwrap()))
    };
    let pick = session.plan_pick(&session, &request).unwrap();
    let mut other = options().in_memory("/w").unwrap();
    let tip = other.append_message(&user("elsewhere")).unwrap();
    let merge =
        session.plan_merge(&other, other.node(tip.as_str()).unwrap(), &MergeRequest::default()).unwrap();
    without(&path, &["u1", "a2"]);
    let mut writer = options().open(&path).unwrap();
    writer.append_message(&user("theirs")).unwrap();
    writer.append_message(&user("more of theirs")).unwrap();
    session.poll().unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(session.apply_pick(&pick), Err(Error::StalePlan)));
    assert!(matches!(session.apply_merge(&merge), Err(Error::StalePlan)));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn diagnostics_are_those_of_the_new_file() {
    let dir = Folder::new();
    let damaged = String::from_utf8(session_text(SIX)).unwrap().replace("\"one\"", "\"o\\qe\"");
    let path = dir.put("s.jsonl", damaged);
    let mut session = options().open(&path).unwrap();
    session.entry("u1").unwrap();
    assert_eq!(codes(&session), ["placeholder"]);
    without(&path, &["u1"]);
    session.append_message(&user("more")).unwrap();
    assert_eq!(codes(&session), ["orphan"], "the damaged line is gone, and a2 names it");
}

#[test]
fn unreadable_entries_are_reported_the_next_time() {
    let line = "{\"type\":\"custom\",\"id\":\"new\",\"parentId\":\"a6\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"customType\":\"x\"}\n";
    let mut runs = 0;
    for call in 1.. {
        let fs = SimFs::new();
        fs.put("/s.jsonl", &session_text(SIX)).unwrap();
        let mut session =
            options().file_system(std::sync::Arc::new(fs.clone())).open_read_only("/s.jsonl").unwrap();
        fs.append_as_other("/s.jsonl", line.as_bytes()).unwrap();
        fs.fail_at(call, Fault::error(std::io::ErrorKind::Other));
        let told = session.catch_up();
        if fs.faults_fired() == 0 {
            assert_eq!(ids(&told.unwrap()), ["new"]);
            break;
        }
        if told.is_err() {
            assert_eq!(ids(&session.catch_up().unwrap()), ["new"], "call {call}");
            runs += 1;
        }
    }
    assert!(runs >= 3, "only {runs} looks failed");
}
