#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use serde_json::json;

use super::*;
use crate::request_error::RequestError;
use crate::wire::Api;
use crate::wire::tests::{
    asked, conversation, events, message as stored_message, result, stored, target, tokens, user,
};

const API: Api = Api::OpenAiResponses;

fn reasoning() -> Json {
    json!({
        "id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAA==",
        "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}],
    })
}

fn text_of(id: &str) -> Json {
    json!({"id": id, "type": "message", "role": "assistant", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "text": "I read.", "annotations": []}]})
}

fn call_of(number: u64) -> Json {
    json!({"id": format!("fc_{number}"), "type": "function_call", "call_id": format!("call_{number}"), "name": "read",
        "arguments": "{\"path\":\"a\"}", "status": "completed"})
}

fn added(index: u64, item: &Json) -> Json {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: &Json) -> Json {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn completed(response: Json) -> Json {
    json!({"type": "response.completed", "response": response})
}

/// Thoughts in two parts, text, a call in pieces, a call that comes whole.
fn frames() -> Vec<Json> {
    let delta = |kind: &str, index: u64, part: &str, number: u64, text: &str| json!({"type": format!("response.{kind}.delta"), "output_index": index, part: number, "delta": text});
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        added(0, &json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        delta("reasoning_summary_text", 0, "summary_index", 0, "one"),
        delta("reasoning_summary_text", 0, "summary_index", 1, "two"),
        done(0, &reasoning()),
        added(1, &json!({"id": "msg_1", "type": "message", "content": []})),
        delta("output_text", 1, "content_index", 0, "I "),
        delta("output_text", 1, "content_index", 0, "read."),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "I read."}),
        done(1, &text_of("msg_1")),
        added(
            2,
            &json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": ""}),
        ),
        delta("function_call_arguments", 2, "x", 0, "{\"path\":"),
        delta("function_call_arguments", 2, "x", 0, "\"a\"}"),
        done(2, &call_of(1)),
        done(3, &call_of(2)),
        completed(
            json!({"id": "resp_1", "status": "completed", "usage": {"input_tokens": 1000, "output_tokens": 30,
            "input_tokens_details": {"cached_tokens": 900}}}),
        ),
    ]
}

#[test]
fn an_answer_is_stored_with_its_items_and_both_ids_of_calls() {
    let message = stored(API, &frames());
    assert_eq!(
        message["content"],
        json!([
            {"type": "thinking", "thinking": "one\n\ntwo", "thinkingSignature": reasoning().to_string()},
            {"type": "text", "text": "I read.",
             "textSignature": "{\"v\":1,\"id\":\"msg_1\",\"phase\":\"commentary\"}"},
            {"type": "toolCall", "id": "call_1|fc_1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "call_2|fc_2", "name": "read", "arguments": {"path": "a"}},
        ])
    );
    assert_eq!((&message["stopReason"], &message["responseId"]), (&json!("toolUse"), &json!("resp_1")));
    assert_eq!(tokens(&message), [100, 30, 900, 0]);
}

#[test]
fn the_same_model_gets_its_items_back() {
    let results = ["call_1|fc_1", "call_2|fc_2"].map(|id| result(id, json!([]), false));
    let messages = [user("go"), stored_message(API, &frames())].into_iter().chain(results).collect();
    let body = body(&target(API), &asked(messages));
    assert_eq!(body["input"][1].to_string(), reasoning().to_string());
    assert_eq!(body["input"][2], text_of("msg_1"));
    let call = |number: u64| {
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": "read",
            "arguments": "{\"path\":\"a\"}"})
    };
    assert_eq!((&body["input"][3], &body["input"][4]), (&call(1), &call(2)));
    assert_eq!(body["input"][5]["call_id"], "call_1");
}

#[test]
fn a_rich_conversation() {
    let own = stored_message(API, &frames());
    insta::assert_snapshot!(format!("{:#}", body(&target(API), &asked(conversation(own)))));
}

#[test]
fn only_the_end_of_the_response_is_the_end() {
    let all = frames();
    for length in 0..all.len() {
        assert!(matches!(events(API, &all[..length]).1, Some(RequestError::BrokenOff(_))), "{length}");
    }
}

#[test]
fn endings_have_names_of_our_own() {
    let end = |response: Json| [completed(response)];
    assert_eq!(stored(API, &end(json!({"status": "completed"})))["stopReason"], "stop");
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}});
    assert_eq!(stored(API, &end(cut))["stopReason"], "length");
    use offshoot_agent::model::ModelError;
    let error = |frame: Json| events(API, &[frame]).1.unwrap().into_error("svc", &[], false);
    let filtered = json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}});
    assert!(matches!(error(completed(filtered)), ModelError::Refused { .. }));
    let failed = |code: &str| json!({"type": "response.failed", "response": {"error": {"code": code, "message": "m"}}});
    assert!(matches!(error(failed("server_error")), ModelError::Service { .. }));
    assert!(matches!(error(failed("rate_limit_exceeded")), ModelError::RateLimit { .. }));
    assert!(matches!(error(failed("context_length_exceeded")), ModelError::Overflow { .. }));
    let plain = json!({"type": "error", "code": "server_error", "message": "m", "param": null});
    assert!(matches!(error(plain), ModelError::Service { message, .. } if message == "m"));
}
