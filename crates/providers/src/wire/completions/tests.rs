#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use serde_json::json;

use super::*;
use crate::request_error::RequestError;
use crate::wire::Api;
use crate::wire::tests::{
    asked, conversation, events, message as stored_message, parsed, result, stored, target, tokens, user,
};

const API: Api = Api::OpenAiCompletions;

fn chunk(delta: Json) -> Json {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Json {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(index: u64, id: &str, name: &str, arguments: &str) -> Json {
    let mut call = json!({"index": index, "function": {"arguments": arguments}});
    if !id.is_empty() {
        call["id"] = json!(id);
        call["function"]["name"] = json!(name);
    }
    chunk(json!({"tool_calls": [call]}))
}

/// Thoughts, text, two calls whose pieces come in turn, counts behind the end.
fn frames() -> Vec<Json> {
    vec![
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"reasoning_content": "let me "})),
        chunk(json!({"reasoning_content": "see", "reasoning": "let me see"})),
        chunk(json!({"content": "I "})),
        chunk(json!({"content": "read."})),
        call(0, "c1", "read", ""),
        call(0, "", "", "{\"path\":"),
        call(1, "c2", "bash", "{}"),
        call(0, "", "", "\"a\"}"),
        finish("tool_calls"),
        json!({"id": "chatcmpl-1", "choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 900}, "completion_tokens_details": {"reasoning_tokens": 12}}}),
        json!("[DONE]"),
    ]
}

#[test]
fn an_answer_is_stored_with_thoughts_text_and_calls() {
    let message = stored(API, &frames());
    assert_eq!(
        message["content"],
        json!([
            {"type": "thinking", "thinking": "let me see", "thinkingSignature": "reasoning_content"},
            {"type": "text", "text": "I read."},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {}},
        ])
    );
    assert_eq!((&message["stopReason"], &message["responseId"]), (&json!("toolUse"), &json!("chatcmpl-1")));
    assert_eq!(tokens(&message), [100, 30, 900, 0]);
}

#[test]
fn content_may_be_a_list_of_thoughts_and_texts() {
    let thought = |text: &str| json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]});
    let frames = [
        chunk(json!({"content": [thought("let me ")]})),
        chunk(json!({"content": [thought("see"), {"type": "text", "text": "I "}]})),
        chunk(json!({"content": "read."})),
        finish("stop"),
    ];
    assert_eq!(
        stored(API, &frames)["content"],
        json!([
            {"type": "thinking", "thinking": "let me see", "thinkingSignature": "thinking"},
            {"type": "text", "text": "I read."},
        ])
    );
    let messages = vec![user("go"), stored_message(API, &frames), user("on")];
    let sent = &body(&target(API), &asked(messages))["messages"][2];
    assert_eq!(*sent, json!({"role": "assistant", "content": "I read."}));
}

#[test]
fn the_same_model_gets_its_answer_back() {
    let results = ["c1", "c2"].map(|id| result(id, json!([]), false));
    let messages = [user("go"), stored_message(API, &frames())].into_iter().chain(results).collect();
    assert_eq!(
        body(&target(API), &asked(messages))["messages"][2],
        json!({
            "role": "assistant", "content": "I read.", "reasoning_content": "let me see",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
            ],
        })
    );
}

#[test]
fn a_rich_conversation() {
    let own = stored_message(API, &frames());
    insta::assert_snapshot!(format!("{:#}", body(&target(API), &asked(conversation(own)))));
}

#[test]
fn the_mark_of_the_end_may_be_missing_but_not_the_reason_to_stop() {
    let all = frames();
    assert_eq!(stored(API, &all[..all.len() - 1])["stopReason"], "toolUse");
    for length in 0..9 {
        assert!(matches!(events(API, &all[..length]).1, Some(RequestError::BrokenOff(_))), "{length}");
    }
}

#[test]
fn servers_differ_in_how_they_call_tools() {
    let whole = |id: Json, index: Json, arguments: Json| {
        chunk(
            json!({"tool_calls": [{"id": id, "index": index, "function": {"name": "read", "arguments": arguments}}]}),
        )
    };
    let calls = |frames: &[Json]| {
        let message = stored(API, &[frames, &[finish("stop")]].concat());
        assert_eq!(message["stopReason"], "toolUse", "whatever the server says");
        let content = message["content"].as_array().unwrap().clone();
        content
            .iter()
            .map(|call| format!("{} {}", call["id"].as_str().unwrap(), call["arguments"]))
            .collect::<Vec<_>>()
    };
    let (a, b) = (json!("{\"path\":\"a\"}"), json!("{\"path\":\"b\"}"));
    let wanted = |first: &str, second: &str| {
        vec![format!("{first} {{\"path\":\"a\"}}"), format!("{second} {{\"path\":\"b\"}}")]
    };
    // Both have the number zero, none has a number, none has an id, arguments are an object.
    assert_eq!(
        calls(&[whole(json!("x"), json!(0), a.clone()), whole(json!("y"), json!(0), b.clone())]),
        wanted("x", "y")
    );
    assert_eq!(
        calls(&[whole(json!("x"), Json::Null, a.clone()), whole(json!("y"), Json::Null, b.clone())]),
        wanted("x", "y")
    );
    assert_eq!(
        calls(&[whole(Json::Null, json!(0), a), whole(Json::Null, json!(1), b)]),
        wanted("call_0", "call_1")
    );
    assert_eq!(
        calls(&[
            whole(json!("x"), json!(0), json!({"path": "a"})),
            whole(json!("y"), json!(1), json!({"path": "b"}))
        ]),
        wanted("x", "y")
    );
}

#[test]
fn a_name_may_come_after_the_first_arguments() {
    let early = chunk(json!({"tool_calls": [{"index": 0, "id": "x", "function": {"arguments": "{\"pa"}}]}));
    let named =
        chunk(json!({"tool_calls": [{"index": 0, "function": {"name": "read", "arguments": "th\":1}"}}]}));
    let message = stored(API, &[early, named, finish("tool_calls")]);
    assert_eq!(message["content"][0]["arguments"], json!({"path": 1}));
}

#[test]
fn what_a_gateway_has_sealed_goes_back_as_it_came() {
    let detail = |detail: Json| chunk(json!({"reasoning": "t", "reasoning_details": [detail]}));
    let frames = [
        detail(json!({"type": "reasoning.text", "text": "a", "index": 0, "format": "anthropic-claude-v1"})),
        detail(json!({"type": "reasoning.text", "text": "b", "index": 0, "signature": "sig"})),
        detail(json!({"type": "reasoning.encrypted", "data": "xyz", "id": "c1", "index": 1})),
        chunk(json!({"content": "done"})),
        finish("stop"),
    ];
    let body = body(&target(API), &asked(vec![user("go"), stored_message(API, &frames), user("on")]));
    assert_eq!(
        body["messages"][2]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "ab", "index": 0, "format": "anthropic-claude-v1", "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "xyz", "id": "c1", "index": 1},
        ])
    );
    assert_eq!(body["messages"][2]["reasoning"], "ttt");
}

#[test]
fn reasons_to_stop_have_names_of_our_own() {
    assert_eq!(stored(API, &[finish("length")])["stopReason"], "length");
    assert_eq!(stored(API, &[finish("eos")])["stopReason"], "stop");
    let error = |reason: &str| events(API, &[finish(reason)]).1.unwrap().into_error("svc", &[], false);
    use offshoot_agent::model::ModelError;
    assert!(matches!(error("content_filter"), ModelError::Refused { .. }));
    assert!(matches!(error("model_context_window_exceeded"), ModelError::Overflow { .. }));
    assert!(matches!(error("network_error"), ModelError::Service { .. }));
}

#[test]
fn only_the_marks_of_a_cache_move_when_a_message_comes() {
    let mut target = target(API);
    target.dialect.cache_marks = true;
    let sent = |messages: Vec<session_tree::Message>| body(&target, &asked(messages))["messages"].to_string();
    let (one, two) = (sent(vec![user("a")]), sent(vec![user("a"), user("b")]));
    let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
    assert_eq!((one.matches(mark).count(), two.matches(mark).count()), (2, 2));
    assert!(two.replace(mark, "").starts_with(one.replace(mark, "").trim_end_matches([']', '}'])));
    assert!(two.ends_with(&format!("\"b\"{mark}}}]}}]")), "{two}");
}

#[test]
fn dialects_change_the_names_of_things() {
    let mut target = target(API);
    let request = asked(vec![
        user("go"),
        parsed(
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": "toolu_01", "name": "read", "arguments": {}}]}),
        ),
        result("toolu_01", json!("text"), false),
    ]);
    let usual = body(&target, &request);
    assert_eq!(
        (&usual["max_completion_tokens"], &usual["reasoning_effort"]),
        (&json!(32_000), &json!("high"))
    );
    assert!(usual["prompt_cache_key"].is_string());
    target.dialect = Dialect {
        thinking: ThinkingStyle::Nested,
        old_max_tokens: true,
        tool_id_length: Some(9),
        ..Dialect::default()
    };
    let other = body(&target, &request);
    assert_eq!((&other["max_tokens"], &other["reasoning"]), (&json!(32_000), &json!({"effort": "high"})));
    assert!(other["prompt_cache_key"].is_null() && other["reasoning_effort"].is_null());
    let (call, result) =
        (&other["messages"][2]["tool_calls"][0]["id"], &other["messages"][3]["tool_call_id"]);
    assert_eq!(call, result);
    assert_eq!(call.as_str().unwrap().len(), 9);
}
