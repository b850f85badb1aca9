#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use serde_json::json;

use super::*;
use crate::request_error::RequestError;
use crate::wire::Api;
use crate::wire::tests::{
    asked, conversation, events, message as stored_message, result, stored, target, tokens, user,
};

const API: Api = Api::GoogleGenerativeAi;

fn chunk(parts: Json) -> Json {
    json!({"responseId": "gem_1", "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn finish(reason: &str) -> Json {
    json!({"responseId": "gem_1", "candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 10}})
}

/// Thoughts, text with a signature at its end, another text, a signed call and one that is not.
fn frames() -> Vec<Json> {
    vec![
        chunk(json!([{"thought": true, "text": "let me "}])),
        chunk(json!([{"thought": true, "text": "see"}])),
        chunk(json!([{"text": "I "}])),
        chunk(json!([{"text": "read."}, {"text": "", "thoughtSignature": "c2lnMQ=="}])),
        chunk(json!([{"text": "More."}])),
        chunk(json!([
            {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2lnMg=="},
            {"functionCall": {"id": "own", "name": "bash", "args": {}}},
        ])),
        finish("STOP"),
    ]
}

#[test]
fn an_answer_is_stored_with_signatures_on_their_parts() {
    let message = stored(API, &frames());
    assert_eq!(
        message["content"],
        json!([
            {"type": "thinking", "thinking": "let me see"},
            {"type": "text", "text": "I read.", "textSignature": "c2lnMQ=="},
            {"type": "text", "text": "More."},
            {"type": "toolCall", "id": "gem_1_0", "name": "read", "arguments": {"path": "a"}, "thoughtSignature": "c2lnMg=="},
            {"type": "toolCall", "id": "own", "name": "bash", "arguments": {}},
        ])
    );
    assert_eq!((&message["stopReason"], &message["responseId"]), (&json!("toolUse"), &json!("gem_1")));
    assert_eq!(tokens(&message), [100, 30, 900, 0]);
}

#[test]
fn the_same_model_gets_its_parts_back() {
    let results = ["gem_1_0", "own"].map(|id| result(id, json!([]), false));
    let messages = [user("go"), stored_message(API, &frames())].into_iter().chain(results).collect();
    assert_eq!(
        body(&target(API), &asked(messages))["contents"][1],
        json!({"role": "model", "parts": [
            {"thought": true, "text": "let me see"},
            {"text": "I read.", "thoughtSignature": "c2lnMQ=="},
            {"text": "More."},
            {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2lnMg=="},
            {"functionCall": {"name": "bash", "args": {}}},
        ]})
    );
}

#[test]
fn a_rich_conversation() {
    let own = stored_message(API, &frames());
    insta::assert_snapshot!(format!("{:#}", body(&target(API), &asked(conversation(own)))));
}

#[test]
fn newer_models_read_images_in_results_and_want_a_signature_on_foreign_calls() {
    let mut target = target(API);
    target.dialect.thinking = ThinkingStyle::Word;
    target.dialect.images_in_results = true;
    let body = body(&target, &asked(conversation(stored_message(API, &frames()))));
    assert_eq!(body["generationConfig"]["thinkingConfig"]["thinkingLevel"], "HIGH");
    let contents = body["contents"].as_array().unwrap();
    let parts = |place: usize| contents[place]["parts"].clone();
    assert_eq!(parts(2)[1]["functionResponse"]["parts"][0]["inlineData"]["data"], "aW1n");
    assert_eq!(parts(3)[2]["thoughtSignature"], UNSIGNED);
    assert_eq!(contents.len(), 6, "no content of its own for the image");
}

#[test]
fn the_reason_to_stop_is_the_only_end() {
    let all = frames();
    for length in 0..all.len() {
        assert!(matches!(events(API, &all[..length]).1, Some(RequestError::BrokenOff(_))), "{length}");
    }
}

#[test]
fn endings_have_names_of_our_own() {
    use offshoot_agent::model::ModelError;
    assert_eq!(stored(API, &[finish("MAX_TOKENS")])["stopReason"], "length");
    assert_eq!(stored(API, &[finish("STOP")])["stopReason"], "stop");
    let error = |frame: Json| events(API, &[frame]).1.unwrap().into_error("svc", &[], false);
    assert!(matches!(error(finish("SAFETY")), ModelError::Refused { .. }));
    assert!(matches!(error(finish("MALFORMED_FUNCTION_CALL")), ModelError::Service { .. }));
    assert!(matches!(error(json!({"promptFeedback": {"blockReason": "OTHER"}})), ModelError::Refused { .. }));
}
