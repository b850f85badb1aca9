//! Requests are valid for every path.

use super::super::calls::pair_results;
use super::super::convert_to_llm;
use super::draw::draw;
use crate::entry::{Message, ToolCall};
use crate::kind::{Role, StopReason};
use crate::session::Session;

/// Formats the request at the leaf: `u` a prompt, `a` an answer, `r:id` a result, `r:id!` an error for a missing
/// result.
fn request(session: &Session) -> String {
    let request = session.context().unwrap().to_request();
    assert!(is_paired(&request));
    shown(&request)
}

/// Returns true if every tool call is followed by its result, every result follows its call, and no answer failed.
fn is_paired(messages: &[Message]) -> bool {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        let has_failed = matches!(message.stop_reason(), Some(StopReason::Error | StopReason::Aborted));
        let is_answered = |call: &ToolCall| {
            let next = rest.next();
            next.is_some_and(|next| {
                next.role() == Role::ToolResult && next.tool_call_id().is_some_and(|id| id == call.id)
            })
        };
        if message.role() == Role::ToolResult || has_failed || !message.tool_calls().iter().all(is_answered) {
            return false;
        }
    }
    true
}

fn shown(messages: &[Message]) -> String {
    let show = |item: &Message| match item.role() {
        Role::ToolResult => {
            let id = item.value().get("toolCallId").unwrap().as_str().unwrap().into_owned();
            let is_missing = item.text() == "No result provided";
            format!("r:{id}{}", if is_missing { "!" } else { "" })
        }
        Role::Assistant => "a".into(),
        _ => "u".into(),
    };
    messages.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_call_without_result_gets_one_that_reports_an_error() {
    let session = draw(
        "u1 user
         a1 calls c1 c2
         r1 result c1
         u2 user",
    );
    assert_eq!(request(&session), "u a r:c1 r:c2! u");
    let request = session.context().unwrap().to_request();
    assert_eq!(
        request[3].json(),
        r#"{"role":"toolResult","toolCallId":"c2","toolName":"read","content":[{"type":"text","text":"No result provided"}],"isError":true,"timestamp":7}"#
    );
}

/// A killed program leaves a history that ends anywhere.
#[test]
fn a_history_cut_after_any_entry_gives_a_valid_request() {
    let session = draw(
        "u1 user
         a1 calls c1 c2 c3
         r1 result c2
         r2 result c1
         r3 result c3
         a2 calls c4
         k1 compaction r1
         r4 result c4
         a3 failed c5
         r5 result c5
         u2 user
         a4 assistant",
    );
    for node in session.tree().nodes() {
        let context = session.context_at(session.position_of(node).unwrap()).unwrap();
        let request = context.to_request();
        assert!(is_paired(&request), "cut after {}: {}", session.tree().id(node), shown(&request));
        assert!(!request.is_empty());
    }
    assert_eq!(request(&session), "u a r:c4 u a");
}

/// A compaction during a tool run is between the call and its result; a later compaction must not separate the pair.
#[test]
fn a_compaction_between_call_and_result_does_not_split_them() {
    let session = draw(
        "u1 user
         a1 calls c1
         k1 compaction u1
         r1 result c1
         a2 assistant
         k2 compaction u1
         u2 user",
    );
    assert_eq!(request(&session), "u u a r:c1 a u");
}

#[test]
fn failed_answers_leave_with_their_results() {
    let session = draw(
        "u1 user
         a1 failed c1
         r1 result c1
         a2 aborted
         u2 user",
    );
    assert_eq!(request(&session), "u u");
}

#[test]
fn results_whose_call_was_compacted_away_leave() {
    let session = draw(
        "u1 user
         a1 calls c1
         r1 result c1
         k1 compaction r1
         u2 user",
    );
    assert_eq!(request(&session), "u u");
}

#[test]
fn results_stand_behind_their_answer_in_the_order_of_its_calls() {
    let session = draw(
        "u1 user
         a1 calls c1 c2
         n1 note by the way
         r2 result c2
         r1 result c1
         again result c1
         u2 user",
    );
    assert_eq!(request(&session), "u a r:c1 r:c2 u u");
}

#[test]
fn an_id_that_is_used_twice_belongs_to_the_latest_call() {
    let session = draw(
        "u1 user
         a1 calls c1
         r1 result c1
         a2 calls c1
         u2 user
         r2 result c1",
    );
    assert_eq!(request(&session), "u a r:c1 a r:c1 u");
}

#[test]
fn a_valid_request_stays_as_it_is() {
    let session = draw(
        "u1 user
         a1 calls c1 c2
         r1 result c1
         r2 result c2
         a2 assistant",
    );
    let messages = session.context().unwrap().messages().filter_map(convert_to_llm).collect::<Vec<_>>();
    let repaired = pair_results(messages.clone());
    let same = messages.iter().zip(&repaired).all(|(one, other)| std::ptr::eq(one.raw(), other.raw()));
    assert!(same && messages.len() == repaired.len());
}

/// A repair once emptied a request, and the provider then refused every session.
#[test]
fn a_repair_never_leaves_nothing() {
    let session = draw("a1 failed c1");
    let request = session.context().unwrap().to_request();
    assert_eq!(shown(&request), "a");
    assert!(!is_paired(&request));
    assert!(pair_results(Vec::new()).is_empty());
}

#[test]
fn images_whose_data_is_elsewhere_are_left_out() {
    let session = draw(
        r#"u1 message {"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"blob:sha256:00","mimeType":"image/png"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#,
    );
    let context = session.context().unwrap();
    assert_eq!(context.messages().next().unwrap().content().image_count(), 2);
    assert_eq!(context.to_request()[0].content().image_count(), 1);
}
