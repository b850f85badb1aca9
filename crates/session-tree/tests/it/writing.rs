//! Writing: the lines that an append writes, and its behaviour when the file has changed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use session_tree::{
    Draft, Error, FileLoss, LONGEST_LINE, Node, Options, Position, STUB, Session, SyncPolicy,
};
use testkit::sim_fs::{Fault, SimFs};

use crate::support::live::{Folder, lines, path as path_to, shape, user};

fn with_two_messages(path: &Path) -> Session {
    let mut session = Options::new().create(path, "/project").unwrap();
    session.append_message(&user("one")).unwrap();
    session.append_message(&user("two")).unwrap();
    session
}

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
fn a_leaf_that_did_not_move_writes_no_marker() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut idle = with_two_messages(&path);
    let last = Session::open(&path).unwrap().append_message(&user("meanwhile")).unwrap();
    idle.catch_up().unwrap();
    assert_eq!(idle.mark_leaf().unwrap(), None, "it never moved");
    assert_eq!(Session::open(&path).unwrap().leaf_id(), Some(last));
    let first = idle.tree().id(idle.branch_path(Position::Leaf)[0]);
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
    assert_eq!(one.take_appended_by_others().unwrap()[0].id(), &b);
}

#[test]
fn a_deleted_file_is_saved_under_another_name() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    fs::remove_file(&path).unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    let Error::Replaced { what: FileLoss::Deleted, rescue: Some(rescue), .. } = error else {
        panic!("{error}")
    };
    assert!(!path.exists());
    assert_eq!(Session::open(rescue).unwrap().branch_path(Position::Leaf).len(), 3);
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
    assert_eq!(Session::open(rescue).unwrap().branch_path(Position::Leaf).len(), 3);
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
    assert!(matches!(error, Error::Replaced { what: FileLoss::Truncated, rescue: Some(_), .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Returns the session of a rescue file, and the number of readable entries and stubs.
fn rescued(error: &Error) -> (Session, u64, usize) {
    let Error::Replaced { rescue: Some(rescue), missing, .. } = error else { panic!("{error}") };
    let session = Session::open(rescue).unwrap();
    let is_stub = |node: &Node| {
        let entry = session.entry_at(*node).unwrap();
        entry.value().unwrap().get("customType").is_some_and(|kind| kind.is_str(STUB))
    };
    let stubs = session.tree().nodes().filter(is_stub).count();
    (session, *missing, stubs)
}

#[test]
fn after_truncation_the_rescue_file_is_a_session_with_all_that_memory_holds() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    let last = session.leaf_id().unwrap();
    session.append_label_change(last.as_str(), Some("here")).unwrap();
    cut(&path, 0);
    let error = session.append_message(&user("three")).unwrap_err();
    assert!(error.to_string().contains("everything is in"), "{error}");
    let (saved, missing, stubs) = rescued(&error);
    assert_eq!((missing, stubs), (0, 0));
    assert_eq!(saved.header().id(), session.header().id());
    let texts = saved.context().unwrap();
    let texts: Vec<String> = texts.messages().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(saved.label(saved.node(last.as_str()).unwrap()).unwrap().text, "here");
}

#[test]
fn after_truncation_lost_entries_are_counted_and_keep_their_places() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    drop(with_two_messages(&path));
    let mut session = Session::open(&path).unwrap();
    let ids: Vec<_> = session.tree().nodes().map(|node| session.tree().id(node)).collect();
    session.entry(ids[1].as_str()).unwrap();
    cut(&path, 0);
    fs::write(&path, "something else entirely\n").unwrap();
    let error = session.append_message(&user("three")).unwrap_err();
    assert!(error.to_string().ends_with("1 entry is lost"), "{error}");
    let (saved, missing, stubs) = rescued(&error);
    assert_eq!((missing, stubs), (1, 1));
    assert_eq!(saved.branch_path(Position::Leaf).len(), 3);
    assert_eq!(saved.entry(ids[1].as_str()).unwrap().parent_id(), Some(&ids[0]));
    assert_eq!(fs::read_to_string(&path).unwrap(), "something else entirely\n");
}

#[test]
fn an_old_session_that_is_lost_before_its_first_append_is_saved_with_the_new_entry() {
    let dir = Folder::new();
    let path = dir.put(
        "s.jsonl",
        concat!(
            r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
            "\n",
            r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
            "\n",
        ),
    );
    let mut session = Session::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let error = session.append_message(&user("two")).unwrap_err();
    let (saved, missing, _) = rescued(&error);
    assert_eq!((missing, saved.header().version()), (0, 3));
    assert_eq!(saved.branch_path(Position::Leaf).len(), 2);
}

#[test]
fn an_entry_that_readers_would_not_accept_is_refused_before_it_is_written() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    let before = fs::read(&path).unwrap();
    let text = serde_json::Value::from("x".repeat(LONGEST_LINE as usize));
    let draft = Draft::custom("x", Some(&text));
    drop(text);
    for parent in [None, session.leaf_id()] {
        let error = session.append_under(Position::entry_or_start(parent), &draft).unwrap_err();
        let Error::EntryTooLong { length, limit: LONGEST_LINE } = error else { panic!("{error}") };
        assert!(length > LONGEST_LINE);
    }
    assert!(fs::read(&path).unwrap() == before, "nothing was written");
    session.append_message(&user("three")).unwrap();
}

#[test]
fn a_failed_sync_reports_the_entry_that_is_in_the_file() {
    let fs = SimFs::new();
    let options = || Options::new().file_system(Arc::new(fs.clone())).sync(SyncPolicy::Always);
    let mut session = options().create("/s.jsonl", "/project").unwrap();
    session.append_message(&user("one")).unwrap();
    let calls = (1..20).find_map(|call| {
        let before = session.leaf_id();
        fs.fail_at(call, Fault::error(ErrorKind::StorageFull));
        let result = session.append_message(&user("two"));
        fs.clear_faults();
        match result {
            Err(Error::Sync { appended, .. }) => Some((before, appended)),
            Err(_) | Ok(_) => None,
        }
    });
    let (before, appended) = calls.expect("no sync failed");
    let [id] = appended.as_slice() else { panic!("{appended:?}") };
    assert_eq!(session.leaf_id().as_ref(), Some(id));
    assert_eq!(session.entry(id.as_str()).unwrap().parent_id(), before.as_ref());
    assert_eq!(options().open("/s.jsonl").unwrap().leaf_id().as_ref(), Some(id));
    let next = session.append_message(&user("three")).unwrap_err();
    let Error::Poisoned { operation, source, .. } = next else { panic!("{next:?}") };
    assert_eq!((operation, source.kind()), ("sync", ErrorKind::StorageFull));
    assert_eq!(source.to_string(), "injected fault");
}

#[test]
fn a_field_of_the_envelope_cannot_be_set_by_a_draft() {
    for name in ["type", "id", "parentId", "timestamp", "uuid", "parentUuid"] {
        let draft = Draft::custom("x", None).with_field(name, &serde_json::json!("y"));
        assert!(matches!(draft, Err(Error::Invalid { .. })), "{name}");
    }
    let draft =
        Draft::custom("x", Some(&serde_json::json!(1))).with_field("data", &serde_json::json!(2)).unwrap();
    let mut session = Options::new().in_memory("/").unwrap();
    let id = session.append(&draft).unwrap();
    let entry = session.entry(id.as_str()).unwrap();
    assert_eq!(String::from_utf8_lossy(entry.raw()).matches("\"data\":").count(), 1);
}

#[test]
fn a_line_of_another_writer_with_the_id_of_the_leaf_replaces_it() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    for looks_first in [true, false] {
        let _ = fs::remove_file(&path);
        let mut session = with_two_messages(&path);
        let leaf = session.leaf_id().unwrap();
        append_raw(
            &path,
            &format!(
                "{{\"type\":\"message\",\"id\":\"{leaf}\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"another\"}}}}\n"
            ),
        );
        if looks_first {
            session.catch_up().unwrap();
            assert_eq!(session.leaf_entry().unwrap().unwrap().parent_id(), None);
        }
        session.append_message(&user("three")).unwrap();
        let again = Session::open(&path).unwrap();
        assert_eq!(shape(&session), shape(&again));
        assert_eq!(path_to(&session, None), path_to(&again, None));
        assert_eq!(path_to(&session, None).len(), 2, "the line that took the id over is a root");
    }
}

#[test]
fn a_marker_whose_target_is_cut_leads_to_the_entry_above_it() {
    let dir = Folder::new();
    let line = |id: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"{id}"{rest}"#
        )
    };
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    let marker = r#"{"type":"custom","customType":"session-tree.leaf","data":{"targetId":"b"},"id":"m","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z"}"#;
    let (a, b, c) = (line("a", "null", "}}"), line("b", "\"a\"", ",,"), line("c", "\"a\"", "}}"));
    let inside = line("b", "\"a\"", ",,}}");
    for b in [b, inside] {
        let path = dir.put("s.jsonl", [header, &a, &b, &c, marker, ""].join("\n"));
        let mut session = Session::open(&path).unwrap();
        assert_eq!(session.leaf_id().unwrap(), "a", "{b}");
        let id = session.append_message(&user("next")).unwrap();
        assert_eq!(session.entry(id.as_str()).unwrap().parent_id().unwrap(), "a");
    }
}

/// Creates a session that has seen half a line of another writer. Returns the file length before it.
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
    assert_eq!((again.branch_path(Position::Leaf).len(), again.diagnostics()), (3, Vec::new()));
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
    assert_eq!(Session::open(&path).unwrap().branch_path(Position::Leaf).len(), 3);
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
    assert!(matches!(error, Error::Replaced { what: FileLoss::Replaced, rescue: Some(_), .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_leaf_marker_keeps_the_position_and_is_written_only_when_needed() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    let mut session = with_two_messages(&path);
    assert_eq!(session.mark_leaf().unwrap(), None);
    let first = session.tree().id(session.branch_path(Position::Leaf)[0]);
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
fn version_one_is_migrated_by_the_first_append_and_the_original_is_kept() {
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
    assert_eq!(session.branch_path(Position::Leaf).len(), 3);
}

#[test]
fn appending_under_a_given_parent_makes_a_branch_there() {
    let mut session = Options::new().in_memory("/project").unwrap();
    let a = session.append_message(&user("a")).unwrap();
    session.append_message(&user("b")).unwrap();
    let c = session.append_under(&a, user("c")).unwrap();
    assert_eq!(session.entry(c.as_str()).unwrap().parent_id(), Some(&a));
    assert_eq!(session.leaf_id(), Some(c));
}

#[test]
fn a_lock_that_is_not_released_ends_an_append_that_writes_nothing() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    drop(with_two_messages(&path));
    let before = fs::read(&path).unwrap();
    // Opening a file for reading is enough to lock it.
    let holder = fs::File::open(&path).unwrap();
    holder.lock().unwrap();
    let mut session = Options::new().lock_wait(Duration::from_millis(30)).open(&path).unwrap();
    let leaf = session.leaf_id();
    let error = session.append_message(&user("three")).unwrap_err();
    let Error::Locked { holder: known, .. } = &error else { panic!("{error}") };
    if cfg!(target_os = "linux") {
        assert_eq!(known.as_ref().map(|known| known.process), Some(std::process::id()));
    }
    assert!(matches!(session.check_lock(), Err(Error::Locked { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(session.leaf_id(), leaf);
    holder.unlock().unwrap();
    session.check_lock().unwrap();
    session.append_message(&user("three")).unwrap();
}

#[test]
fn the_application_is_notified_while_a_lock_is_waited_for() {
    let dir = Folder::new();
    let path = dir.at("s.jsonl");
    drop(with_two_messages(&path));
    let holder = fs::File::open(&path).unwrap();
    holder.lock().unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    let options = Options::new().on_lock_wait(move |_| send.send(()).unwrap());
    let mut session = options.open(&path).unwrap();
    // The notice releases the lock; without it, the append fails at its limit.
    let waiting = std::thread::spawn(move || {
        receive.recv().unwrap();
        drop(holder);
    });
    session.append_message(&user("three")).unwrap();
    waiting.join().unwrap();
}

#[test]
fn unfinished_files_of_killed_processes_are_removed_by_the_next_one() {
    let dir = Folder::new();
    let stale = [".s.jsonl.1-0.session-tree.tmp", ".other.jsonl.99999-3.session-tree.tmp"];
    for name in stale {
        let path = dir.put(name, "half a session");
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let in_use = dir.put(".busy.jsonl.1-0.session-tree.tmp", "being written");
    let holder = fs::File::open(&in_use).unwrap();
    holder.lock().unwrap();
    let elsewhere = Folder::new();
    let target = elsewhere.put("precious", "precious");
    std::os::unix::fs::symlink(&target, dir.at(".link.jsonl.1-0.session-tree.tmp")).unwrap();
    dir.put(".foreign.tmp", "of another program");
    with_two_messages(&dir.at("s.jsonl"));
    assert_eq!(
        dir.names(),
        [".busy.jsonl.1-0.session-tree.tmp", ".foreign.tmp", ".link.jsonl.1-0.session-tree.tmp", "s.jsonl"]
    );
    assert_eq!(fs::read_to_string(target).unwrap(), "precious");
}
