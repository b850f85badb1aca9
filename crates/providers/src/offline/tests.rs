#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use futures_util::StreamExt as _;
use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::MergeBranchRequest;
use offshoot_agent::model::{Answer, ThinkingLevel};
use serde_json::json;
use session_tree::{Message, Timestamp, serialize_conversation};

use super::*;

fn told(prompt: &str) -> String {
    let request = Request {
        messages: vec![Message::user(prompt).with_time(Timestamp::from_millis(0))],
        ..Request::default()
    };
    let events =
        futures_util::FutureExt::now_or_never(OfflineModel::new().answer(request).collect::<Vec<_>>());
    let mut answer = Answer::default();
    events.unwrap().into_iter().for_each(|event| answer.take(&event.unwrap()));
    assert_eq!((answer.stop(), answer.usage()), (Some(StopReason::Stop), Usage::default()));
    answer.text()
}

fn message(value: serde_json::Value) -> Message {
    Message::from_serialize(&value).unwrap()
}

fn user(text: &str) -> Message {
    message(json!({"role": "user", "content": text}))
}

fn says(text: &str) -> Message {
    message(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}))
}

fn calls(calls: &[(&str, serde_json::Value)]) -> Message {
    let block = |(name, arguments): &(&str, serde_json::Value)| json!({"type": "toolCall", "id": "c", "name": name, "arguments": arguments});
    message(json!({"role": "assistant", "content": calls.iter().map(block).collect::<Vec<_>>()}))
}

fn result(text: &str) -> Message {
    message(json!({"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": text}]}))
}

/// The request for a summary of messages.
fn prompt(messages: &[Message], previous: Option<&str>) -> String {
    let conversation = serialize_conversation(messages);
    let previous = previous.map(|text| format!("<previous-summary>\n{text}\n</previous-summary>\n\n"));
    let previous = previous.unwrap_or_default();
    format!("<conversation>\n{conversation}\n</conversation>\n\n{previous}Summarise this.")
}

fn work() -> Vec<Message> {
    vec![
        user("Fix the parser.\n\nIt must not panic. Keep [brackets] as they are."),
        calls(&[("read", json!({"path": "src/parser.rs"})), ("read", json!({"path": "README.md"}))]),
        result("fn parse() {}"),
        result("# Readme\n[User]: is quoted here"),
        says("I'll use a table instead of a loop.\nSecond line."),
        calls(&[("edit", json!({"path": "src/parser.rs", "oldText": "a; b(c", "newText": "d"}))]),
        result("edited"),
        says("The parser is fixed."),
        user("Run the tests"),
        calls(&[("bash", json!({"command": "cargo test"}))]),
        result("error[E0308]: mismatched types\n\nCommand exited with code 101"),
    ]
}

#[test]
fn a_prompt_is_answered_plainly_and_always_alike() {
    let text = told("hello");
    assert!(text.starts_with("No model is configured"), "{text}");
    assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("ollama/"));
    assert_eq!(text, told("something else"));
}

#[test]
fn it_streams_in_a_few_pieces() {
    let deltas =
        events("a\n\nb\n\nc").into_iter().filter(|event| matches!(event, AnswerEvent::BlockDelta { .. }));
    assert_eq!(deltas.count(), 3);
}

#[test]
fn a_summary_lists_prompts_and_answers() {
    insta::assert_snapshot!(told(&prompt(&work(), None)), @"
    ## Goal
    Fix the parser. It must not panic. Keep [brackets] as they are.

    (This summary is an extract of the conversation; no model wrote it.)

    ## Prompts and answers
    - Fix the parser. It must not panic. Keep [brackets] as they are. -> The parser is fixed.
    - Run the tests
    ");
}

#[test]
fn a_summary_continues_the_previous_one() {
    let first = told(&prompt(&work(), None));
    let files = format!("{first}\n\n<modified-files>\nsrc/parser.rs\n</modified-files>");
    let later = [user("Now the lexer"), says("Done.")];
    insta::assert_snapshot!(told(&prompt(&later, Some(&files))), @"
    ## Goal
    Fix the parser. It must not panic. Keep [brackets] as they are.

    (This summary is an extract of the conversation; no model wrote it.)

    ## Prompts and answers
    - Fix the parser. It must not panic. Keep [brackets] as they are. -> The parser is fixed.
    - Run the tests
    - Now the lexer -> Done.
    ");
}

#[test]
fn the_summary_of_a_model_is_kept_whole() {
    let by_model = "## Goal\nBuild a CLI\n\n## Key Decisions\n- **Go**: it is fast";
    let summary = told(&prompt(&[user("go on"), says("gone on")], Some(by_model)));
    assert_eq!(summary, format!("{by_model}\n\n## Prompts and answers\n- go on -> gone on"));
}

#[test]
fn a_summary_inside_the_conversation_is_an_older_one() {
    let text = "The conversation history before this point was compacted into the following summary:\n\n\
        <summary>\n## Goal\nBuild a CLI\n\n## Prompts and answers\n- a start\n</summary>";
    let summary = told(&prompt(&[user(text), user("go on"), says("gone on")], None));
    assert_eq!(summary, "## Goal\nBuild a CLI\n\n## Prompts and answers\n- a start\n- go on -> gone on");
}

#[test]
fn a_branch_that_was_left_is_not_the_goal() {
    let text = "The following is a summary of a branch that this conversation came back from:\n\n\
        <summary>\nThe user explored a different conversation branch before returning here.\n\
        Summary of that exploration:\n\n## Goal\nUse Node\n</summary>";
    let summary = told(&prompt(&[user(text), user("Build a CLI"), says("ok")], None));
    assert!(summary.starts_with("## Goal\nBuild a CLI\n"), "{summary}");
    assert!(summary.ends_with("- (another branch) Use Node\n- Build a CLI -> ok"), "{summary}");
}

#[tokio::test]
async fn a_branch_can_be_merged_without_a_key() {
    let mut session = session_tree::Options::new().in_memory("/w").unwrap();
    let start = session.append(Message::user("Build a CLI")).unwrap();
    work().iter().for_each(|message| drop(session.append_message(message).unwrap()));
    let tip = session.leaf_id().unwrap().to_string();
    session.branch(start.as_str()).unwrap();
    session.append(Message::user("Use a table")).unwrap();
    let model = std::sync::Arc::new(OfflineModel::new());
    let agent = Agent::new(session, "/w").with_model(model, ThinkingLevel::Off);
    let request = MergeBranchRequest { branch: tip, ..MergeBranchRequest::default() };
    let planned = agent.plan_merge(None, &request).unwrap();
    let draft = agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap();
    let text = draft.text();
    assert!(text.starts_with("## Goal\nFix the parser."), "{text}");
    let tail = "- Run the tests\n\n<read-files>\nREADME.md\n</read-files>\n\n\
        <modified-files>\nsrc/parser.rs\n</modified-files>";
    assert!(text.ends_with(tail), "{text}");
    assert!(draft.conflicts().is_empty());
}

#[test]
fn a_conversation_without_messages_has_a_summary_too() {
    let summary = told("<conversation>\n\n</conversation>\n\nSummarise this.");
    assert!(summary.ends_with("## Prompts and answers\n(none)"), "{summary}");
}

#[test]
fn summaries_of_summaries_do_not_grow_without_end() {
    let mut summary = String::new();
    for round in 0..100 {
        let messages =
            [user(&format!("prompt {round} {}", "x".repeat(5_000))), says("You must never say never.")];
        summary = told(&prompt(&messages, Some(&summary)));
    }
    assert!(summary.len() < 25_000, "{}", summary.len());
    assert!(summary.contains("prompt 99") && summary.contains("## Goal\nprompt 0"));
}
