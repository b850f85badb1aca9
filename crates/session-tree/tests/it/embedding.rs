//! The questions and requests of a program that embeds the engine.

use std::fs;

use serde_json::json;
use session_tree::{Error, KeepFrom, Message, Options, Position, Role, Session};
use testkit::drawing::session_text;

fn session() -> Session {
    Options::new().in_memory("/project").unwrap()
}

fn texts(session: &Session) -> Vec<String> {
    session.context().unwrap().to_request().iter().map(|message| message.text().into_owned()).collect()
}

fn calls(ids: &[&str]) -> Message {
    let call = |answer: session_tree::AssistantBuilder, id: &&str| answer.tool_call(*id, "ls", json!({}));
    ids.iter().fold(Message::assistant(), call).build()
}

#[test]
fn the_front_page_shows_the_example() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let (readme, example) = (read("README.md"), read("examples/embed.rs"));
    let (_, program) = readme.split_once("```rust,no_run\n").unwrap();
    let (program, _) = program.split_once("# use session_tree").unwrap();
    assert!(program.starts_with("fn main()") && program.contains("fn turn("));
    assert!(example.contains(program.trim_end()), "the README and examples/embed.rs differ");
    assert!(read("../../README.md").contains(program.trim_end()), "the README of the workspace differs");
}

#[test]
fn calls_without_result_are_open_until_they_are_answered() {
    let mut session = session();
    assert!(session.open_calls().unwrap().is_empty() && !session.needs_answer().unwrap());
    session.append(Message::user("list")).unwrap();
    assert!(session.needs_answer().unwrap());
    let answer = session.append(calls(&["c1", "c2", "c2"])).unwrap();
    let open = session.open_calls().unwrap();
    assert_eq!(open.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["c1", "c2", "c2"]);
    session.append(open[1].result("two")).unwrap();
    assert_eq!(session.open_calls().unwrap().len(), 2, "a result answers one call of its id");
    for call in session.open_calls().unwrap() {
        session.append(call.error("interrupted")).unwrap();
    }
    assert!(session.open_calls().unwrap().is_empty() && session.needs_answer().unwrap());
    session.append(Message::assistant().text("done").build()).unwrap();
    assert!(!session.needs_answer().unwrap());
    session.append_under(&answer, Message::user("never mind")).unwrap();
    assert!(session.open_calls().unwrap().is_empty(), "the conversation went on without the results");
}

#[test]
fn an_answer_that_failed_has_no_open_calls_and_needs_another() {
    let mut session = session();
    session.append(Message::user("list")).unwrap();
    let failed = Message::assistant().tool_call("c1", "ls", json!({}));
    session.append(failed.stop_reason(session_tree::StopReason::Aborted).build()).unwrap();
    assert!(session.open_calls().unwrap().is_empty() && session.needs_answer().unwrap());
}

#[test]
fn the_latest_session_of_a_working_directory_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let mut first = Session::continue_in(&sessions, "/project").unwrap();
    assert!(first.tree().is_empty() && !sessions.exists(), "a session without messages has no file");
    first.append(Message::user("one")).unwrap();
    let mut other = Session::continue_in(&sessions, "/elsewhere").unwrap();
    assert_ne!(other.header().id(), first.header().id());
    other.append(Message::user("two")).unwrap();
    let again = Session::continue_in(&sessions, "/project").unwrap();
    assert_eq!((again.header().id(), texts(&again)), (first.header().id(), vec!["one".to_owned()]));
}

#[test]
fn a_compaction_keeps_from_the_last_prompt_an_entry_or_nothing() {
    let mut session = session();
    let ids = ["one", "two", "three"].map(|text| session.append(Message::user(text)).unwrap());
    session.append(Message::assistant().text("four").build()).unwrap();
    let leaf = session.leaf_id().unwrap();
    let mut after = |keep: KeepFrom| {
        session.move_to(&leaf).unwrap();
        session.compact("so far", keep).unwrap();
        texts(&session)[1..].to_vec()
    };
    assert_eq!(after(KeepFrom::LastPrompt), ["three", "four"]);
    assert_eq!(after(KeepFrom::Entry(ids[1].clone())), ["two", "three", "four"]);
    assert!(after(KeepFrom::Nothing).is_empty());
    session.move_to(&ids[0]).unwrap();
    let elsewhere = session.compact("so far", leaf.clone());
    assert!(matches!(elsewhere, Err(Error::NotOnPath { id }) if id == leaf));
}

#[test]
fn a_position_is_an_entry_the_leaf_or_the_start() {
    let mut session = session();
    assert_eq!(session.position(), Position::Start);
    let first = session.append(Message::user("one")).unwrap();
    let second = session.append(Message::user("two")).unwrap();
    assert_eq!(session.position(), Position::Entry(second.clone()));
    let length = |position: Position| session.context_at(position).unwrap().items.len();
    assert_eq!([Position::Leaf, Position::from(&first), Position::Start].map(length), [2, 1, 0]);
    assert!(matches!(session.context_at("nobody"), Err(Error::UnknownEntry { .. })));

    session.move_to(&first).unwrap();
    assert_eq!(session.leaf_id(), Some(first.clone()));
    session.append_under(Position::Leaf, Message::user("below one")).unwrap();
    session.append_under(Position::Start, Message::user("another root")).unwrap();
    assert_eq!(session.branch_path(Position::Leaf).len(), 1);
    session.move_to(Position::Start).unwrap();
    assert_eq!((session.leaf_id(), session.position()), (None, Position::Start));
    assert!(
        session.move_to("nobody").is_err() && session.append_under("nobody", Message::user("x")).is_err()
    );
    assert_eq!(session.tree().len(), 4, "a request that fails appends nothing");
}

#[test]
fn names_and_labels_are_set_and_cleared() {
    let mut session = session();
    let first = session.append(Message::user("one")).unwrap();
    session.set_label(&first, "start").unwrap();
    session.set_name("A name\nof two lines").unwrap();
    let label =
        |session: &Session| session.label(session.node(&first).unwrap()).map(|label| label.text.clone());
    assert_eq!((label(&session).as_deref(), session.name()), (Some("start"), Some("A name of two lines")));
    session.set_label(&first, None).unwrap();
    session.set_name(None).unwrap();
    assert_eq!((label(&session), session.name()), (None, None));
}

#[test]
fn a_message_of_an_extension_becomes_an_entry_of_its_own_type() {
    let mut session = session();
    let id = session.append(Message::custom("note", "look here").details(json!(7)).build()).unwrap();
    let line = String::from_utf8(session.entry(&id).unwrap().raw().to_vec()).unwrap();
    let expected = r#"{"type":"custom_message","customType":"note","content":"look here","display":true,"details":7,"id":"#;
    assert!(line.starts_with(expected), "{line}");
    assert_eq!(session.context().unwrap().messages().next().unwrap().role(), Role::Custom);
}

#[test]
fn a_session_of_pi_is_continued_with_built_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, session_text("a user one\nb<a assistant two")).unwrap();
    let mut session = Session::open(&path).unwrap();
    session.append(Message::user("three")).unwrap();
    session.append(calls(&["c1"])).unwrap();
    session.append(session.open_calls().unwrap()[0].result("four")).unwrap();
    session.sync().unwrap();
    assert!(Session::open(&path).unwrap().check().unwrap().is_clean());
}
