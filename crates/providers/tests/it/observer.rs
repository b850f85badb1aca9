//! Extensions on the wire: what they see and change of a request, and that no key reaches them.

use std::sync::{Arc, Mutex};

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::turn::Outcome;
use offshoot_providers::Api;
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Timestamp};
use testkit::model_server::{ModelServer, Reply};

use crate::support::model;

const EVENTS: [&str; 3] = ["before_provider_request", "before_provider_headers", "after_provider_response"];

/// Changes body and headers, and notes what it saw.
fn hooks(seen: &Arc<Mutex<Vec<Json>>>) -> Hooks {
    let mut hooks = Hooks::new();
    for event in EVENTS {
        let into = seen.clone();
        hooks.on("wire", event, move |payload, _| {
            into.lock().unwrap().push(payload.clone());
            let answer = match event {
                "before_provider_request" => {
                    let mut body = payload["payload"].clone();
                    body["metadata"] = json!({"trace": "t1"});
                    json!({ "payload": body })
                }
                "before_provider_headers" => {
                    let mut headers = payload["headers"].clone();
                    headers["X-Trace"] = "t2".into();
                    headers["accept"] = Json::Null;
                    json!({ "headers": headers })
                }
                _ => Json::Null,
            };
            Box::pin(async move { Ok(answer) })
        });
    }
    hooks
}

#[tokio::test]
async fn body_and_headers_are_changed_and_the_response_is_told_in_every_format() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::answer().text("fine")]).unwrap();
        let seen = Arc::default();
        let session = Options::new().in_memory("/w").unwrap();
        let mut agent = Agent::new(session, "/w")
            .with_model(model(&server, api), ThinkingLevel::Off)
            .with_hooks(hooks(&seen));
        let prompt = vec![Message::user("hi").with_time(Timestamp::from_millis(1))];
        assert_eq!(agent.prompt(prompt, &Cancel::new()).await.unwrap(), Outcome::Done);
        let request = &server.requests()[0];
        assert_eq!(request.body["metadata"], json!({"trace": "t1"}), "{}", api.name());
        assert_eq!(request.header("x-trace"), Some("t2"), "{}", api.name());
        assert_ne!(request.header("accept"), Some("text/event-stream"));
        let seen = seen.lock().unwrap();
        let told: Vec<_> = seen.iter().map(|one| one["type"].as_str().unwrap()).collect();
        assert_eq!(told, EVENTS, "{}", api.name());
        assert!(seen[0]["payload"].is_object() && seen[1]["headers"]["content-type"] == "application/json");
        assert_eq!(seen[2]["status"], 200);
        let shown = Json::from(seen.clone()).to_string();
        assert!(!shown.contains(crate::support::KEY), "no key reaches an extension: {shown}");
    }
}
