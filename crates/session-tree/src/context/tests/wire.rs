//! The exact text that a model gets, and the effect of system messages.

use super::super::{convert_to_llm, replay_system};
use super::draw::draw;
use crate::entry::Message;

fn message(json: &str) -> Message {
    Message::parse_unchecked(json).unwrap()
}

/// Returns the text of the only block of a message.
fn sent(json: &str) -> String {
    let sent = convert_to_llm(&message(json)).unwrap();
    assert!(sent.value().get("role").unwrap().is_str("user"));
    assert_eq!(sent.value().get("content").unwrap().len(), 1);
    sent.text().into_owned()
}

#[test]
fn a_branch_summary_has_no_line_feed_before_its_end_tag() {
    assert_eq!(
        sent(r#"{"role":"branchSummary","summary":"BS","fromId":"x","timestamp":5}"#),
        "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nBS</summary>"
    );
}

#[test]
fn a_compaction_summary_has_one() {
    assert_eq!(
        sent(r#"{"role":"compactionSummary","summary":"CS","tokensBefore":1,"timestamp":5}"#),
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\nCS\n</summary>"
    );
}

#[test]
fn a_summary_that_is_missing_is_empty() {
    assert!(sent(r#"{"role":"compactionSummary"}"#).ends_with("<summary>\n\n</summary>"));
}

#[test]
fn a_command_without_output_is_marked() {
    let ran = r#"{"role":"bashExecution","command":"ls","output":"","exitCode":0,"cancelled":false,"truncated":false}"#;
    assert_eq!(sent(ran), "Ran `ls`\n(no output)");
}

#[test]
fn output_exit_code_and_truncation_stand_in_this_order() {
    let ran = r#"{"role":"bashExecution","command":"make","output":"x","exitCode":1,"truncated":true,"fullOutputPath":"/w/out"}"#;
    assert_eq!(
        sent(ran),
        "Ran `make`\n```\nx\n```\n\nCommand exited with code 1\n\n[Output truncated. Full output: /w/out]"
    );
}

#[test]
fn a_cancelled_command_has_no_exit_code() {
    let ran = r#"{"role":"bashExecution","command":"sleep","output":"","exitCode":1,"cancelled":true}"#;
    assert_eq!(sent(ran), "Ran `sleep`\n(no output)\n\n(command cancelled)");
}

#[test]
fn truncation_is_mentioned_only_with_a_path() {
    let ran = r#"{"role":"bashExecution","command":"t","output":"y","exitCode":null,"truncated":true}"#;
    assert_eq!(sent(ran), "Ran `t`\n```\ny\n```");
}

#[test]
fn excluded_commands_and_unknown_roles_are_not_sent() {
    for json in [
        r#"{"role":"bashExecution","command":"ls","output":"","excludeFromContext":true}"#,
        r#"{"role":"developer","content":"x"}"#,
        r#"{"role":"pythonExecution","content":"x"}"#,
        r#"{"content":"x"}"#,
    ] {
        assert!(convert_to_llm(&message(json)).is_none(), "{json}");
    }
}

#[test]
fn a_hidden_custom_message_is_still_sent() {
    let custom = r#"{"role":"custom","customType":"n","content":"psst","display":false,"details":{"k":1},"timestamp":5}"#;
    let sent = convert_to_llm(&message(custom)).unwrap();
    assert_eq!(sent.json(), r#"{"role":"user","content":[{"type":"text","text":"psst"}],"timestamp":5}"#);
}

#[test]
fn a_hook_message_is_sent_like_a_custom_message() {
    assert_eq!(sent(r#"{"role":"hookMessage","content":"old"}"#), "old");
}

#[test]
fn mentioned_files_are_sent_one_block_each() {
    let files =
        r#"{"role":"fileMention","files":[{"path":"a","content":"A\"\n"},{"path":"b","content":""}]}"#;
    assert_eq!(sent(files), "<file path=\"a\">\nA\"\n\n</file>\n\n<file path=\"b\">\n\n</file>");
}

#[test]
fn conversation_is_sent_as_it_is() {
    for json in [
        r#"{"role":"user","content":"x","extra":1.0}"#,
        r#"{"role":"assistant","content":[]}"#,
        r#"{"role":"toolResult","content":[],"details":{}}"#,
        r#"{"role":"system","content":"x","sections":{}}"#,
    ] {
        assert_eq!(convert_to_llm(&message(json)).unwrap().json(), json);
    }
}

#[test]
fn odd_characters_go_through() {
    let sent =
        convert_to_llm(&message(r#"{"role":"branchSummary","summary":"\ud83d \"q\" \u0000"}"#)).unwrap();
    assert!(sent.json().contains(r#"<summary>\n\ud83d \"q\" \u0000</summary>"#), "{}", sent.json());
}

#[test]
fn entries_become_messages_with_their_time() {
    let session = draw(
        r#"n1 entry {"type":"custom_message","customType":"n","content":"hi","display":false,"details":{"k":1.0}}
           b1 summary left
           k1 compaction n1"#,
    );
    let context = session.context().unwrap();
    let texts: Vec<_> = context.messages().map(|message| message.json().into_owned()).collect();
    assert_eq!(
        texts,
        [
            r#"{"role":"compactionSummary","summary":"k1","tokensBefore":100,"timestamp":1735689603000}"#,
            r#"{"role":"custom","customType":"n","content":"hi","display":false,"details":{"k":1.0},"timestamp":1735689601000}"#,
            r#"{"role":"branchSummary","summary":"left","fromId":"x","timestamp":1735689602000}"#,
        ]
    );
}

#[test]
fn system_messages_play_into_one() {
    let messages = [
        r#"{"role":"system","content":"base","sections":{"a":"A","b":"B"},"toolsAdded":[{"name":"read"},{"name":"write"}],"timestamp":1}"#,
        r#"{"role":"user","content":"x"}"#,
        r#"{"role":"system","content":[{"type":"text","text":"more"},{"type":"text","text":"!"}],"sections":{"a":null,"c":"C"},"toolsRemoved":[{"name":"read"}],"timestamp":2}"#,
        r#"{"role":"system","content":null,"timestamp":3}"#,
    ]
    .map(message);
    assert_eq!(
        replay_system(&messages).unwrap().json(),
        r#"{"role":"system","content":"base\n\nmore\n!","sections":{"b":"B","c":"C"},"toolsAdded":[{"name":"write"}],"timestamp":1}"#
    );
}

#[test]
fn a_tool_that_is_added_again_counts_as_added_last() {
    let messages = [
        r#"{"role":"system","content":"","toolsAdded":[{"name":"a","v":1},{"name":"b"}],"timestamp":1}"#,
        r#"{"role":"system","content":"","toolsRemoved":[{"name":"b"}],"toolsAdded":[{"name":"b","v":2},{"name":"a","v":2}],"timestamp":2}"#,
    ]
    .map(message);
    let tools = replay_system(&messages).unwrap().value().get("toolsAdded").unwrap().js_string();
    assert_eq!(tools, r#"[{"name":"a","v":2},{"name":"b","v":2}]"#);
}

#[test]
fn without_system_messages_there_is_nothing_to_play() {
    assert!(replay_system(&[message(r#"{"role":"user","content":"x"}"#)]).is_none());
}

#[test]
fn a_system_message_without_a_time_counts_too() {
    let terse = message(r#"{"role":"system","content":"be terse"}"#);
    let replayed = replay_system(&[terse]).unwrap();
    assert_eq!(replayed.json(), r#"{"role":"system","content":"be terse","timestamp":0}"#);
}
