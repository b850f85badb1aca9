//! Writing: what an append leaves in the file, and what it does when the file is not what it was.

use std::fs;
use std::path::Path;

use session_tree::{Draft, Error, Loss, Options, Session};

use crate::support::live::{Folder, lines, user};

fn with_two_messages(path: &Path) -> Session {
    let mut session = Options::new().create(path, "/project").unwrap();
    session.append_message(&user("one")).unwrap();
    session.append_message(&user("two")).unwrap();
    session
}

#[cfg(unix)]
#[test]
fn new_files_and_directories_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Folder::new();
    let path = dir.at("deep/er/s.jsonl");
    with_two_messages(&path);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}

#[test]
fn who_did_not_move_leaves_no_marker() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut idle = with_two_messages(&path);
    let last = Session::open(&path).unwrap().append_message(&user("meanwhile")).unwrap();
    idle.catch_up().unwrap();
    assert_eq!(idle.mark_leaf().unwrap(), None, "it never moved");
    assert_eq!(Session::open(&path).unwrap().leaf_id(), Some(last));
    let first = idle.tree().id(idle.branch_path(None)[0]);
    idle.branch(first.as_str()).unwrap();
    assert!(idle.mark_leaf().unwrap().is_some(), "it moved");
    assert_eq!(idle.mark_leaf().unwrap(), None, "the file knows");
    assert_eq!(Session::open(&path).unwrap().leaf_id(), Some(first));
}

#[test]
fn two_sessions_on_one_file_become_two_branches() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut one = with_two_messages(&path);
    let mut other = Session::open(&path).unwrap();
    let a = one.append_message(&user("a")).unwrap();
    let b = other.append_message(&user("b")).unwrap();
    let c = one.append_message(&user("c")).unwrap();
    let all = Session::open(&path).unwrap();
    assert_eq!(all.tree().len(), 5);
    assert!(all.diagnostics().is_empty());
    assert_eq!(all.entry(c.as_str()).unwrap().parent_id(), Some(&a));
    assert_eq!(other.leaf_id(), Some(b.clone()));
    assert_eq!(one.take_foreign_entries().unwrap()[0].id(), &b);
}

#[test]
fn a_deleted_file_is_saved_under_another_name() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    fs::remove_file(&path).unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    let Error::Replaced { what: Loss::Deleted, rescue: Some(rescue), .. } = error else { panic!("{error}") };
    assert!(!path.exists());
    assert_eq!(Session::open(rescue).unwrap().branch_path(None).len(), 3);
    assert!(matches!(session.append_message(&user("four")), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_rescue_keeps_half_a_line_that_was_seen() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let (mut session, _) = with_half_a_line(&path);
    let before = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    let Error::Replaced { rescue: Some(rescue), .. } = error else { panic!("{error}") };
    assert!(fs::read_to_string(&rescue).unwrap().starts_with(&format!("{before}\n{{\"type\"")));
    assert_eq!(Session::open(rescue).unwrap().branch_path(None).len(), 3);
}

#[test]
fn a_file_that_was_cut_short_is_not_written_to() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    let len = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len - 10).unwrap();
    let before = fs::read(&path).unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    assert!(matches!(error, Error::Replaced { what: Loss::Truncated, rescue: Some(_), .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A session that has seen half a line of another writer, and how long the file was before it.
fn with_half_a_line(path: &Path) -> (Session, u64) {
    let mut session = with_two_messages(path);
    let len = fs::metadata(path).unwrap().len();
    append_raw(
        path,
        r#"{"type":"message","id":"half","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"a long line that its writer could not end"#,
    );
    assert!(session.catch_up().unwrap().is_empty());
    (session, len)
}

fn append_raw(path: &Path, text: &str) {
    use std::io::Write;
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn cut(path: &Path, len: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[test]
fn half_a_line_that_its_writer_took_back_is_no_loss() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let (mut session, len) = with_half_a_line(&path);
    cut(&path, len);
    session.append_message(&user("three")).unwrap();
    assert_eq!(dir.names(), ["s.jsonl"], "nothing had to be rescued");
    let again = Session::open(&path).unwrap();
    assert_eq!((again.branch_path(None).len(), again.diagnostics()), (3, Vec::new()));
}

#[test]
fn a_line_that_took_the_place_of_a_longer_half_one_is_seen() {
    for looks_between in [false, true] {
        let dir = Folder::new();
        let path = dir.at("s.jsonl");
        let (mut session, len) = with_half_a_line(&path);
        cut(&path, len);
        if looks_between {
            assert!(session.catch_up().unwrap().is_empty());
        }
        append_raw(&path, "{\"type\":\"custom\",\"id\":\"short\",\"parentId\":null,\"customType\":\"x\"}\n");
        let seen: Vec<String> =
            session.catch_up().unwrap().iter().map(|entry| entry.id().to_string()).collect();
        assert_eq!(seen, ["short"]);
    }
}

#[test]
fn a_line_as_long_as_the_half_one_whose_place_it_took_is_seen() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let (mut session, len) = with_half_a_line(&path);
    let torn = (fs::metadata(&path).unwrap().len() - len) as usize;
    cut(&path, len);
    let head = "{\"type\":\"custom\",\"id\":\"whole\",\"parentId\":null,\"customType\":\"";
    append_raw(&path, &format!("{head}{}\"}}\n", "x".repeat(torn - head.len() - 3)));
    assert_eq!(session.catch_up().unwrap().len(), 1);
    assert!(session.catch_up().unwrap().is_empty());
}

#[test]
fn a_file_replaced_by_the_same_session_is_followed() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    let copy = dir.at("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    session.append_message(&user("three")).unwrap();
    assert_eq!(Session::open(&path).unwrap().branch_path(None).len(), 3);
}

#[test]
fn a_file_replaced_by_another_session_is_left_alone() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    let other = dir.at("other.jsonl");
    with_two_messages(&other);
    fs::rename(&other, &path).unwrap();
    let before = fs::read(&path).unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    assert!(matches!(error, Error::Replaced { what: Loss::Replaced, rescue: Some(_), .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_leaf_marker_keeps_the_position_and_is_written_only_when_needed() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    assert_eq!(session.mark_leaf().unwrap(), None);
    let first = session.tree().id(session.branch_path(None)[0]);
    session.branch(first.as_str()).unwrap();
    let marker = session.mark_leaf().unwrap().unwrap();
    assert_eq!(session.mark_leaf().unwrap(), None);
    assert_eq!(session.leaf_id(), Some(first.clone()));
    let mut reopened = Session::open(&path).unwrap();
    assert_eq!(reopened.leaf_id(), Some(first.clone()));
    assert_eq!(reopened.entry(marker.as_str()).unwrap().parent_id(), Some(&first));
    reopened.reset_leaf();
    reopened.mark_leaf().unwrap().unwrap();
    assert_eq!(Session::open(&path).unwrap().leaf_id(), None);
}

#[test]
fn version_one_is_written_anew_by_the_first_append_and_the_original_is_kept() {
    let dir = Folder::new();
    let path = dir.at("old.jsonl");
    let old = concat!(
        r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one", "n":1.0}}"#,
        "\n",
        "bad line\n",
        r#"{"type":"compaction","timestamp":"2025-01-01T00:00:02.000Z","summary":"s","firstKeptEntryIndex":1,"tokensBefore":9}"#,
        "\n",
        "torn",
    );
    fs::write(&path, old).unwrap();
    let ids = |session: &Session| session.tree().nodes().map(|n| session.tree().id(n)).collect::<Vec<_>>();
    let read = Session::open_read_only(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), old, "reading writes nothing");
    let mut session = Session::open(&path).unwrap();
    session.append_message(&user("two")).unwrap();
    assert_eq!(fs::read_to_string(dir.at("old.jsonl.bak-v1")).unwrap(), old);
    let now = lines(&path);
    let first = read.tree().id(read.tree().nodes().next().unwrap());
    assert_eq!(
        now[0],
        r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p","version":3}"#
    );
    assert!(
        now[1].ends_with(&format!(r#""content":"one", "n":1.0}},"id":"{first}","parentId":null}}"#)),
        "{}",
        now[1]
    );
    assert_eq!(now[2], "bad line");
    assert!(
        now[3].contains(&format!(r#""firstKeptEntryId":"{first}""#))
            && !now[3].contains("firstKeptEntryIndex")
    );
    assert_eq!(now[4], "torn");
    assert_eq!(ids(&Session::open(&path).unwrap())[..2], ids(&read)[..]);
    assert_eq!(session.branch_path(None).len(), 3);
}

#[test]
fn appending_under_a_given_parent_makes_a_branch_there() {
    let mut session = Options::new().in_memory("/project").unwrap();
    let a = session.append_message(&user("a")).unwrap();
    session.append_message(&user("b")).unwrap();
    let c = session.append_under(Some(a.as_str()), &Draft::message(&user("c")).unwrap()).unwrap();
    assert_eq!(session.entry(c.as_str()).unwrap().parent_id(), Some(&a));
    assert_eq!(session.leaf_id(), Some(c));
}
