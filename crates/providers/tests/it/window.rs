//! The context window: an answer may be as long as the window has room for, and a conversation that does not fit is
//! compacted.

use std::sync::Arc;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{Model, ModelError, ThinkingLevel};
use offshoot_agent::settings::Settings;
use offshoot_agent::turn::Outcome;
use offshoot_providers::Api;
use serde_json::{Value as Json, json};
use session_tree::{CompactionSettings, Message, Options, Timestamp};
use testkit::model_server::{ModelServer, RecordedRequest, Reply, ScriptedStop, ScriptedUsage};

use crate::support::{collect, model_like, options, request};

fn model(server: &ModelServer, api: Api) -> Arc<dyn Model> {
    let traits = json!({"contextWindow": 200_000, "maxOutput": 64_000});
    model_like(&server.url(), api, options(), &traits)
}

fn agent(model: Arc<dyn Model>) -> Agent {
    // The last prompt stays, everything before it may be summarised.
    let compaction = CompactionSettings { keep_recent_tokens: 4, ..CompactionSettings::default() };
    Agent::new(Options::new().in_memory("/w").unwrap(), "/w")
        .with_model(model, ThinkingLevel::Off)
        .with_settings(Settings { compaction, ..Settings::default() })
}

async fn say(agent: &mut Agent, text: &str) -> Outcome {
    let prompt = Message::user(text).with_time(Timestamp::from_millis(1));
    agent.prompt(vec![prompt], &Cancel::new()).await.unwrap()
}

/// The most tokens that a request allows for the answer.
fn limit(request: &RecordedRequest) -> u64 {
    let body = &request.body;
    let limits = [
        &body["max_tokens"],
        &body["max_completion_tokens"],
        &body["max_output_tokens"],
        &body["generationConfig"]["maxOutputTokens"],
    ];
    limits.into_iter().find_map(Json::as_u64).unwrap()
}

#[tokio::test]
async fn an_answer_is_limited_to_what_the_window_has_left() {
    for api in Api::ALL {
        let usage = ScriptedUsage { input: 140_800, output: 85, ..ScriptedUsage::default() };
        let server =
            ModelServer::start([Reply::answer().text("a").usage(usage), Reply::answer().text("b")]).unwrap();
        let mut agent = agent(model(&server, api));
        assert_eq!(say(&mut agent, "first").await, Outcome::Done);
        assert_eq!(say(&mut agent, "second").await, Outcome::Done);
        let requests = server.requests();
        assert_eq!(limit(&requests[0]), 64_000, "{}", api.name());
        let second = limit(&requests[1]);
        assert!(second <= 200_000 - 140_885 && second > 50_000, "{}: {second}", api.name());
    }
}

#[tokio::test]
async fn a_request_that_no_service_has_counted_is_measured_by_its_length() {
    // 560,000 characters are about 160,000 tokens, 150,000 Chinese ones about 150,000.
    for text in ["word and ".repeat(62_222), "\u{5b57}".repeat(150_000)] {
        for api in Api::ALL {
            let server = ModelServer::start([Reply::answer().text("a")]).unwrap();
            let (_, error) = collect(&model(&server, api), request(&text)).await;
            assert_eq!(error, None);
            let limit = limit(&server.requests()[0]);
            assert!((20_000..=50_000).contains(&limit), "{}: {limit}", api.name());
        }
    }
}

#[tokio::test]
async fn a_limit_never_falls_to_nothing() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::answer().text("a")]).unwrap();
        let (_, error) = collect(&model(&server, api), request(&"x".repeat(1_000_000))).await;
        assert_eq!(error, None);
        assert_eq!(limit(&server.requests()[0]), 1_024, "{}", api.name());
    }
}

#[tokio::test]
async fn a_conversation_that_the_service_calls_too_long_is_compacted_and_goes_on() {
    let complaints = [
        (
            400,
            "input length and `max_tokens` exceed context limit: 140885 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        ),
        (500, "prompt too long; exceeded max context length by 812 tokens"),
        (400, "the input length exceeds the context length"),
        (400, "Prompt exceeds max length"),
        (400, "Range of input length should be [1, 98304]"),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 512 `max_new_tokens`",
        ),
        (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"),
        (400, "The input (150000 tokens) is longer than the model's context length (131072 tokens)."),
    ];
    for (status, message) in complaints {
        let script = [
            Reply::answer().text("one"),
            Reply::answer().text("two"),
            Reply::error(status, message),
            Reply::answer().text("## Goal\nhistory"),
            Reply::answer().text("three"),
        ];
        let server = ModelServer::start(script).unwrap();
        let mut agent = agent(model(&server, Api::OpenAiCompletions));
        say(&mut agent, "first").await;
        say(&mut agent, "second").await;
        assert_eq!(say(&mut agent, "third").await, Outcome::Done, "{message}");
        let last = server.requests().last().unwrap().body["messages"].to_string();
        assert!(last.contains("history") && last.contains("third"), "{message}: {last}");
    }
}

#[tokio::test]
async fn an_answer_without_a_word_because_the_window_is_full_is_an_overflow() {
    let empty = |input| {
        let usage = ScriptedUsage { input, output: 0, ..ScriptedUsage::default() };
        Reply::answer().usage(usage).stop(ScriptedStop::Length)
    };
    for api in Api::ALL {
        let server = ModelServer::start([empty(199_000), empty(1_000)]).unwrap();
        let model = model(&server, api);
        let (_, error) = collect(&model, request("hi")).await;
        assert!(matches!(error, Some(ModelError::Overflow { .. })), "{}: {error:?}", api.name());
        assert_eq!(collect(&model, request("hi")).await.1, None, "{}: the window is not full", api.name());
    }
}
