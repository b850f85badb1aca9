#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use serde_json::json;

use super::*;

fn error(status: u16, body: Json) -> ModelError {
    let complaint = ApiError::read(status, &body).unwrap();
    RequestError::Api(complaint).into_error("svc", &[Secret::new("sk-secret")], false)
}

/// The variant of an error, without its fields.
fn variant(error: &ModelError) -> String {
    let name = format!("{error:?}");
    name.split([' ', '{']).next().unwrap_or_default().to_owned()
}

#[test]
fn services_complain_in_many_shapes() {
    let table = [
        (
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
            "Refused",
        ),
        (401, json!({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}), "Key"),
        (403, json!({"message": "forbidden"}), "Key"),
        (402, json!({"error": {"message": "Insufficient credits", "code": 402}}), "Refused"),
        (404, json!({"error": "model \"x\" not found"}), "Refused"),
        (
            429,
            json!({"error": {"message": "slow down", "type": "tokens", "code": "rate_limit_exceeded"}}),
            "RateLimit",
        ),
        (429, json!({"error": {"message": "pay", "code": "insufficient_quota"}}), "Refused"),
        (500, json!({"detail": "boom"}), "Service"),
        (529, json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}), "Service"),
        (
            400,
            json!([{"error": {"message": "API key not valid.", "status": "INVALID_ARGUMENT",
            "details": [{"reason": "API_KEY_INVALID"}]}}]),
            "Key",
        ),
        (0, json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}), "Service"),
        (0, json!({"error": {"type": "rate_limit_error", "message": "slow"}}), "RateLimit"),
        (0, json!({"error": {"message": "upstream", "code": 502}}), "Service"),
        (0, json!({"error": {"type": "invalid_request_error", "message": "no"}}), "Refused"),
        (0, json!({"error": {"type": "authentication_error", "message": "no"}}), "Key"),
    ];
    for (status, body, wanted) in table {
        assert_eq!(variant(&error(status, body.clone())), wanted, "{status} {body}");
    }
    assert_eq!(ApiError::read(0, &json!({"id": 1})), None);
    assert_eq!(ApiError::read(0, &json!({"error": null, "id": 1})), None);
}

#[test]
fn every_way_to_say_too_long_is_understood() {
    let said = [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "request_too_large: Request exceeds the maximum size",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model.",
        "Requested token count exceeds the model's maximum context length of 131072 tokens",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "This endpoint's maximum context length is 131072 tokens. However, you requested 150000.",
        "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
        "prompt token count of 150000 exceeds the limit of 128000",
        "the request exceeds the available context size, try increasing it",
        "tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "Context length exceeded",
    ];
    for message in said {
        let error = error(400, json!({"error": {"message": message}}));
        assert_eq!(variant(&error), "Overflow", "{message}");
    }
    assert_eq!(
        variant(&error(400, json!({"error": {"message": "x", "code": "context_length_exceeded"}}))),
        "Overflow"
    );
    assert_eq!(variant(&error(413, json!({"error": {"message": ""}}))), "Overflow");
}

#[test]
fn too_often_is_not_too_long() {
    for message in ["Too many tokens, rate limit reached", "Too many requests: too many tokens per minute"] {
        assert_eq!(variant(&error(429, json!({"error": {"message": message}}))), "RateLimit");
        assert_eq!(variant(&error(400, json!({"error": {"message": message}}))), "Refused");
    }
    assert_eq!(variant(&error(400, json!({"error": {"message": "exceeds the limit of images"}}))), "Refused");
}

#[test]
fn what_a_service_says_is_one_clean_line_without_the_key() {
    let error = error(401, json!({"error": {"message": "bad key\r\n\u{1b}[31msk-secret\u{7}!"}}));
    assert_eq!(error.to_string(), "svc does not accept the key: bad key [31m••• !");
    let long = RequestError::Malformed("x".repeat(5_000)).into_error("svc", &[], false).to_string();
    assert!(long.chars().count() < 1_100 && long.ends_with('…'), "{}", long.len());
}

#[test]
fn a_delay_inside_the_body_is_read() {
    let body = json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]}});
    assert_eq!(error(429, body).retry_after(), Some(Duration::from_millis(12_500)));
    assert_eq!(seconds("-1"), None);
    assert_eq!(seconds("soon"), None);
}
