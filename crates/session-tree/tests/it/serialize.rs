//! The JSON of entries, diagnostics and plans.

use serde_json::{Value as Json, json, to_value};
use session_tree::cherry_pick::{PickRequest, Selection};
use session_tree::merge::MergeRequest;
use session_tree::{ForkPosition, Message, Options, Session};

use testkit::drawing::session_text;

fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

#[test]
fn an_entry_and_a_message_are_written_byte_for_byte() {
    let line = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"\ud800","x":1e400,"x":0.10}}"#;
    let session = session(&format!("! {line}"));
    let entry = session.entries().next().unwrap().unwrap();
    assert_eq!(serde_json::to_string(&entry).unwrap(), line);
    let message = r#"{"role":"user","content":"\ud800","x":1e400,"x":0.10}"#;
    assert_eq!(serde_json::to_string(&entry.to_message().unwrap()).unwrap(), message);
    let header = session_text("");
    assert_eq!(serde_json::to_string(session.header()).unwrap().as_bytes(), header.trim_ascii_end());
}

#[test]
fn white_space_between_values_does_not_end_the_line() {
    let doc = session_tree::json::Doc::parse(b"{\"role\":\n\"user\",\r\n\"content\":[]}".as_slice()).unwrap();
    assert_eq!(serde_json::to_string(&doc).unwrap(), r#"{"role": "user",  "content":[]}"#);
}

#[test]
fn an_entry_that_cannot_be_read_is_null() {
    let cut = r#"! {"type":"message","id":"a2","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","mess"#;
    let session = session(&format!("u1 user hi\n{cut}\nu3<a2 user below"));
    let entries: Vec<Json> = session.entries().map(|entry| to_value(entry.unwrap()).unwrap()).collect();
    assert!(entries.iter().any(Json::is_null), "{entries:?}");
    let report = to_value(session.check().unwrap()).unwrap();
    assert_eq!(report["clean"], false);
    let finding = &report["findings"][0];
    assert_eq!((&finding["severity"], &finding["code"]), (&json!("damage"), &json!("placeholder")));
    assert_eq!(
        finding["fix"],
        json!({"action": "stub", "isGuess": false, "needsCopy": false, "ids": ["a2"], "parentId": "u1"})
    );
    let plan = session.plan_repair(&session.check().unwrap());
    assert_eq!(to_value(plan).unwrap()["fixes"][0], finding["fix"]);
}

#[test]
fn plans_name_entries_by_id() {
    let session =
        session("u1 user one\na2<u1 assistant two\nu3<a2 user left\na4<u3 assistant ok\nu5<a2 user right");
    let navigation = to_value(session.plan_navigation("u3").unwrap()).unwrap();
    let expected = json!({
        "targetId": "u3", "oldLeafId": "u5", "newLeafId": "a2", "commonAncestorId": "a2",
        "entriesToSummarize": 1, "canSummarize": true, "prompt": "left", "images": [],
    });
    assert_eq!(navigation, expected);
    let fork = to_value(session.plan_fork("u3", ForkPosition::Before).unwrap()).unwrap();
    assert_eq!(fork, json!({"targetId": "a2", "prompt": "left", "images": []}));
    let node = |id: &str| session.node(id).unwrap();
    let pick = session.plan_pick(&session, &PickRequest::new(Selection::Entry(node("u3")))).unwrap();
    assert_eq!(to_value(pick).unwrap()["sourceEntryIds"], json!(["u3"]));
    let merge = session.plan_merge(&session, node("a4"), &MergeRequest::default()).unwrap();
    let merge = to_value(merge).unwrap();
    assert_eq!((&merge["outcome"], &merge["sourceLeafId"]), (&json!("merge"), &json!("a4")));
    let pop = to_value(session.plan_pop(None).unwrap()).unwrap();
    assert_eq!((&pop["push"], &pop["prompt"]), (&Json::Null, &json!("right")));
}

#[test]
fn a_context_is_its_messages_and_its_settings() {
    let mut session = Options::new().in_memory("/project").unwrap();
    session.append(Message::user("hi")).unwrap();
    session.append_thinking_level_change("high").unwrap();
    let context = to_value(session.context().unwrap()).unwrap();
    assert_eq!(context["messages"][0]["content"], "hi");
    assert_eq!((&context["thinkingLevel"], &context["model"]), (&json!("high"), &Json::Null));
}
