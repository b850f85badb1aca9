use rig_core::completion::Message;
use rig_core::message::{
    AssistantContent, AssistantMessage, Audio, CallId, Document, DocumentMediaType, DocumentSourceKind,
    Image, ImageDetail, ImageMediaType, Origin, Reasoning, StopReason, Text, ToolCall, ToolFunction,
    ToolName, ToolResultContent, UserContent, Video,
};
use serde_json::json;
use session_tree::{Body, Message as SessionMessage, Options, Session};

use super::{drafts, read};

fn session() -> Session {
    Options::new().in_memory("/project").unwrap()
}

/// Stores messages and loads them from the bytes of the session.
fn stored(messages: &[Message]) -> (Session, Vec<Message>) {
    let mut session = session();
    session.append_batch(&drafts("c", messages).unwrap()).unwrap();
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    let loaded = read(&Session::from_bytes(bytes).unwrap(), "c").unwrap();
    (session, loaded)
}

fn call(id: &str) -> ToolCall {
    let name = ToolName::new("search").unwrap();
    ToolCall::from_wire(id, ToolFunction::new(name, json!({"z": 1, "a": [0.1, 1e300, "\u{0}\u{2028}"]})))
}

fn text(text: &str) -> UserContent {
    UserContent::Text(Text::new(text))
}

fn image(data: DocumentSourceKind) -> Image {
    Image { data, media_type: Some(ImageMediaType::PNG), ..Image::default() }
}

fn result(id: &str) -> UserContent {
    let image = ToolResultContent::Image(image(DocumentSourceKind::base64("aGk=")));
    let value = ToolResultContent::Json { value: json!({"found": [1, null, -0.5]}) };
    UserContent::ToolResult(call(id).result(vec![ToolResultContent::Text(Text::new("two")), value, image]))
}

/// Messages with every kind of content.
fn all_kinds() -> Vec<Message> {
    let document = |data| Document {
        data,
        media_type: Some(DocumentMediaType::PDF),
        additional_params: Some(json!({"title": "t"})),
    };
    let parts = |text: &str| Text::new(text);
    let invalid = ToolFunction::parse(ToolName::new("search").unwrap(), r#"{"q": "ab"#);
    vec![
        Message::system("Be brief."),
        Message::user("hello"),
        Message::User { content: vec![] },
        Message::User {
            content: vec![
                text("look\0"),
                UserContent::Image(image(DocumentSourceKind::base64("aGk="))),
                UserContent::Image(Image {
                    detail: Some(ImageDetail::High),
                    ..image(DocumentSourceKind::url("https://e.org/a.png"))
                }),
                UserContent::Image(image(DocumentSourceKind::Raw(vec![0, 255]))),
                UserContent::Audio(Audio { data: DocumentSourceKind::file_id("f-1"), media_type: None }),
                UserContent::Video(Video { additional_params: Some(json!({"fps": 2})), ..Video::default() }),
                UserContent::Document(document(DocumentSourceKind::string("text"))),
                UserContent::Document(document(DocumentSourceKind::base64("JVBERi0="))),
            ],
        },
        Message::Assistant(
            AssistantMessage::new(vec![
                AssistantContent::Reasoning(Reasoning::new("hmm")),
                AssistantContent::Reasoning(Reasoning { redacted: true, ..Reasoning::default() })
                    .with_native(json!({"type": "redacted_thinking", "data": "x"})),
                AssistantContent::Text(parts("Searching.")),
                AssistantContent::ToolCall(call("call-1"))
                    .with_native(json!({"id": "call-1", "n": 18_446_744_073_709_551_615_u64})),
                AssistantContent::ToolCall(call("call-2")),
                AssistantContent::ToolCall(ToolCall::from_wire("", invalid)),
                AssistantContent::Image(image(DocumentSourceKind::base64("aGk="))),
            ])
            .with_origin(Origin::new("openai.responses", "openai", "gpt-5"))
            .with_stop(StopReason::ToolUse),
        ),
        Message::User {
            content: vec![
                result("call-1"),
                result("call-2"),
                text("go on"),
                text("please"),
                result("call-2"),
            ],
        },
        Message::User { content: vec![result("call-1")] },
        Message::User { content: vec![text("a second message of the user")] },
        Message::Assistant(AssistantMessage::new(vec![])),
        Message::Assistant(AssistantMessage::aborted(
            None,
            vec![AssistantContent::Text(parts("Do"))],
            "stopped",
        )),
        Message::assistant("Done."),
    ]
}

#[test]
fn every_kind_of_content_is_loaded_as_it_was_appended() {
    let messages = all_kinds();
    let (_, loaded) = stored(&messages);
    assert_eq!(loaded, messages);
}

#[test]
fn a_local_call_id_keeps_its_kind() {
    let call = ToolCall::from_wire("", ToolFunction::new(ToolName::new("f").unwrap(), json!({})));
    assert!(matches!(call.id, CallId::Local(_)));
    let messages = [Message::Assistant(AssistantMessage::new(vec![AssistantContent::ToolCall(call)]))];
    assert_eq!(stored(&messages).1, messages);
}

#[test]
fn other_programs_see_calls_results_and_images() {
    let (session, _) = stored(&all_kinds());
    let context = session.context().unwrap();
    let calls: Vec<String> =
        context.messages().flat_map(SessionMessage::tool_calls).map(|call| call.id).collect();
    assert_eq!(calls[..2], ["call-1", "call-2"]);
    let results = context.messages().filter_map(|message| message.tool_call_id().map(|id| id.into_owned()));
    assert_eq!(results.collect::<Vec<_>>(), ["call-1", "call-2", "call-2", "call-1"]);
    let texts: Vec<String> = context.messages().map(|message| message.text().into_owned()).collect();
    assert!(texts.iter().any(|text| text.contains("[document: pdf]")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("[image: png, https://e.org/a.png]")), "{texts:?}");
    assert!(context.messages().any(|message| message.content().image_count() == 1));
}

#[test]
fn what_a_session_expresses_is_not_stored_twice() {
    let (session, _) =
        stored(&[Message::user("hello"), Message::User { content: vec![text("a"), text("b")] }]);
    for entry in session.entries() {
        let entry = entry.unwrap();
        assert!(matches!(entry.body(), Body::Message { .. }) && entry.value().unwrap().get("rig").is_none());
    }
}

#[test]
fn messages_of_other_programs_are_loaded() {
    let mut session = session();
    let prompt = session.append(SessionMessage::user("hi")).unwrap();
    let answer = SessionMessage::assistant().thinking("hm").text("Listing.").tool_call(
        "c1",
        "ls",
        json!({"path": "."}),
    );
    session.append(answer.build()).unwrap();
    session.append(SessionMessage::tool_result("c1", "ls").text("a.rs").build()).unwrap();
    session.append(SessionMessage::bash("pwd").output("/project").exit_code(0).build()).unwrap();
    session.set_label(&prompt, "start").unwrap();
    session.append_custom_entry("notes", Some(&json!({"a": 1}))).unwrap();
    let loaded = read(&session, "c").unwrap();
    let roles: Vec<&str> = loaded
        .iter()
        .map(|message| match message {
            Message::System { .. } => "system",
            Message::User { content } if matches!(content[0], UserContent::ToolResult(_)) => "result",
            Message::User { .. } => "user",
            Message::Assistant(_) => "assistant",
        })
        .collect();
    assert_eq!(roles, ["user", "assistant", "result", "user"]);
    let Message::Assistant(answer) = &loaded[1] else { panic!("no answer") };
    assert_eq!(answer.tool_calls().next().unwrap().function.arguments["path"], ".");
    assert_eq!(answer.stop, Some(StopReason::ToolUse));
}

#[test]
fn a_compaction_stands_for_the_messages_before_it() {
    let mut session = session();
    session
        .append_batch(&drafts("c", &[Message::user("old"), Message::assistant("older")]).unwrap())
        .unwrap();
    let kept = session.append_batch(&drafts("c", &[Message::user("new")]).unwrap()).unwrap();
    session.compact("They talked.", kept[0].clone()).unwrap();
    let loaded = read(&session, "c").unwrap();
    assert_eq!(loaded.len(), 2);
    assert!(loaded[0].rag_text().unwrap().contains("They talked."));
    assert_eq!(loaded[1], Message::user("new"));
}

#[test]
fn a_message_of_another_version_of_rig_is_an_error_that_names_the_entry() {
    let mut session = session();
    let draft = session_tree::Draft::message(&SessionMessage::user("hi")).unwrap();
    let draft = draft.with_field("rig", &json!({"message": {"role": "oracle", "content": []}})).unwrap();
    let id = session.append(draft).unwrap();
    let error = read(&session, "c").unwrap_err().to_string();
    assert!(error.contains(id.as_str()) && error.contains("oracle"), "{error}");
}

#[test]
fn a_message_that_could_not_be_loaded_is_not_stored() {
    let mut value = json!(1);
    for _ in 0..300 {
        value = json!([value]);
    }
    let result = UserContent::ToolResult(call("c").result(vec![ToolResultContent::Json { value }]));
    let error =
        drafts("c", &[Message::user("a"), Message::User { content: vec![result] }]).unwrap_err().to_string();
    assert!(error.contains("message 1") && error.contains("recursion limit"), "{error}");
}
