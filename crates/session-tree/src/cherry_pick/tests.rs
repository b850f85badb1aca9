//! Groups of calls and results, entries of other sessions, native copies.

use super::native;
use super::target::Target;
use super::unit::units_of;
use super::*;
use crate::excerpt::excerpt;

fn session(lines: &[&str]) -> Session {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    Session::from_bytes([&[header], lines].concat().join("\n").into_bytes()).unwrap()
}

/// Returns a message entry below a parent.
fn entry(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:01.000Z","message":{{{message}}}}}"#
    )
}

fn calls(id: &str, parent: &str, call_ids: &[&str]) -> String {
    let call = |id: &&str| format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#);
    let blocks: Vec<String> = call_ids.iter().map(call).collect();
    entry(id, parent, &format!(r#""role":"assistant","content":[{}]"#, blocks.join(",")))
}

fn answers(id: &str, parent: &str, call_id: &str) -> String {
    entry(id, parent, &format!(r#""role":"toolResult","toolCallId":"{call_id}","content":[]"#))
}

/// Formats the units of the path to the leaf as `head(result result)`; a call without a result is `-`.
fn drawn(session: &Session) -> Vec<String> {
    let path = session.branch_path(crate::Position::Leaf);
    let id = |node: Node| session.tree().id(node).to_string();
    let units = units_of(&MessageReader::verbatim(session), &path).unwrap();
    let draw = |unit: &unit::Unit| {
        let results: Vec<String> = unit.results.iter().map(|result| result.map_or("-".into(), id)).collect();
        format!("{}({})", id(unit.head), results.join(" "))
    };
    units.iter().map(draw).collect()
}

#[test]
fn results_go_to_the_latest_call_with_their_id_in_the_order_of_the_calls() {
    let session = session(&[
        &entry("u", "none", r#""role":"user","content":"go""#),
        &calls("a", "u", &["1", "2", "3"]),
        &answers("r", "a", "2"),
        &answers("s", "r", "1"),
        &calls("b", "s", &["1"]),
        &answers("t", "b", "1"),
        &answers("v", "t", "1"),
        &answers("w", "v", "9"),
    ]);
    assert_eq!(drawn(&session), ["u()", "a(s r -)", "b(t)", "v()", "w()"]);
}

#[test]
fn calls_of_one_answer_may_share_their_id() {
    let session = session(&[
        &entry("u", "none", r#""role":"user","content":"go""#),
        &calls("a", "u", &["1", "1"]),
        &answers("r", "a", "1"),
        &answers("s", "r", "1"),
    ]);
    assert_eq!(drawn(&session), ["u()", "a(r s)"]);
}

#[test]
fn an_entry_of_another_session_is_the_same_only_if_id_type_and_time_agree() {
    let ours = session(&[&entry("u", "none", r#""role":"user","content":"here""#)]);
    let same = session(&[&entry("u", "none", r#""role":"user","content":"edited elsewhere""#)]);
    let later = session(&[&entry("u", "none", r#""role":"user","content":"x""#).replace(":01.", ":02.")]);
    let here = Target::of(&ours);
    assert!(here.same_entry(&same, same.leaf().unwrap()).is_some());
    assert!(here.same_entry(&later, later.leaf().unwrap()).is_none());
}

#[test]
fn a_native_answer_with_only_thinking_is_empty() {
    let thought =
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":" "}]}"#;
    let copy = native::answer(&Message::parse(thought).unwrap());
    assert!(!native::says_something(&copy));
    assert!(copy.json().contains(r#""content":[{"type":"text","text":" "}]"#), "{}", copy.json());
}

#[test]
fn long_texts_are_cut_between_characters_and_stay_on_one_line() {
    assert_eq!(excerpt("  a\nb\tö€x", 5), "a b ö");
}
