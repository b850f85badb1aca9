//! The transcript of a conversation as text.

use super::*;

fn text(messages: &[&str]) -> String {
    let messages: Vec<Message> =
        messages.iter().map(|text| Message::parse_unchecked(text).unwrap()).collect();
    serialize_conversation(&messages)
}

fn result(content: &str) -> String {
    text(&[&format!(r#"{{"role":"toolResult","content":[{{"type":"text","text":"{content}"}}]}}"#)])
}

#[test]
fn a_conversation_has_one_part_per_role_with_blank_lines_between() {
    let conversation = text(&[
        r#"{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"three"}]}"#,
        r#"{"role":"toolResult","content":[{"type":"text","text":"four"},{"type":"text","text":"five"}]}"#,
    ]);
    assert_eq!(conversation, "[User]: onetwo\n\n[Assistant]: three\n\n[Tool result]: fourfive");
}

#[test]
fn an_answer_shows_texts_and_calls_but_no_thoughts() {
    let answer = text(&[r#"{"role":"assistant","content":[{"type":"thinking","thinking":"T"},
        {"type":"text","text":"a"},{"type":"text","text":"b"},
        {"type":"toolCall","name":"edit","arguments":{"path":"f.ts","n":1,"o":{"k":[1]}}},
        {"type":"toolCall","name":"ls","arguments":{}}]}"#]);
    let calls = r#"[Assistant tool calls]: edit(path="f.ts", n=1, o={"k":[1]}); ls()"#;
    assert_eq!(answer, format!("[Assistant]: a\nb\n\n{calls}"));
}

#[test]
fn arguments_appear_as_javascript_lists_them() {
    let call = |arguments: &str| {
        text(&[&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","name":"t","arguments":{arguments}}}]}}"#
        )])
    };
    assert_eq!(call(r#"{"b":1,"2":"x","a":1.0,"b":9}"#), "[Assistant tool calls]: t(2=\"x\", b=9, a=1)");
    assert_eq!(call(r#"{"a\n":"é\/\u00e9"}"#), "[Assistant tool calls]: t(a\n=\"é/é\")");
    assert_eq!(call("null"), "[Assistant tool calls]: t()");
}

#[test]
fn long_results_are_cut_and_report_by_how_much() {
    let x = |count: usize| "x".repeat(count);
    let expected = format!("[Tool result]: {}\n\n[... 3000 more characters truncated]", x(2000));
    assert_eq!(result(&x(5000)), expected);
    assert_eq!(result(&x(1500)), format!("[Tool result]: {}", x(1500)));
    assert_eq!(result(&x(2000)), format!("[Tool result]: {}", x(2000)));
}

#[test]
fn results_are_measured_in_utf16_units() {
    let emoji = "😀".repeat(1000);
    assert_eq!(result(&emoji), format!("[Tool result]: {emoji}"));
    let umlauts = "ü".repeat(2001);
    let expected = format!("[Tool result]: {}\n\n[... 1 more characters truncated]", "ü".repeat(2000));
    assert_eq!(result(&umlauts), expected);
}

#[test]
fn a_character_that_the_cut_goes_through_becomes_a_replacement() {
    let content = format!("x{}", "😀".repeat(1000));
    let expected =
        format!("[Tool result]: x{}\u{fffd}\n\n[... 1 more characters truncated]", "😀".repeat(999));
    assert_eq!(result(&content), expected);
}

#[test]
fn prompts_and_answers_are_never_cut() {
    let long = "x".repeat(5000);
    let prompt = text(&[&format!(r#"{{"role":"user","content":"{long}"}}"#)]);
    assert_eq!(prompt, format!("[User]: {long}"));
    let answer = text(&[&format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"{long}"}}]}}"#)]);
    assert_eq!(answer, format!("[Assistant]: {long}"));
}

#[test]
fn empty_messages_are_left_out_except_answers() {
    assert_eq!(text(&[r#"{"role":"user","content":""}"#, r#"{"role":"toolResult","content":[]}"#]), "");
    assert_eq!(text(&[r#"{"role":"assistant","content":[{"type":"text","text":""}]}"#]), "[Assistant]: ");
    assert_eq!(text(&[r#"{"role":"assistant","content":[]}"#]), "");
}

#[test]
fn other_roles_are_left_out() {
    assert_eq!(text(&[r#"{"role":"system","content":"s"}"#, r#"{"role":"custom","content":"c"}"#]), "");
}
