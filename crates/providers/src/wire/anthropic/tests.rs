use offshoot_agent::model::{Request, ThinkingLevel};
use serde_json::json;

use super::*;
use crate::wire::Api;
use crate::wire::tests::{
    asked, conversation, events, message as stored_message, result, stored, target, tokens, user,
};

const API: Api = Api::AnthropicMessages;

/// Thinking, redacted thinking, text, a call, thinking again, two texts, a call without arguments.
fn frames() -> Vec<Json> {
    let start = |index: u64, block: Json| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u64, delta: Json| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": {
            "input_tokens": 25, "output_tokens": 1, "cache_read_input_tokens": 9000, "cache_creation_input_tokens": 500,
        }}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "let me "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "see"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        delta(0, json!({"type": "signature_delta", "signature": "1=="})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "c2VhbGVk"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I read."})),
        stop(2),
        start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "\"a\",\"n\":1}"})),
        stop(3),
        start(4, json!({"type": "thinking", "thinking": "", "signature": "sig2"})),
        stop(4),
        start(5, json!({"type": "text", "text": "One."})),
        stop(5),
        start(6, json!({"type": "text", "text": ""})),
        delta(6, json!({"type": "text_delta", "text": "Two."})),
        stop(6),
        start(7, json!({"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {}})),
        stop(7),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn an_answer_is_stored_with_its_order_borders_and_signatures() {
    let message = stored(API, &frames());
    assert_eq!(
        message["content"],
        json!([
            {"type": "thinking", "thinking": "let me see", "thinkingSignature": "sig1=="},
            {"type": "thinking", "thinking": "", "thinkingSignature": "c2VhbGVk", "redacted": true},
            {"type": "text", "text": "I read."},
            {"type": "toolCall", "id": "toolu_1", "name": "read", "arguments": {"path": "a", "n": 1}},
            {"type": "thinking", "thinking": "", "thinkingSignature": "sig2"},
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
            {"type": "toolCall", "id": "toolu_2", "name": "bash", "arguments": {}},
        ])
    );
    assert_eq!(message["stopReason"], "toolUse");
    assert_eq!(message["responseId"], "msg_1");
    assert_eq!(tokens(&message), [25, 42, 9_000, 500]);
}

#[test]
fn the_same_model_gets_its_answer_back_byte_for_byte() {
    let results = ["toolu_1", "toolu_2"].map(|id| result(id, json!([{"type": "text", "text": "ok"}]), false));
    let messages = [user("go"), stored_message(API, &frames())].into_iter().chain(results).collect();
    let body = body(&target(API), &asked(messages));
    assert_eq!(
        body["messages"][1]["content"].to_string(),
        json!([
            {"type": "thinking", "thinking": "let me see", "signature": "sig1=="},
            {"type": "redacted_thinking", "data": "c2VhbGVk"},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a", "n": 1}},
            {"type": "thinking", "thinking": "", "signature": "sig2"},
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
            {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {}},
        ])
        .to_string()
    );
}

#[test]
fn a_rich_conversation() {
    let own = stored_message(API, &frames());
    insta::assert_snapshot!(format!("{:#}", body(&target(API), &asked(conversation(own)))));
}

#[test]
fn marks_of_the_cache_stand_at_the_system_the_last_tool_and_the_last_block_shown() {
    let count = |request: &Request| body(&target(API), request).to_string().matches("cache_control").count();
    let request = asked(vec![user("a"), user("b")]);
    assert_eq!(count(&request), 3);
    assert_eq!(count(&Request { cache: false, ..request.clone() }), 0);
    let body = body(&target(API), &request);
    assert!(body["messages"][1]["content"][0]["cache_control"].is_object());
    assert!(body["tools"][1]["cache_control"].is_object());
}

#[test]
fn thinking_is_asked_for_by_budget_or_by_word() {
    let thinking = |target: &Target, level, max_output| {
        let body = body(target, &Request { thinking: level, max_output, ..Request::default() });
        (body["thinking"].clone(), body["output_config"].clone())
    };
    let mut target = target(API);
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    assert_eq!(thinking(&target, ThinkingLevel::High, None).0, budget(20_480));
    assert_eq!(thinking(&target, ThinkingLevel::High, Some(5_000)).0, budget(3_976));
    assert_eq!(thinking(&target, ThinkingLevel::High, Some(1_500)).0, Json::Null);
    assert_eq!(thinking(&target, ThinkingLevel::Off, None).0, Json::Null);
    target.dialect.thinking = ThinkingStyle::Word;
    let (adaptive, effort) = thinking(&target, ThinkingLevel::High, None);
    assert_eq!((adaptive["type"].as_str(), effort), (Some("adaptive"), json!({"effort": "high"})));
    assert_eq!(thinking(&target, ThinkingLevel::Off, None), (json!({"type": "disabled"}), Json::Null));
}

#[test]
fn an_answer_that_stops_early_has_told_its_usage_and_its_blocks() {
    for length in 1..frames().len() - 2 {
        let (told, fault) = events(API, &frames()[..length]);
        assert!(matches!(fault, Some(RequestError::BrokenOff(_))), "{length}");
        assert!(told.contains(&offshoot_agent::model::AnswerEvent::Usage(Usage {
            input: 25,
            output: 1,
            cache_read: 9_000,
            cache_write: 500
        })));
    }
}

#[test]
fn the_reason_to_stop_is_the_end_even_if_the_mark_is_missing() {
    let all = frames();
    assert_eq!(stored(API, &all[..all.len() - 1])["stopReason"], "toolUse");
}

#[test]
fn arguments_may_come_with_the_start_of_a_call() {
    let message = stored(
        API,
        &[
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ],
    );
    assert_eq!(message["content"][0]["arguments"], json!({"path": "a"}));
}

#[test]
fn reasons_to_stop_have_names_of_our_own() {
    let stop = |reason: &str| {
        let frame = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
        stored(API, &[frame])["stopReason"].clone()
    };
    assert_eq!(stop("end_turn"), "stop");
    assert_eq!(stop("max_tokens"), "length");
    assert_eq!(stop("model_context_window_exceeded"), "length");
    assert_eq!(stop("something_new"), "stop");
    let refusal = json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}});
    assert!(matches!(events(API, &[refusal]).1, Some(RequestError::Api(_))));
}
