//! The cache of a service: going on, coming back, forking and walking the tree send the same beginning,
//! byte for byte.

use std::path::Path;
use std::sync::Arc;

use offshoot_agent::agent::{Agent, NavigateRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::ForkRequest;
use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_agent::tools::ToolBox;
use offshoot_providers::Api;
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Session, Timestamp};
use testkit::model_server::{ModelServer, Reply};

use crate::support::model;

fn agent(session: Session, model: &Arc<dyn Model>, cwd: &Path) -> Agent {
    let mut agent = Agent::new(session, cwd)
        .with_system("Be brief.")
        .with_tools(ToolBox::all())
        .with_model(model.clone(), ThinkingLevel::High);
    agent.restore_model(model.clone(), ThinkingLevel::High);
    agent
}

async fn say(agent: &mut Agent, text: &str) {
    let prompt = Message::user(text).with_time(Timestamp::from_millis(1));
    agent.prompt(vec![prompt], &Cancel::new()).await.unwrap();
}

/// The text of a request without the marks that move with the end of a conversation.
fn without_marks(body: &Json) -> String {
    body.to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
}

#[track_caller]
fn goes_on_from(api: Api, earlier: &str, later: &str) {
    let open = earlier.trim_end_matches(['}', ']']);
    assert!(later.starts_with(open), "{}:\n{earlier}\n{later}", api.name());
}

#[tokio::test]
async fn every_way_to_go_on_sends_the_same_beginning() {
    for api in Api::ALL {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("notes.txt"), "remember the milk").unwrap();
        let script = [
            Reply::answer().thinking("hm", "sig").text("looking").call(
                "c1",
                "read",
                json!({"path": "notes.txt"}),
            ),
            Reply::answer().text("milk"),
            Reply::answer().text("resumed"),
            Reply::answer().text("forked"),
            Reply::answer().text("walked"),
        ];
        let server = ModelServer::start(script).unwrap();
        let model = model(&server, api);
        let sent = || -> Vec<String> {
            server.requests().iter().map(|request| without_marks(&request.body)).collect()
        };

        let session = Options::new().create_in(place.path(), "/w").unwrap();
        let mut first = agent(session, &model, place.path());
        say(&mut first, "what is in the notes?").await;
        let file = first.session().file().unwrap().to_owned();
        let answered = first.session().leaf_id().unwrap();
        first.quit().await;
        drop(first);

        let mut resumed = agent(Session::open(&file).unwrap(), &model, place.path());
        say(&mut resumed, "and now?").await;
        let request = ForkRequest { entry: answered.to_string(), ..ForkRequest::default() };
        let fork = resumed.plan_fork(&request).unwrap();
        resumed.fork(fork, Options::new(), &Cancel::new()).await.unwrap().done().unwrap();
        say(&mut resumed, "elsewhere").await;

        let mut walked = agent(Session::open(&file).unwrap(), &model, place.path());
        let back = NavigateRequest { target: answered.to_string(), ..NavigateRequest::default() };
        walked.navigate_tree(&back, &Cancel::new()).await.unwrap();
        say(&mut walked, "another way").await;

        let sent = sent();
        assert_eq!(sent.len(), 5);
        goes_on_from(api, &sent[0], &sent[1]);
        for later in &sent[2..] {
            goes_on_from(api, &sent[1], later);
            assert!(!later.contains(&*place.path().to_string_lossy()), "{later}");
        }
    }
}
