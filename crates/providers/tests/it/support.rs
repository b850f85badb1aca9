//! A model that asks a scripted server, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use offshoot_agent::model::{Answer, AnswerEvent, Model, ModelError, Request, ThinkingLevel, ToolSpec};
use offshoot_providers::{Api, Catalogue, Credentials, HttpOptions, Providers, Settings};
use serde_json::{Value as Json, json};
use session_tree::{Message, Timestamp};
use testkit::model_server::{Format, ModelServer};

pub(crate) const KEY: &str = "sk-very-secret";
pub(crate) const TEAM: &str = "team-token-7";

pub(crate) fn format_of(api: Api) -> Format {
    match api {
        Api::AnthropicMessages => Format::Anthropic,
        Api::OpenAiCompletions => Format::Completions,
        Api::OpenAiResponses => Format::Responses,
        Api::GoogleGenerativeAi => Format::Gemini,
    }
}

/// No proxies, no long waits.
pub(crate) fn options() -> HttpOptions {
    HttpOptions { use_proxies: false, idle_timeout: Duration::from_secs(20), ..HttpOptions::default() }
}

pub(crate) fn model(server: &ModelServer, api: Api) -> Arc<dyn Model> {
    model_with(&server.url(), api, options())
}

pub(crate) fn model_with(url: &str, api: Api, options: HttpOptions) -> Arc<dyn Model> {
    model_like(url, api, options, &json!({}))
}

/// A model with other traits than the usual ones.
pub(crate) fn model_like(url: &str, api: Api, options: HttpOptions, traits: &Json) -> Arc<dyn Model> {
    let mut model = json!({"id": "m", "thinkingLevels": ["off", "high"], "readsImages": true});
    for (key, value) in traits.as_object().into_iter().flatten() {
        model[key] = value.clone();
    }
    let settings: Settings = serde_json::from_value(json!({"providers": {"scripted": {
        "baseUrl": url, "api": api.name(), "keyVariables": ["KEY"], "headers": {"x-team": TEAM},
        "models": [model],
    }}}))
    .unwrap();
    let credentials = Credentials::of(|_| Some(KEY.into()));
    Providers::new(Catalogue::default().merged(settings), credentials)
        .with_http(options)
        .model("scripted/m")
        .unwrap()
}

pub(crate) fn request(prompt: &str) -> Request {
    let read =
        ToolSpec { name: "read".into(), description: "Reads.".into(), parameters: json!({"type": "object"}) };
    Request {
        system: "Be brief.".into(),
        messages: vec![Message::user(prompt).with_time(Timestamp::from_millis(1))],
        tools: vec![read],
        thinking: ThinkingLevel::High,
        ..Request::default()
    }
}

/// All events of an answer, and its error.
pub(crate) async fn collect(
    model: &Arc<dyn Model>,
    request: Request,
) -> (Vec<AnswerEvent>, Option<ModelError>) {
    let mut stream = model.answer(request);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "nothing comes after an error");
                return (events, Some(error));
            }
        }
    }
    assert!(matches!(events.last(), Some(AnswerEvent::End { .. })), "an answer without an error has an end");
    (events, None)
}

pub(crate) fn answer(events: &[AnswerEvent]) -> Answer {
    let mut answer = Answer::default();
    events.iter().for_each(|event| answer.take(event));
    answer
}

/// The message as a session would store it.
pub(crate) fn stored(model: &Arc<dyn Model>, events: &[AnswerEvent]) -> Json {
    answer(events).into_message(model.spec(), Timestamp::from_millis(2)).value().to_serde().unwrap()
}

/// Returns true once the server sees that its client has left. Waits for the connection to close.
pub(crate) async fn sees_leaving(server: ModelServer) -> bool {
    let waiting = tokio::task::spawn_blocking(move || server.wait_for_hang_up(Duration::from_secs(10)));
    waiting.await.unwrap()
}
