use serde_json::json;

use super::*;
use crate::model::{BlockEnd, Price};

fn model() -> ModelSpec {
    ModelSpec {
        provider: "prov".into(),
        id: "mod".into(),
        name: "Model".into(),
        api: "test".into(),
        context_window: 100_000,
        max_output: 8_000,
        thinking_levels: Vec::new(),
        reads_images: true,
        price: Price { input: 1.0, output: 2.0, cache_read: 0.5, cache_write: 4.0 },
    }
}

fn start(index: usize, block: BlockStart) -> AnswerEvent {
    AnswerEvent::BlockStart { index, block }
}

fn delta(index: usize, text: &str) -> AnswerEvent {
    AnswerEvent::BlockDelta { index, text: text.into() }
}

fn end(index: usize, fields: Json) -> AnswerEvent {
    let Json::Object(fields) = fields else { panic!("fields are an object") };
    AnswerEvent::BlockEnd { index, end: BlockEnd { fields } }
}

fn call(id: &str) -> BlockStart {
    BlockStart::ToolCall { id: id.into(), name: "read".into() }
}

fn answer(events: &[AnswerEvent]) -> Answer {
    let mut answer = Answer::default();
    events.iter().for_each(|event| answer.take(event));
    answer
}

fn content(message: &Message) -> Json {
    message.value().to_serde().unwrap()["content"].clone()
}

#[test]
fn blocks_stay_in_the_order_in_which_they_began_with_their_signatures() {
    let answer = answer(&[
        AnswerEvent::Begin { response_id: Some("r1".into()) },
        start(0, BlockStart::Thinking),
        delta(0, "hm"),
        end(0, json!({"thinkingSignature": "sig"})),
        start(1, BlockStart::Text),
        start(2, call("c1")),
        delta(2, "{\"path\":"),
        delta(1, "look"),
        delta(2, "\"a\"}"),
        end(1, json!({})),
        end(2, json!({})),
        AnswerEvent::Usage(Usage { input: 1_000_000, output: 500_000, cache_read: 0, cache_write: 0 }),
        AnswerEvent::End { stop: StopReason::ToolUse },
    ]);
    let message = answer.into_message(&model(), Timestamp::from_millis(7)).value().to_serde().unwrap();
    assert_eq!(
        message,
        json!({
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
                {"type": "text", "text": "look"},
                {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
            ],
            "api": "test", "provider": "prov", "model": "mod",
            "usage": {
                "input": 1_000_000, "output": 500_000, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1_500_000,
                "cost": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "total": 2},
            },
            "stopReason": "toolUse", "responseId": "r1", "timestamp": 7,
        })
    );
}

#[test]
fn an_aborted_answer_keeps_its_text_and_usage_but_no_incomplete_call() {
    let answer = answer(&[
        AnswerEvent::Usage(Usage { input: 25, output: 1, cache_read: 9_000, cache_write: 500 }),
        start(0, BlockStart::Text),
        delta(0, "half a sen"),
        start(1, call("c1")),
        end(1, json!({})),
        start(2, call("c2")),
        delta(2, "{\"path\":\"/et"),
    ]);
    let message = answer.into_aborted(&model(), Timestamp::from_millis(7));
    assert_eq!(
        content(&message),
        json!([
            {"type": "text", "text": "half a sen"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {}},
        ])
    );
    let value = message.value().to_serde().unwrap();
    assert_eq!(value["stopReason"], "aborted");
    assert_eq!(value["usage"]["cacheRead"], 9_000);
}

#[test]
fn arguments_that_are_no_object_are_kept_as_text() {
    for odd in ["[1]", "{\"path\":", "nonsense"] {
        let answer = answer(&[start(0, call("c")), delta(0, odd), end(0, json!({}))]);
        let message = answer.into_message(&model(), Timestamp::from_millis(0));
        assert_eq!(content(&message)[0]["arguments"], json!({"malformedArguments": odd}));
    }
}

#[test]
fn empty_blocks_are_left_out() {
    let answer = answer(&[
        start(0, BlockStart::Text),
        end(0, json!({})),
        start(1, BlockStart::Thinking),
        end(1, json!({"thinkingSignature": "x", "redacted": true})),
    ]);
    let message = answer.into_failed(&model(), Timestamp::from_millis(0), "cut");
    assert_eq!(
        content(&message),
        json!([{"type": "thinking", "thinking": "", "thinkingSignature": "x", "redacted": true}])
    );
    assert_eq!(message.value().to_serde().unwrap()["errorMessage"], "cut");
}
