//! Whole answers in every wire format.

use futures_util::StreamExt as _;
use offshoot_agent::model::{AnswerEvent, StopReason};
use offshoot_providers::Api;
use serde_json::json;
use session_tree::{Message, Timestamp};
use testkit::model_server::{ModelServer, Reply, ScriptedStop, ScriptedUsage};

use crate::support::{answer, collect, format_of, model, request, sees_leaving, stored};

fn rich() -> Reply {
    Reply::answer()
        .thinking("let me see", "c2ln")
        .text("grüße an 👩‍👧 alle")
        .call("c1", "read", json!({"path": "ä"}))
        .call("c2", "read", json!({"path": "b", "deep": {"n": [1, 2]}}))
        .usage(ScriptedUsage { input: 25, output: 42, cache_read: 9_000, cache_write: 0 })
}

#[tokio::test]
async fn text_thinking_calls_and_usage_come_in_every_format_however_the_bytes_are_cut() {
    for api in Api::ALL {
        let replies = [rich(), rich().pieces(1), rich().pieces(7).crlf(), rich().comments().crlf().pieces(3)];
        let server = ModelServer::start(replies).unwrap();
        let model = model(&server, api);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let (events, error) = collect(&model, request("hi")).await;
            assert_eq!(error, None);
            seen.push(stored(&model, &events));
        }
        assert!(seen.iter().all(|message| message == &seen[0]), "{}: {seen:#?}", api.name());
        let content = seen[0]["content"].as_array().unwrap();
        assert_eq!(content[0]["thinking"], "let me see");
        assert_eq!(content[1]["text"], "grüße an 👩‍👧 alle");
        assert_eq!(content[2]["arguments"], json!({"path": "ä"}));
        assert_eq!(content[3]["arguments"], json!({"path": "b", "deep": {"n": [1, 2]}}));
        assert_eq!(seen[0]["stopReason"], "toolUse");
        let usage = &seen[0]["usage"];
        assert_eq!([&usage["input"], &usage["output"], &usage["cacheRead"]], [25, 42, 9_000]);
    }
}

#[tokio::test]
async fn what_the_model_said_goes_back_to_it_as_it_was() {
    for api in Api::ALL {
        let server = ModelServer::start([rich(), Reply::answer().text("done")]).unwrap();
        let model = model(&server, api);
        let (events, _) = collect(&model, request("hi")).await;
        let mut again = request("hi");
        let said = answer(&events).into_message(model.spec(), Timestamp::from_millis(2));
        let ids: Vec<_> = said.value().to_serde().unwrap()["content"].as_array().unwrap()[2..].to_vec();
        again.messages.push(said);
        for call in ids {
            again
                .messages
                .push(Message::tool_result(call["id"].as_str().unwrap(), "read").text("ok").build());
        }
        assert_eq!(collect(&model, again).await.1, None);
        let sent = server.requests()[1].body.to_string();
        let signature =
            if api == Api::OpenAiCompletions { "\"reasoning_content\":\"let me see\"" } else { "c2ln" };
        assert!(sent.contains(signature), "{}: {sent}", api.name());
        assert!(sent.contains("grüße an 👩‍👧 alle"), "{sent}");
    }
}

#[tokio::test]
async fn redacted_thoughts_and_cache_writes_of_anthropic_are_kept() {
    let usage = ScriptedUsage { input: 1, output: 2, cache_read: 3, cache_write: 4 };
    let server = ModelServer::start([Reply::answer().redacted("sealed").text("yes").usage(usage)]).unwrap();
    let model = model(&server, Api::AnthropicMessages);
    let message = stored(&model, &collect(&model, request("hi")).await.0);
    assert_eq!(message["content"][0]["thinkingSignature"], "sealed");
    assert_eq!((&message["usage"]["cacheRead"], &message["usage"]["cacheWrite"]), (&json!(3), &json!(4)));
}

#[tokio::test]
async fn cache_writes_of_the_responses_format_are_counted() {
    let usage = ScriptedUsage { input: 100, output: 2, cache_read: 30, cache_write: 4_000 };
    let server = ModelServer::start([Reply::answer().text("yes").usage(usage)]).unwrap();
    let (events, _) = collect(&model(&server, Api::OpenAiResponses), request("hi")).await;
    let counted = answer(&events).usage();
    assert_eq!([counted.input, counted.cache_read, counted.cache_write], [100, 30, 4_000]);
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    for api in Api::ALL {
        let replies = [
            Reply::answer().text("one"),
            Reply::answer().text("two").pieces(5),
            Reply::error(400, "what?"),
            Reply::answer().text("three"),
        ];
        let server = ModelServer::start(replies).unwrap();
        let model = model(&server, api);
        for _ in 0..4 {
            let _ = collect(&model, request("hi")).await;
        }
        assert_eq!((server.requests().len(), server.connections()), (4, 1), "{}", api.name());
    }
}

#[tokio::test]
async fn reasons_to_stop_are_told() {
    for api in Api::ALL {
        let replies = [Reply::answer().text("a"), Reply::answer().text("a").stop(ScriptedStop::Length)];
        let server = ModelServer::start(replies).unwrap();
        let model = model(&server, api);
        for wanted in [StopReason::Stop, StopReason::Length] {
            let (events, _) = collect(&model, request("hi")).await;
            assert_eq!(events.last(), Some(&AnswerEvent::End { stop: wanted }), "{}", api.name());
        }
    }
}

#[tokio::test]
async fn events_come_while_the_service_speaks_and_leaving_is_noticed() {
    for api in Api::ALL {
        let reply = Reply::answer().text("one two three");
        let stop_at = reply.frame_count(format_of(api)) - 2;
        let server = ModelServer::start([reply.stall_after(stop_at)]).unwrap();
        let model = model(&server, api);
        let mut stream = model.answer(request("hi"));
        let mut events = Vec::new();
        while answer(&events).text().is_empty() {
            events.push(stream.next().await.unwrap().unwrap());
        }
        drop(stream);
        assert!(sees_leaving(server).await, "{}", api.name());
        let aborted = answer(&events).into_aborted(model.spec(), Timestamp::from_millis(2));
        assert!(aborted.text().starts_with("one"));
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = ModelServer::start([Reply::answer().text("a")]).unwrap();
    let model = model(&server, Api::AnthropicMessages);
    drop(model.answer(request("hi")));
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn each_format_asks_at_its_own_place_with_its_own_headers() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::answer().text("a")]).unwrap();
        let model = model(&server, api);
        let _ = collect(&model, request("hi")).await;
        let asked = &server.requests()[0];
        let (path, header) = match api {
            Api::AnthropicMessages => ("/v1/messages", "x-api-key"),
            Api::OpenAiCompletions => ("/chat/completions", "authorization"),
            Api::OpenAiResponses => ("/responses", "authorization"),
            Api::GoogleGenerativeAi => ("/models/m:streamGenerateContent?alt=sse", "x-goog-api-key"),
        };
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", path));
        assert!(asked.header(header).unwrap().ends_with(crate::support::KEY));
        assert_eq!(asked.header("x-team"), Some(crate::support::TEAM));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        assert_eq!(asked.header("anthropic-version").is_some(), api == Api::AnthropicMessages);
    }
}
