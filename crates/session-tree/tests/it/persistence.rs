//! When and what a session writes to its file. The number at the end of a name is that of the conformance case.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use session_tree::{Error, Message, Options, ReadOnlyReason, Session};
use testkit::drawing::session_text;
use testkit::sim_fs::SimFs;

use crate::support::live::{Folder, assistant, codes, context, lines, options, path, shape, user};

#[test]
fn a_file_is_created_with_the_first_message_and_holds_all_entries_before_it() {
    let dir = Folder::new();
    let file = dir.at("s.jsonl");
    let mut session = options().create(&file, "/project").unwrap();
    session.append_model_change("prov", "mod").unwrap();
    session.append_thinking_level_change("high").unwrap();
    session.append_custom_entry("state", None).unwrap();
    let system = json!({"role": "system", "content": "be kind", "timestamp": 0});
    session.append_message(&Message::from_serialize(&system).unwrap()).unwrap();
    assert!(dir.names().is_empty(), "nothing was said yet");
    let bash = json!({"role": "bashExecution", "command": "ls", "output": "", "exitCode": 0,
        "cancelled": false, "truncated": false, "timestamp": 0});
    session.append_message(&Message::from_serialize(&bash).unwrap()).unwrap();
    assert_eq!(lines(&file).len(), 6, "the header and all five entries");
    session.append_message(&user("hello")).unwrap();
    assert_eq!(lines(&file).len(), 7);
    session.append_message(&assistant("hi")).unwrap();
    let lines = lines(&file);
    assert_eq!(lines.len(), 8);
    assert_eq!(lines.iter().filter(|line| line.contains("\"type\":\"session\"")).count(), 1);
    assert_eq!(dir.names(), ["s.jsonl"], "nothing else is left in the directory");
    let reopened = Session::open(&file).unwrap();
    assert_eq!(shape(&reopened), shape(&session));
    assert_eq!(reopened.leaf_id(), session.leaf_id());
    let types: Vec<String> =
        reopened.entries().map(|entry| entry.unwrap().type_name().into_owned()).collect();
    let expected =
        ["model_change", "thinking_level_change", "custom", "message", "message", "message", "message"];
    assert_eq!(types, expected);
}

#[test]
fn a_message_of_an_extension_creates_the_file() {
    let dir = Folder::new();
    let file = dir.at("s.jsonl");
    let mut session = options().create(&file, "/project").unwrap();
    session.append_custom_message("note", &json!("hello"), true, None).unwrap();
    assert_eq!(lines(&file).len(), 2);
}

#[test]
fn a_reopened_file_without_an_answer_is_continued_line_by_line() {
    let dir = Folder::new();
    let before = session_text("u1 user one");
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    session.append_message(&user("two")).unwrap();
    session.append_message(&assistant("three")).unwrap();
    assert_eq!(lines(&file).len(), 4);
    assert!(fs::read(&file).unwrap().starts_with(&before));
    assert_eq!(Session::open(&file).unwrap().tree().len(), 3);
}

#[test]
fn a_missing_final_line_feed_costs_no_entry() {
    let dir = Folder::new();
    let mut text = session_text("u1 user one\n a2<u1 assistant two");
    text.pop();
    let file = dir.put("s.jsonl", &text);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), text, "opening adds nothing");
    let new = session.append_message(&user("three")).unwrap();
    assert_eq!(path(&Session::open(&file).unwrap(), None), ["u1", "a2", new.as_str()]);
}

#[test]
fn a_torn_last_line_stays_as_a_bad_line_and_the_next_entry_is_whole() {
    let dir = Folder::new();
    let mut text = session_text("u1 user one\n a2<u1 assistant two");
    text.truncate(text.len() - 30);
    let file = dir.put("s.jsonl", &text);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(path(&session, None), ["u1"]);
    assert_eq!(codes(&session), ["torn-tail"]);
    let new = session.append_message(&user("three")).unwrap();
    let after = fs::read(&file).unwrap();
    assert!(after.starts_with(&text));
    assert_eq!(after[text.len()], b'\n');
    let reopened = Session::open(&file).unwrap();
    assert_eq!(path(&reopened, None), ["u1", new.as_str()]);
    assert_eq!(path(&session, None), path(&reopened, None));
    assert_eq!(codes(&reopened), ["not-json"]);
}

#[test]
fn a_full_disk_leaves_file_and_memory_as_they_were() {
    let fs = SimFs::new();
    let text = session_text("u1 user one\n a2<u1 assistant two");
    fs.put("/s.jsonl", &text).unwrap();
    let mut session = options().file_system(Arc::new(fs.clone())).open("/s.jsonl").unwrap();
    fs.set_capacity(Some(text.len() as u64 + 40));
    let error = session.append_message(&user("three")).unwrap_err();
    assert!(matches!(error, Error::Append { .. }), "{error}");
    assert_eq!(error.to_string(), "cannot append to /s.jsonl");
    let Error::Append { source, .. } = error else { unreachable!() };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull, "the cause is named although a part fitted");
    assert_eq!(shape(&session), ["u1", "a2<u1"]);
    assert_eq!(session.leaf_id().unwrap(), "a2");
    assert_eq!(context(&session), ["u1", "a2"]);
    assert_eq!(fs.bytes("/s.jsonl").unwrap(), text);
    fs.set_capacity(None);
    let new = session.append_message(&user("three")).unwrap();
    let reopened = Options::new().file_system(Arc::new(fs)).open("/s.jsonl").unwrap();
    assert_eq!(path(&reopened, None), ["u1", "a2", new.as_str()]);
}

#[test]
fn a_path_without_a_file_is_kept_until_there_is_something_to_write() {
    let dir = Folder::new();
    let file = dir.at("later.jsonl");
    assert!(matches!(Session::open(&file), Err(Error::Io { .. })), "nothing is made up");
    let mut session = options().open_or_create(&file, "/project").unwrap();
    assert!(session.tree().is_empty() && session.leaf_id().is_none());
    assert_eq!(session.file(), Some(&*file));
    assert!(!file.exists() && !session.is_saved());
    session.append_message(&user("one")).unwrap();
    assert_eq!(lines(&file).len(), 2);
}

#[test]
fn an_empty_file_gets_its_header_at_once_and_keeps_its_id() {
    let dir = Folder::new();
    let file = dir.put("empty.jsonl", b"");
    let session = options().open_or_create(&file, "/project").unwrap();
    assert_eq!(lines(&file).len(), 1);
    assert!(session.is_saved());
    let again = options().open_or_create(&file, "/elsewhere").unwrap();
    assert_eq!(again.header().id(), session.header().id());
    assert_eq!(again.header().cwd().as_deref(), Some("/project"));
    assert_eq!(again.file(), session.file());
    assert_eq!(lines(&file).len(), 1);
}

#[test]
fn a_read_only_file_is_reported_when_it_is_opened() {
    let whole = session_text("u1 user one\n a2<u1 assistant two");
    // Whole, without its line feed, torn.
    for end in [0, 1, 30] {
        let text = &whole[..whole.len() - end];
        let fs = SimFs::new();
        fs.put("/s.jsonl", text).unwrap();
        fs.set_mode("/s.jsonl", 0o400).unwrap();
        let on = || options().file_system(Arc::new(fs.clone()));
        let mut session = on().open("/s.jsonl").unwrap();
        assert_eq!(session.read_only(), Some(&ReadOnlyReason::Protected), "{end}");
        let before = (shape(&session), session.leaf_id());
        let error = session.append_message(&user("x")).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{end}: {error}");
        assert_eq!((shape(&session), session.leaf_id()), before, "memory does not run ahead");
        assert_eq!(shape(&on().open_read_only("/s.jsonl").unwrap()), before.0);
        let opened = on().open_or_create("/s.jsonl", "/w").unwrap();
        assert_eq!(opened.read_only(), Some(&ReadOnlyReason::Protected), "{end}");
        assert_eq!(fs.bytes("/s.jsonl").unwrap(), text);
    }
}

#[test]
fn zero_bytes_at_the_end_stay_and_the_next_entry_is_whole() {
    let dir = Folder::new();
    let before = [session_text("u1 user one\n a2<u1 assistant two"), vec![0; 600]].concat();
    let file = dir.put("s.jsonl", &before);
    let new = Session::open(&file).unwrap().append_message(&user("three")).unwrap();
    assert!(fs::read(&file).unwrap().starts_with(&before));
    let reopened = Session::open(&file).unwrap();
    assert_eq!(path(&reopened, None), ["u1", "a2", new.as_str()]);
    assert_eq!(context(&reopened), ["u1", "a2", new.as_str()]);
}
