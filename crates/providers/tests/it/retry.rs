//! Failures that pass: the agent asks again, or the error says what to do.

use std::time::Duration;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{ModelError, ThinkingLevel};
use offshoot_agent::settings::Settings;
use offshoot_agent::turn::{Outcome, RetryPolicy};
use offshoot_providers::Api;
use session_tree::{Message, Options, Timestamp};
use testkit::model_server::{Format, ModelServer, Reply};

use crate::support::{collect, format_of, model, request};

/// Asks once and returns how the turn ended.
async fn ask(server: &ModelServer, api: Api) -> Outcome {
    let retry = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
    let mut agent = Agent::new(Options::new().in_memory("/w").unwrap(), "/w")
        .with_model(model(server, api), ThinkingLevel::Off)
        .with_settings(Settings { retry, ..Settings::default() });
    let prompt = vec![Message::user("hi").with_time(Timestamp::from_millis(1))];
    agent.prompt(prompt, &Cancel::new()).await.unwrap()
}

#[tokio::test]
async fn a_response_that_cannot_be_read_is_asked_for_again_while_nothing_has_arrived() {
    let nonsense = b"data: {\"type\": nonsense\n\n";
    for api in Api::ALL {
        let unreadable = [
            Reply::answer().text("lost").replace_frame(0, nonsense),
            Reply::bytes(200, "application/json", "{\"id\": 1}"),
            Reply::bytes(200, "application/json", "{\"id\": "),
            Reply::bytes(200, "text/html", "<html>Bad gateway</html>"),
        ];
        for reply in unreadable {
            let server = ModelServer::start([reply.clone(), Reply::answer().text("fine")]).unwrap();
            assert_eq!(ask(&server, api).await, Outcome::Done, "{}: {reply:?}", api.name());
            assert_eq!(server.requests().len(), 2);
        }
    }
}

#[tokio::test]
async fn a_response_that_cannot_be_read_after_its_first_words_ends_the_turn() {
    for api in Api::ALL {
        let first_words = match format_of(api) {
            Format::Anthropic => 4,
            Format::Completions => 2,
            Format::Responses => 3,
            Format::Gemini => 1,
        };
        let reply = Reply::answer().text("half a sentence").replace_frame(first_words, b"data: <\n\n");
        let server = ModelServer::start([reply, Reply::answer().text("fine")]).unwrap();
        let outcome = ask(&server, api).await;
        assert!(
            matches!(outcome, Outcome::Failed(ModelError::Malformed { has_begun: true, .. })),
            "{outcome:?}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_ends_the_turn_and_is_named() {
    for (status, after) in [(429, "5400"), (503, "5400")] {
        for api in Api::ALL {
            let busy = Reply::error(status, "come back later").header("retry-after", after);
            let server = ModelServer::start([busy, Reply::answer().text("fine")]).unwrap();
            let Outcome::Failed(error) = ask(&server, api).await else { panic!("the turn goes on") };
            let shown = error.to_string();
            assert!(shown.ends_with("come back later (try again in 1 h 30 min)"), "{shown}");
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn an_error_without_a_status_names_none() {
    let refusals = [
        (
            Api::AnthropicMessages,
            r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
            "scripted refused the request: the model declined to answer",
        ),
        (
            Api::OpenAiCompletions,
            r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
            "scripted refused the request: the service filtered the answer",
        ),
        (
            Api::GoogleGenerativeAi,
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            "scripted refused the request: the service blocked the prompt: SAFETY",
        ),
        (Api::OpenAiResponses, r#"{"error":{"message":"boom"}}"#, "scripted failed: boom"),
    ];
    for (api, frame, wanted) in refusals {
        let stream = format!("data: {frame}\n\n");
        let server = ModelServer::start([Reply::bytes(200, "text/event-stream", stream)]).unwrap();
        let (_, error) = collect(&model(&server, api), request("hi")).await;
        assert_eq!(error.unwrap().to_string(), wanted);
    }
}
