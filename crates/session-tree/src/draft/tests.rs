//! Drafts that are read from JSON.

use super::*;
use crate::Options;

fn line_of(draft: &str) -> String {
    let mut session = Options::new().in_memory("/w").unwrap();
    let id = session.append(Draft::parse(draft).unwrap()).unwrap();
    String::from_utf8(session.entry(id.as_str()).unwrap().raw().to_vec()).unwrap()
}

fn refusal(draft: &str) -> String {
    Draft::parse(draft).unwrap_err().to_string()
}

#[test]
fn a_draft_is_kept_byte_for_byte() {
    let line = line_of(r#"{ "type": "custom", "customType": "x", "data": {"n": 1e400, "s": "\ud800"} }"#);
    assert!(line.starts_with(r#"{"type":"custom","customType":"x","data":{"n":1e400,"s":"\ud800"},"id":"#));
}

#[test]
fn a_message_without_a_time_gets_that_of_its_entry() {
    let line = line_of(r#"{"type":"message","message":{"role":"user","content":"hi"},"origin":7}"#);
    assert!(line.contains(r#""message":{"role":"user","content":"hi","timestamp":"#), "{line}");
    assert!(line.ends_with(r#","origin":7}"#), "{line}");
    let line = line_of(r#"{"type":"message","message":{"timestamp":5,"role":"user","content":"hi"}}"#);
    assert!(line.ends_with(r#""message":{"timestamp":5,"role":"user","content":"hi"}}"#), "{line}");
}

#[test]
fn a_draft_that_lacks_what_its_type_needs_is_refused() {
    let refusals = [
        "[]",
        "{",
        "{}",
        r#"{"type":"label","id":"a","targetId":"b"}"#,
        r#"{"type":"lable","targetId":"b"}"#,
        r#"{"type":"leaf","targetId":"b"}"#,
        r#"{"type":"label"}"#,
        r#"{"type":"label","targetId":7}"#,
        r#"{"type":"message","message":{"content":"hi"}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":"hi"}}"#,
        r#"{"type":"message","message":{"role":"branchSummary","summary":"x"}}"#,
        r#"{"type":"context_edit","targetId":"a","replacement":{}}"#,
        r#"{"type":"message","message":{"role":"tool","content":"x"}}"#,
        r#"{"type":"message","message":{"role":"toolResult","content":[]}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"tool_call"}]}}"#,
    ];
    assert_eq!(
        refusals.map(refusal),
        [
            "cannot write this draft: it is not a JSON object",
            "cannot write this draft: unexpected end of text at byte 1",
            "cannot write this draft: it has no `type`",
            "cannot write this draft: `id` is set by the session",
            "cannot write this draft: the type `lable` is not one that is written",
            "cannot write this draft: the type `leaf` is not one that is written",
            "cannot write this label: it has no `targetId`",
            "cannot write this label: `targetId` is not a string",
            "cannot write this message: it has no `role`",
            "cannot write this message: `content` is not an array of blocks",
            "cannot write this message: a summary is an entry of its own, `branch_summary` or `compaction`",
            "cannot write this context_edit: `replacement` is not null or an object with `content`",
            "cannot write this message: the role `tool` is unknown",
            "cannot write this message: it has no `toolCallId`",
            "cannot write this message: the block `content[0]` has the unknown type `tool_call`",
        ]
    );
}
