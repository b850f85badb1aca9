//! Keys stay where they belong.

use offshoot_agent::model::ModelError;
use offshoot_providers::Api;
use testkit::model_server::{ModelServer, Reply};

use crate::support::{KEY, TEAM, collect, model, request};

#[tokio::test]
async fn a_service_that_repeats_the_key_does_not_get_it_into_an_error() {
    for api in Api::ALL {
        let said = format!("Incorrect API key provided: {KEY}. Team {TEAM}.");
        let replies = [
            Reply::error(401, &said),
            Reply::bytes(500, "text/plain", said.clone()),
            Reply::bytes(200, "application/json", format!("{{\"error\": {{\"message\": \"{said}\"}}}}")),
            Reply::answer()
                .text("a")
                .replace_frame(0, format!("data: {{\"error\": {{\"message\": \"{said}\"}}}}\n\n")),
        ];
        let server = ModelServer::start(replies).unwrap();
        let model = model(&server, api);
        for _ in 0..4 {
            let error = collect(&model, request("hi")).await.1.unwrap();
            let shown = format!("{error} {error:?} {model:?}");
            assert!(
                !shown.contains(KEY) && !shown.contains(TEAM) && shown.contains("provided: •••. Team •••."),
                "{shown}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    let other = ModelServer::start([Reply::answer().text("caught")]).unwrap();
    let location = format!("{}/v1/messages", other.url());
    for status in [302, 307, 308] {
        let reply =
            Reply::bytes(status, "text/plain", "moved").header("location", &format!("{location}?token=abc"));
        let server = ModelServer::start([reply]).unwrap();
        let (_, error) = collect(&model(&server, Api::AnthropicMessages), request("hi")).await;
        assert!(
            matches!(&error, Some(ModelError::Refused { status: found, message, .. })
                if *found == status && message.contains(&location) && message.contains("baseUrl")),
            "{error:?}"
        );
        assert!(!error.unwrap().to_string().contains("token"), "a query may hold a secret");
    }
    assert_eq!(other.requests(), []);
}
