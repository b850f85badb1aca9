//! Token estimates of messages and contexts. The numbers are those of the conformance cases.

use super::*;
use crate::compaction::tests::drawing::session;
use crate::json::Doc;

fn message(text: &str) -> Message {
    Message::parse_unchecked(text).unwrap()
}

fn tokens(text: &str) -> u64 {
    estimate_tokens(&message(text))
}

fn usage(text: &str) -> u64 {
    Usage::of(Doc::parse(text.as_bytes()).unwrap().root()).total
}

/// Estimates the context at the leaf of a drawing.
fn estimated(drawing: &str) -> ContextEstimate {
    let session = session(drawing);
    session.context_estimate(Position::Leaf).unwrap()
}

#[test]
fn four_utf16_units_make_a_token_and_a_rest_counts_whole() {
    assert_eq!(tokens(r#"{"role":"user","content":"abcde"}"#), 2);
    assert_eq!(tokens(r#"{"role":"user","content":"abcd"}"#), 1);
    assert_eq!(tokens(r#"{"role":"user","content":""}"#), 0);
    assert_eq!(tokens(r#"{"role":"user","content":"😀😀"}"#), 1);
    assert_eq!(tokens(r#"{"role":"user","content":"漢字かなx"}"#), 2);
    assert_eq!(tokens(r#"{"role":"user","content":"\ud83d\ud83d\ud83d\ud83d\ud83d"}"#), 2);
}

#[test]
fn an_image_counts_as_1200_tokens() {
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    assert_eq!(tokens(&format!(r#"{{"role":"toolResult","content":[{image}]}}"#)), 1200);
    let with_text = format!(r#"{{"role":"user","content":[{image},{{"type":"text","text":"ab"}}]}}"#);
    assert_eq!(tokens(&with_text), 1201);
}

#[test]
fn an_answer_counts_text_thinking_and_calls() {
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"abcd"},{"type":"thinking","thinking":"xx"},
        {"type":"toolCall","id":"1","name":"read","arguments":{"path" : "a"}}]}"#;
    assert_eq!(tokens(answer), 6);
}

#[test]
fn arguments_count_as_javascript_writes_them() {
    let call = |arguments: &str| {
        tokens(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","name":"","arguments":{arguments}}}]}}"#
        ))
    };
    // {"a":100} and {"a":"😀"}, nine and ten units.
    assert_eq!(call(r#"{"a":1,"a":1e2}"#), 3);
    assert_eq!(call(r#"{"a":"\ud83d\ude00"}"#), 3);
    // {"a":"\ud83d"}: a lone half is written as an escape.
    assert_eq!(call(r#"{"a":"\ud83d"}"#), 4);
}

#[test]
fn a_command_counts_with_its_output_also_when_it_is_hidden() {
    let bash = r#"{"role":"bashExecution","command":"ls","output":"abc","excludeFromContext":true}"#;
    assert_eq!(tokens(bash), 2);
}

#[test]
fn summaries_count_their_text() {
    assert_eq!(tokens(r#"{"role":"branchSummary","summary":"abcde"}"#), 2);
    assert_eq!(tokens(r#"{"role":"compactionSummary","summary":"abcde"}"#), 2);
}

#[test]
fn a_system_message_counts_text_sections_and_tools() {
    let system =
        r#"{"role":"system","content":"ab","sections":{"x":"abcd","y":null},"toolsAdded":[{"name":"t"}]}"#;
    // 2 + 4 + 14 units.
    assert_eq!(tokens(system), 5);
}

#[test]
fn a_message_of_an_unknown_role_counts_nothing() {
    assert_eq!(tokens(r#"{"role":"developer","content":"abcd"}"#), 0);
    assert_eq!(tokens("{}"), 0);
}

#[test]
fn contents_that_are_missing_or_odd_count_nothing() {
    assert_eq!(tokens(r#"{"role":"user","content":null}"#), 0);
    assert_eq!(tokens(r#"{"role":"assistant"}"#), 0);
    assert_eq!(tokens(r#"{"role":"user","content":[7,"x",{"type":"text","text":8}]}"#), 0);
}

#[test]
fn usage_is_the_total_or_the_sum_of_its_parts() {
    assert_eq!(usage(r#"{"input":1000,"output":500,"cacheRead":200,"cacheWrite":100}"#), 1800);
    assert_eq!(usage(r#"{"input":1,"output":1,"totalTokens":7}"#), 7);
    assert_eq!(usage(r#"{"input":1,"output":1,"totalTokens":0}"#), 2);
    assert_eq!(usage(r#"{"input":"many"}"#), 0);
}

#[test]
fn odd_numbers_of_tokens_are_no_reports() {
    assert_eq!(usage(r#"{"input":1e400,"output":1e400}"#), 0);
    assert_eq!(usage(r#"{"totalTokens":-5}"#), 0);
    assert_eq!(
        estimated(r#"a json "type":"message","message":{"role":"assistant","usage":{"input":7,"totalTokens":1e400}}"#)
            .tokens,
        7
    );
}

#[test]
fn a_context_counts_the_last_usage_and_guesses_the_rest() {
    assert_eq!(
        estimated("u1 user long ago\n a2 answer 150 well\n u3 user abcdefgh"),
        ContextEstimate { tokens: 152, usage_tokens: 150, trailing_tokens: 2, last_usage: Some(1) }
    );
}

#[test]
fn answers_that_failed_or_spent_nothing_report_no_usage() {
    for (reason, total) in [("aborted", 90), ("error", 90), ("stop", 0)] {
        let bad = format!(
            r#""role":"assistant","content":[],"stopReason":"{reason}","usage":{{"totalTokens":{total}}}"#
        );
        let drawing = format!("a1 answer 40 well\n a2 json \"type\":\"message\",\"message\":{{{bad}}}");
        assert_eq!(estimated(&drawing).tokens, 40);
    }
    assert_eq!(estimated("").last_usage, None);
}

#[test]
fn usage_from_before_a_compaction_or_an_edit_is_not_trusted() {
    let projected = |drawing: &str| {
        let session = session(drawing);
        session.context_estimate(Position::Leaf).unwrap().tokens
    };
    let answered = "u1 user cccc\n a2 answer 1000 dd";
    assert_eq!(projected(&format!("{answered}\n u3 user cccc")), 1001);
    assert_eq!(projected(&format!("{answered}\n k3 compaction a2 ssss\n u4 user cccc")), 3);
    assert_eq!(projected(&format!("{answered}\n e3 omit u1\n u4 user cccc")), 2);
    assert_eq!(projected(&format!("{answered}\n k3 compaction a2 ssss\n a4 answer 70 dd\n u5 user c")), 71);
}

#[test]
fn system_messages_count_once_as_what_they_amount_to() {
    let session = session(
        "
        s1 system aaaa
        s2 system bbbb
        u3 user cccc
    ",
    );
    // aaaa, a blank line, bbbb: ten units.
    assert_eq!(session.context_estimate(Position::Leaf).unwrap().tokens, 4);
}

#[test]
fn before_the_first_entry_there_are_no_tokens() {
    assert_eq!(session("u1 user aaaa").context_estimate(Position::Start).unwrap().tokens, 0);
}
