#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use std::collections::BTreeMap;

use offshoot_agent::model::{Answer, AnswerEvent, ModelSpec, Price, ToolSpec};
use session_tree::{Message, Timestamp};

use super::*;
use crate::catalogue::Dialect;

/// A model that reads images and thinks.
pub(super) fn target(api: Api) -> Target {
    Target {
        spec: ModelSpec {
            provider: "prov".into(),
            id: "mod".into(),
            name: "Model".into(),
            api: api.name().into(),
            context_window: 200_000,
            max_output: 32_000,
            thinking_levels: vec![ThinkingLevel::Off, ThinkingLevel::Low, ThinkingLevel::High],
            reads_images: true,
            price: Price::default(),
        },
        api,
        base_url: "http://service".into(),
        headers: BTreeMap::new(),
        key_variables: Vec::new(),
        dialect: Dialect { cache_key: true, ..Dialect::default() },
    }
}

/// The events of some frames and of the end of the stream, and what went wrong.
pub(super) fn events(api: Api, frames: &[Json]) -> (Vec<AnswerEvent>, Option<RequestError>) {
    let mut decoder = api.decoder();
    let mut out = Events::default();
    let frames = frames.iter().map(|frame| match frame {
        Json::String(data) => data.clone(),
        frame => frame.to_string(),
    });
    let decoded = frames
        .map(|frame| decode(&mut *decoder, &frame, &mut out))
        .collect::<Result<Vec<()>, RequestError>>();
    let fault = decoded.map(|_| ()).and_then(|()| out.finish(&mut *decoder)).err();
    (std::iter::from_fn(|| out.pop()).collect(), fault)
}

/// The message of a whole answer, as sessions store it.
pub(super) fn message(api: Api, frames: &[Json]) -> Message {
    let (events, fault) = events(api, frames);
    assert_eq!(fault, None);
    assert_eq!(events.iter().filter(|event| matches!(event, AnswerEvent::End { .. })).count(), 1);
    let mut answer = Answer::default();
    events.iter().for_each(|event| answer.take(event));
    answer.into_message(&target(api).spec, Timestamp::from_millis(7))
}

pub(super) fn stored(api: Api, frames: &[Json]) -> Json {
    message(api, frames).value().to_serde().unwrap()
}

/// The tokens of a stored message: input, output, cache read, cache write.
pub(super) fn tokens(message: &Json) -> [u64; 4] {
    ["input", "output", "cacheRead", "cacheWrite"].map(|key| message["usage"][key].as_u64().unwrap())
}

pub(super) fn parsed(message: Json) -> Message {
    Message::parse_unchecked(message.to_string()).unwrap()
}

pub(super) fn user(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(1))
}

pub(super) fn result(id: &str, content: Json, is_error: bool) -> Message {
    parsed(json!({
        "role": "toolResult", "toolCallId": id, "toolName": "read", "content": content, "isError": is_error,
        "timestamp": 3,
    }))
}

pub(super) fn asked(messages: Vec<Message>) -> Request {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("Runs {name}."),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    Request {
        system: "Be brief.".into(),
        messages,
        tools: vec![tool("read"), tool("bash")],
        thinking: ThinkingLevel::High,
        cache: true,
        ..Request::default()
    }
}

/// A conversation with everything in it: images, an answer of the model itself, two calls at once, a result that is an
/// error with an image, an answer of another model, a result without content.
pub(super) fn conversation(own_answer: Message) -> Vec<Message> {
    let image = json!({"type": "image", "data": "aW1n", "mimeType": "image/png"});
    let ids = call_ids(&own_answer);
    vec![
        parsed(json!({"role": "user", "content": [{"type": "text", "text": "look"}, image], "timestamp": 1})),
        own_answer,
        result(&ids[0], json!([{"type": "text", "text": "fine"}]), false),
        result(&ids[1], json!([{"type": "text", "text": "no such file"}, image]), true),
        parsed(json!({
            "role": "assistant", "api": "openai-responses", "provider": "other", "model": "m2",
            "content": [
                {"type": "thinking", "thinking": "others think", "thinkingSignature": "{\"type\":\"reasoning\"}"},
                {"type": "thinking", "thinking": "", "thinkingSignature": "sealed", "redacted": true},
                {"type": "text", "text": "I read on.", "textSignature": "{\"v\":1,\"id\":\"msg_9\"}"},
                {"type": "toolCall", "id": "call_9|fc_9", "name": "read", "arguments": {"path": "b"},
                 "thoughtSignature": "foreign"},
            ],
            "stopReason": "toolUse", "timestamp": 4,
        })),
        result("call_9|fc_9", json!([]), false),
        user("and now?"),
    ]
}

fn call_ids(answer: &Message) -> Vec<String> {
    let id = |block: session_tree::Block<'_>| match block {
        session_tree::Block::ToolCall { id, .. } => Some(id.into_owned()),
        _ => None,
    };
    answer.content().blocks().filter_map(id).collect()
}

/// An answer of the model itself, signed in the way of every format at once.
fn own_answer(api: Api) -> Message {
    parsed(json!({
        "role": "assistant", "api": api.name(), "provider": "prov", "model": "mod",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"},
            {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a", "n": 1}},
            {"type": "toolCall", "id": "c2", "name": "read", "arguments": {}},
        ],
        "stopReason": "toolUse", "timestamp": 2,
    }))
}

#[test]
fn names_of_formats_are_found_again() {
    for api in Api::ALL {
        assert_eq!(Api::from_name(api.name()), Some(api));
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for api in Api::ALL {
        let bytes = || body(&target(api), &asked(conversation(own_answer(api)))).to_string();
        assert_eq!(bytes(), bytes());
    }
}

/// Takes out what moves with the end of a conversation.
fn without_marks(body: &Json) -> String {
    body.to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
}

#[test]
fn a_message_more_only_adds_to_the_end() {
    for api in Api::ALL {
        let whole = conversation(own_answer(api));
        // Where the agent asks: after a prompt, or after all results of an answer.
        for (length, next_length) in [(1, 4), (4, 6), (6, 7)] {
            let bytes = |length: usize| without_marks(&body(&target(api), &asked(whole[..length].to_vec())));
            let (before, after) = (bytes(length), bytes(next_length));
            let open = before.trim_end_matches(['}', ']']);
            assert!(after.starts_with(open), "{} {length}:\n{before}\n{after}", api.name());
        }
    }
}

#[test]
fn nothing_in_a_request_depends_on_times_or_on_ids_that_are_not_needed() {
    for api in Api::ALL {
        let text = body(&target(api), &asked(conversation(own_answer(api)))).to_string();
        assert!(!text.contains("timestamp") && !text.contains("fc_9"), "{}: {text}", api.name());
    }
}

#[test]
fn the_cache_key_of_a_request_without_a_session_depends_on_its_beginning_alone() {
    let one = cache_key(&asked(vec![user("a")]));
    assert_eq!(one, cache_key(&asked(vec![user("b"), user("c")])));
    assert_ne!(one, cache_key(&Request { system: "Be long.".into(), ..asked(vec![]) }));
}

#[test]
fn a_model_that_reads_no_images_is_told_that_one_is_missing() {
    for api in Api::ALL {
        let mut target = target(api);
        target.spec.reads_images = false;
        let text = body(&target, &asked(conversation(own_answer(api)))).to_string();
        assert!(!text.contains("aW1n"), "{text}");
        assert_eq!(text.matches("an image was left out").count(), 2, "{text}");
    }
}

/// Images of a session as every turn sends them.
fn screenshots(count: usize, length: usize) -> Request {
    let image = json!({"type": "image", "data": "a".repeat(length), "mimeType": "image/png"});
    let shown = |_| parsed(json!({"role": "user", "content": [image], "timestamp": 1}));
    asked((0..count).map(shown).chain([user("and now only text")]).collect())
}

#[test]
fn images_that_no_service_takes_at_once_do_not_stop_a_session() {
    let most = |api| match api {
        Api::AnthropicMessages => 32_000_000,
        Api::OpenAiCompletions | Api::OpenAiResponses => 50_000_000,
        Api::GoogleGenerativeAi => 20_000_000,
    };
    // As many megabytes as a session of screenshots had that could neither be sent nor compacted.
    let many = screenshots(72, 814_000);
    for api in Api::ALL {
        let text = body(&target(api), &many).to_string();
        assert!(text.len() < most(api) && text.len() > most(api) / 3, "{}: {}", api.name(), text.len());
        assert!(text.contains("an earlier image was left out"));
    }
    assert_eq!(many.messages.len(), 73, "what is stored stays as it is");
}

#[test]
fn a_service_may_take_fewer_images_than_others_that_speak_like_it() {
    for api in Api::ALL {
        let mut target = target(api);
        target.dialect.most_images = Some(3);
        let text = body(&target, &screenshots(5, 40)).to_string();
        assert_eq!(text.matches("an earlier image was left out").count(), 2, "{text}");
    }
}

#[test]
fn half_characters_of_a_session_go_out_whole() {
    let parsed = |text: &str| Message::parse(text).unwrap();
    for api in Api::ALL {
        let answer = format!(
            r#"{{"role":"assistant","api":"{}","provider":"prov","model":"mod","content":[
                {{"type":"text","text":"said \ud83d"}},
                {{"type":"thinking","thinking":"thought \ude00","thinkingSignature":"s"}},
                {{"type":"toolCall","id":"c1","name":"read","arguments":{{"path":"asked \ud83d","\udc00":[1]}}}}
            ],"stopReason":"toolUse","timestamp":2}}"#,
            api.name()
        );
        let result = r#"{"role":"toolResult","toolCallId":"c1","toolName":"read","isError":false,"timestamp":3,
            "content":[{"type":"text","text":"brought \ud83d\ud83d\ude00"}]}"#;
        let messages = vec![
            parsed(r#"{"role":"user","content":"typed \ud83d","timestamp":1}"#),
            parsed(&answer),
            parsed(result),
        ];
        // A string of Rust is UTF-8; half a character could only hide behind an escape.
        let text = body(&target(api), &asked(messages)).to_string();
        for whole in ["typed \u{fffd}", "said \u{fffd}", "asked \u{fffd}", "brought \u{fffd}\u{1f600}"] {
            assert!(text.contains(whole), "{} {whole}: {text}", api.name());
        }
        assert!(
            !text.contains("\\ud83d") && !text.contains("\\ude00") && !text.contains("\\udc00"),
            "{text}"
        );
    }
}

#[test]
fn a_request_may_want_less_than_the_model_can_say_but_not_more() {
    let target = target(Api::OpenAiCompletions);
    let limit = |wanted| max_output(&target, &Request { max_output: wanted, ..Request::default() });
    assert_eq!([limit(None), limit(Some(100)), limit(Some(1_000_000))], [32_000, 100, 32_000]);
}

#[test]
fn a_model_that_cannot_stop_thinking_thinks_as_little_as_it_can() {
    let mut target = target(Api::OpenAiResponses);
    let word = |target: &Target, thinking| {
        body(target, &Request { thinking, ..Request::default() })["reasoning"]["effort"].clone()
    };
    assert_eq!(word(&target, ThinkingLevel::Off), Json::Null);
    target.dialect.level_names.insert(ThinkingLevel::Off, "none".into());
    assert_eq!(word(&target, ThinkingLevel::Off), "none");
    target.spec.thinking_levels.retain(|level| *level != ThinkingLevel::Off);
    assert_eq!(word(&target, ThinkingLevel::Off), "low");
    target.spec.thinking_levels.clear();
    assert_eq!(word(&target, ThinkingLevel::High), Json::Null);
}

#[test]
fn an_error_in_the_place_of_a_frame_ends_every_stream() {
    for api in Api::ALL {
        let frame = json!({"error": {"message": "Overloaded", "type": "overloaded_error"}});
        let (_, fault) = events(api, &[frame]);
        assert!(matches!(fault, Some(RequestError::Api(complaint)) if complaint.message == "Overloaded"));
    }
}

#[test]
fn half_characters_do_not_spoil_a_frame_but_half_frames_do() {
    let said = |data: &str| events(Api::OpenAiCompletions, &[json!(data)]);
    let (events, _) = said(r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#);
    let is_said =
        |event: &AnswerEvent| matches!(event, AnswerEvent::BlockDelta { text, .. } if text == "a\u{fffd}");
    assert!(events.iter().any(is_said), "{events:?}");
    assert!(matches!(said(r#"{"choices":"#).1, Some(RequestError::Malformed(_))));
}
