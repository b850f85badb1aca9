//! Messages: built from typed parts in pi's spelling, read back, and validated by the same rules everywhere.

use serde_json::json;
use session_tree::{
    Draft, Error, Image, InvalidReason, Message, Options, Role, Session, StopReason, Timestamp, Usage,
};

fn session() -> Session {
    Options::new().in_memory("/project").unwrap()
}

fn image() -> Image {
    Image { data: "AAAA".into(), mime_type: "image/png".into() }
}

#[test]
fn messages_are_spelled_as_pi_spells_them() {
    let time = Timestamp::from_millis(7);
    assert_eq!(Message::user("hi").with_time(time).json(), r#"{"role":"user","content":"hi","timestamp":7}"#);
    assert_eq!(
        Message::user_with_images("look", &[image()]).json(),
        r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#
    );
    let usage = Usage { input: 9, output: 1, ..Usage::default() };
    let answer = Message::assistant().thinking("hm").text("yes").tool_call("c1", "ls", json!({"path": "."}));
    let answer =
        answer.api("a").model("p", "m").usage(usage).cost([0.5, 0.25, 0.0, 0.0]).error_message("cut");
    assert_eq!(
        answer.stop_reason(StopReason::Error).build().with_time(time).json(),
        concat!(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"},"#,
            r#"{"type":"toolCall","id":"c1","name":"ls","arguments":{"path":"."}}],"api":"a","provider":"p","model":"m","#,
            r#""usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"#,
            r#""cost":{"input":0.5,"output":0.25,"cacheRead":0,"cacheWrite":0,"total":0.75}},"#,
            r#""stopReason":"error","timestamp":7,"errorMessage":"cut"}"#
        )
    );
    assert_eq!(
        Message::tool_result("c1", "ls").text("a").details(json!({"n": 1})).build().json(),
        r#"{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a"}],"details":{"n":1},"isError":false}"#
    );
    let bash = Message::bash("ls").output("x").exit_code(1).truncated(true).full_output_path("/tmp/x");
    assert_eq!(
        bash.exclude_from_context(true).build().with_time(time).json(),
        r#"{"role":"bashExecution","command":"ls","output":"x","exitCode":1,"cancelled":false,"truncated":true,"fullOutputPath":"/tmp/x","excludeFromContext":true,"timestamp":7}"#
    );
    assert_eq!(
        Message::custom("note", "hi").display(false).details(json!(1)).build().json(),
        r#"{"role":"custom","customType":"note","content":"hi","display":false,"details":1}"#
    );
}

#[test]
fn a_message_answers_with_the_parts_it_was_built_from() {
    let answer =
        Message::assistant().text("I look. ").tool_call("c1", "ls", json!({"path": "."})).text("Wait.");
    let answer = answer.usage(Usage { input: 3, output: 4, ..Usage::default() }).build();
    assert_eq!((answer.role(), &*answer.text()), (Role::Assistant, "I look. Wait."));
    assert_eq!(answer.stop_reason(), Some(StopReason::ToolUse));
    assert_eq!(answer.usage().unwrap().total, 7);
    let calls = answer.tool_calls();
    assert_eq!((calls.len(), &*calls[0].name, &calls[0].arguments), (1, "ls", &json!({"path": "."})));
    let (fine, failed) = (calls[0].result("Cargo.toml"), calls[0].error("no such directory"));
    assert_eq!((fine.tool_call_id().as_deref(), fine.is_error()), (Some("c1"), false));
    assert_eq!((&*failed.text(), failed.is_error()), ("no such directory", true));
    assert!(Message::user("hi").tool_calls().is_empty() && Message::user("hi").usage().is_none());
    assert_eq!(Message::user_with_images("a", &[image()]).content().images(), [image()]);
}

#[test]
fn a_message_without_a_time_gets_that_of_its_entry() {
    let mut session = session();
    let id = session.append_message(&Message::assistant().error_message("cut").build()).unwrap();
    let entry = session.entry(id.as_str()).unwrap();
    let time = entry.timestamp().as_millis();
    let line = String::from_utf8(entry.raw().to_vec()).unwrap();
    assert!(
        line.ends_with(&format!(r#""stopReason":"stop","timestamp":{time},"errorMessage":"cut"}}}}"#)),
        "{line}"
    );
    let dated = Message::user("hi").with_time(Timestamp::from_millis(5));
    let id = session.append_message(&dated).unwrap();
    assert!(session.entry(id.as_str()).unwrap().raw().ends_with(br#""content":"hi","timestamp":5}}"#));
    assert_eq!(dated.with_time(Timestamp::from_millis(6)).time(), Some(Timestamp::from_millis(6)));
}

/// Messages that the format does not allow, and the rules they break.
fn invalid() -> Vec<(serde_json::Value, InvalidReason)> {
    let missing = |field: &str| InvalidReason::Missing { field: field.into() };
    vec![
        (json!([]), InvalidReason::NotAnObject),
        (json!({"content": "x"}), missing("role")),
        (json!({"role": "tool", "content": "x"}), InvalidReason::UnknownRole { role: "tool".into() }),
        (json!({"role": "user"}), missing("content")),
        (json!({"role": "toolResult", "content": []}), missing("toolCallId")),
        (json!({"role": "bashExecution", "output": ""}), missing("command")),
        (json!({"role": "user", "content": [{"type": "text"}]}), missing("content[0].text")),
        (
            json!({"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "tool_call"}]}),
            InvalidReason::UnknownBlock { index: 1, kind: "tool_call".into() },
        ),
    ]
}

#[test]
fn every_way_in_applies_the_same_rules() {
    for (message, expected) in invalid() {
        let reason = |error: Error| match error {
            Error::Invalid { reason, .. } => reason,
            other => panic!("{other}"),
        };
        assert_eq!(reason(Message::from_serialize(&message).unwrap_err()), expected, "{message}");
        assert_eq!(reason(Message::parse(message.to_string()).unwrap_err()), expected, "{message}");
        if message.is_object() {
            let entry = json!({"type": "message", "message": message}).to_string();
            assert_eq!(reason(Draft::parse(entry).unwrap_err()), expected, "{message}");
            let bytes = format!(
                "{}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{message}}}\n",
                r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
            );
            let file = Session::from_bytes(bytes.into_bytes()).unwrap();
            let context = file.context().unwrap();
            let loaded = context.messages().next().unwrap();
            if loaded.json() == message.to_string() {
                assert_eq!(reason(session().append_message(loaded).unwrap_err()), expected, "{message}");
            }
        }
    }
}

#[test]
fn a_message_that_is_made_unchecked_is_appended_as_it_is() {
    let mut session = session();
    let odd = Message::parse_unchecked(r#"{"role":"tool","content":"x","timestamp":1}"#).unwrap();
    let id = session.append_message(&odd).unwrap();
    assert!(
        session
            .entry(id.as_str())
            .unwrap()
            .raw()
            .ends_with(br#""message":{"role":"tool","content":"x","timestamp":1}}"#)
    );
    assert_eq!(session.check().unwrap().diagnostics.len(), 1, "a check reports it");
    assert!(Message::parse_unchecked("[]").is_err());
}
