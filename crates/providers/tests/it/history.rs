//! Earlier messages as they go back to a service.

use std::collections::HashSet;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{Request, ThinkingLevel};
use offshoot_providers::Api;
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Timestamp};
use testkit::model_server::{ModelServer, Reply};

use crate::support::{collect, model, model_like, options, request};

fn message(value: &Json) -> Message {
    Message::parse_unchecked(value.to_string()).unwrap()
}

fn calls(ids: &[&str], model: &str) -> Message {
    let call = |id: &&str| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": id}});
    message(&json!({
        "role": "assistant", "provider": "scripted", "api": "any", "model": model,
        "content": ids.iter().map(call).collect::<Vec<_>>(), "stopReason": "toolUse", "timestamp": 2,
    }))
}

fn result(id: &str, text: &str) -> Message {
    message(&json!({
        "role": "toolResult", "toolCallId": id, "toolName": "read", "content": text, "isError": false,
        "timestamp": 3,
    }))
}

/// The ids of calls and the ids and texts of results, in the order of a request.
fn ids(body: &Json) -> (Vec<String>, Vec<(String, String)>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let mut look = vec![body];
    while let Some(value) = look.pop() {
        match (value["type"].as_str(), value["role"].as_str()) {
            (Some("tool_use"), _) => calls.push(text(&value["id"])),
            (Some("tool_result"), _) => {
                results.push((text(&value["tool_use_id"]), text(&value["content"][0]["text"])));
            }
            (Some("function_call"), _) => calls.push(text(&value["call_id"])),
            (Some("function_call_output"), _) => {
                results.push((text(&value["call_id"]), text(&value["output"])));
            }
            (Some("function"), _) if value["id"].is_string() => calls.push(text(&value["id"])),
            (_, Some("tool")) => results.push((text(&value["tool_call_id"]), text(&value["content"]))),
            _ => {}
        }
        match value {
            Json::Array(items) => look.extend(items.iter().rev()),
            Json::Object(members) => look.extend(members.values().rev()),
            _ => {}
        }
    }
    (calls, results)
}

#[tokio::test]
async fn calls_that_share_an_id_go_back_with_ids_of_their_own() {
    // Gemini has no ids.
    for api in [Api::AnthropicMessages, Api::OpenAiCompletions, Api::OpenAiResponses] {
        let server = ModelServer::start([Reply::answer().text("done")]).unwrap();
        let mut request = request("hi");
        request.messages.extend([
            calls(&["call_0", "call_0|fc_1", "call_0_2"], "m"),
            result("call_0", "a"),
            result("call_0|fc_1", "b"),
            result("call_0_2", "c"),
            calls(&["call_0"], "other"),
            result("call_0", "d"),
        ]);
        assert_eq!(collect(&model(&server, api), request).await.1, None);
        let (calls, results) = ids(&server.requests()[0].body);
        assert_eq!(calls.len(), 4, "{}", api.name());
        assert_eq!(calls.iter().collect::<HashSet<_>>().len(), 4, "{}: {calls:?}", api.name());
        let wanted: Vec<(String, String)> =
            calls.into_iter().zip(["a", "b", "c", "d"].map(str::to_owned)).collect();
        assert_eq!(results, wanted, "{}", api.name());
    }
}

#[tokio::test]
async fn an_item_id_is_sent_once() {
    let server = ModelServer::start([Reply::answer().text("done")]).unwrap();
    let model = model(&server, Api::OpenAiResponses);
    let own = |id: &str| {
        message(&json!({
            "role": "assistant", "provider": "scripted", "api": "openai-responses", "model": "m",
            "content": [{"type": "toolCall", "id": id, "name": "read", "arguments": {}}], "timestamp": 2,
        }))
    };
    let mut request = request("hi");
    for id in ["c1|fc_0", "c2|fc_0", "c3|fc_1"] {
        request.messages.extend([own(id), result(id, "a")]);
    }
    assert_eq!(collect(&model, request).await.1, None);
    let body = &server.requests()[0].body;
    let items: Vec<&Json> =
        body["input"].as_array().unwrap().iter().filter(|item| item["type"] == "function_call").collect();
    let shown: Vec<_> = items.iter().map(|item| (item["call_id"].as_str(), item["id"].as_str())).collect();
    assert_eq!(shown, [(Some("c1"), Some("fc_0")), (Some("c2"), None), (Some("c3"), Some("fc_1"))]);
}

#[tokio::test]
async fn a_text_without_an_id_of_the_service_goes_back_as_role_and_content() {
    let server = ModelServer::start([Reply::answer().text("done")]).unwrap();
    let mut request = request("hi");
    let said = |model: &str, signature: &str| {
        message(&json!({
            "role": "assistant", "provider": "scripted", "api": "openai-responses", "model": model,
            "content": [{"type": "text", "text": "I read on.", "textSignature": signature}], "timestamp": 2,
        }))
    };
    request.messages.extend([
        said("other", "{\"v\":1,\"id\":\"msg_9\"}"),
        said("m", "{\"v\":1,\"id\":\"\"}"),
        said("m", "msg_1"),
        Message::user("and now?").with_time(Timestamp::from_millis(3)),
    ]);
    assert_eq!(collect(&model(&server, Api::OpenAiResponses), request).await.1, None);
    let input = &server.requests()[0].body["input"];
    let plain = json!({"role": "assistant", "content": "I read on."});
    assert_eq!([&input[1], &input[2]], [&plain, &plain]);
    assert_eq!((&input[3]["id"], &input[3]["type"]), (&json!("msg_1"), &json!("message")));
    for item in input.as_array().unwrap() {
        assert!(item["type"] != "message" || item["id"].is_string(), "{item}");
    }
}

#[tokio::test]
async fn the_cache_key_is_that_of_the_session() {
    for api in [Api::OpenAiCompletions, Api::OpenAiResponses] {
        let server = ModelServer::start((0..6).map(|_| Reply::answer().text("a"))).unwrap();
        let traits = json!({"dialect": {"cacheKey": true}});
        let model = model_like(&server.url(), api, options(), &traits);
        let mut sessions = Vec::new();
        for _ in 0..2 {
            let session = Options::new().in_memory("/w").unwrap();
            sessions.extend([session.header().id().into_owned(), session.header().id().into_owned()]);
            let mut agent = Agent::new(session, "/w").with_model(model.clone(), ThinkingLevel::Off);
            for _ in 0..2 {
                let prompt = vec![Message::user("hi").with_time(Timestamp::from_millis(1))];
                agent.prompt(prompt, &Cancel::new()).await.unwrap();
            }
        }
        let keys = || -> Vec<String> {
            let key = |body: &Json| body["prompt_cache_key"].as_str().unwrap().to_owned();
            server.requests().iter().map(|request| key(&request.body)).collect()
        };
        assert_eq!(keys(), sessions, "{}", api.name());
        for session in ["s".repeat(200), "s\u{e9}ance".to_owned()] {
            let asked = Request { cache: true, session: Some(session), ..request("hi") };
            assert_eq!(collect(&model, asked).await.1, None);
        }
        for key in &keys()[4..] {
            assert!(key.len() <= 64 && key.is_ascii(), "{key}");
        }
    }
}
