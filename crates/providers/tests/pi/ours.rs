//! Sessions that our agent makes: each with one thing that a conversation may have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::agent::{Agent, Delivery, NavigateRequest, Submission, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{CherryPickRequest, ForkRequest, LabelRequest, MergeBranchRequest, MergeWith};
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::model::{AnswerEvent, Model, ThinkingLevel};
use offshoot_agent::permission::{Mode, Permissions};
use offshoot_agent::settings::Settings as AgentSettings;
use offshoot_agent::tool::ToolPlace;
use offshoot_agent::tools::{ToolBox, UserCommand};
use offshoot_providers::{Catalogue, Credentials, HttpOptions, Providers};
use serde_json::json;
use session_tree::{CompactionSettings, Image, Options};
use testkit::model_server::{ModelServer, Reply};

use crate::peer::Peer;
use crate::{assert_same, own_context};

/// A pixel.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// An agent with a session file and a server.
struct ServedAgent {
    agent: Agent,
    server: ModelServer,
    providers: Providers,
    dir: tempfile::TempDir,
    cancel: Cancel,
}

impl ServedAgent {
    fn new(replies: Vec<Reply>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("note.txt"), "one\ntwo\n").unwrap();
        let server = ModelServer::start(replies).unwrap();
        let models = json!([
            {"id": "test", "thinkingLevels": ["off", "high"], "readsImages": true, "contextWindow": 100_000},
            {"id": "other", "contextWindow": 100_000},
        ]);
        let settings = json!({"providers": {"lab": {
            "baseUrl": server.url(), "api": "anthropic-messages", "models": models,
        }}});
        let catalogue = Catalogue::default().merged(serde_json::from_value(settings).unwrap());
        let http = HttpOptions { use_proxies: false, ..HttpOptions::default() };
        let providers = Providers::new(catalogue, Credentials::none()).with_http(http);
        let session = Options::new().create(dir.path().join("s.jsonl"), cwd(dir.path())).unwrap();
        let compaction = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
        let agent = Agent::new(session, dir.path())
            .with_model(providers.model("lab/test").unwrap(), ThinkingLevel::Off)
            .with_system("You are a test.")
            .with_tools(ToolBox::coding())
            .with_approver(Arc::new(Permissions::new(Mode::AllowAll)))
            .with_settings(AgentSettings { compaction, ..AgentSettings::default() });
        ServedAgent { agent, server, providers, dir, cancel: Cancel::new() }
    }

    fn model(&self, name: &str) -> Arc<dyn Model> {
        self.providers.model(name).unwrap()
    }

    async fn say(&mut self, text: &str) {
        self.agent.store_choice().unwrap();
        self.agent.submit(Submission::typed(text), &self.cancel).await.unwrap();
    }

    /// The id of the prompt with this number, from zero.
    fn prompt(&self, number: usize) -> String {
        let session = self.agent.session();
        let tree = session.tree();
        let mut prompts = tree.nodes().filter(|node| tree.role(*node) == Some(session_tree::Role::User));
        tree.id(prompts.nth(number).unwrap()).to_string()
    }

    /// Ends the session; gives its file.
    async fn file(mut self) -> (PathBuf, tempfile::TempDir) {
        self.agent.quit().await;
        let file = self.agent.session().file().unwrap().to_path_buf();
        drop(self.server);
        (file, self.dir)
    }
}

fn cwd(directory: &Path) -> &str {
    directory.to_str().unwrap()
}

fn texts(texts: &[&str]) -> Vec<Reply> {
    texts.iter().map(|text| Reply::answer().text(text)).collect()
}

async fn tools() -> ServedAgent {
    let arguments = json!({"path": "note.txt"});
    let call = Reply::answer().text("let me see").call("toolu_1", "read", arguments.clone());
    let both = Reply::answer().call("toolu_2", "ls", json!({})).call("toolu_3", "nothing", arguments);
    let mut desk = ServedAgent::new(vec![call, both, Reply::answer().text("two lines")]);
    desk.say("what is in note.txt?").await;
    desk
}

async fn thinking() -> ServedAgent {
    let answer = Reply::answer().thinking("hm", "c2ln").redacted("c2VjcmV0").text("yes");
    let mut desk = ServedAgent::new(vec![answer, Reply::answer().text("still")]);
    desk.agent.choose_thinking(ThinkingLevel::High).unwrap();
    desk.say("are you sure?").await;
    desk.say("really?").await;
    desk
}

async fn images() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["a pixel"]));
    let images = vec![Image { data: IMAGE.into(), mime_type: "image/png".into() }];
    let submission = Submission { images, ..Submission::typed("what is this?") };
    desk.agent.submit(submission, &Cancel::new()).await.unwrap();
    desk
}

async fn aborted() -> ServedAgent {
    let mut desk = ServedAgent::new(vec![
        Reply::answer().text("half a sentence").stall_after(4),
        Reply::answer().text("whole"),
    ]);
    let stop = desk.cancel.clone();
    desk.agent = desk.agent.with_events(Events::new(move |event| {
        if matches!(event.event, AgentEvent::Answer(AnswerEvent::BlockDelta { .. })) {
            stop.cancel();
        }
    }));
    desk.say("say something").await;
    desk.agent = desk.agent.with_events(Events::default());
    desk.cancel = Cancel::new();
    desk.say("go on").await;
    desk
}

async fn failed() -> ServedAgent {
    let mut desk = ServedAgent::new(vec![Reply::error(400, "what?"), Reply::answer().text("ah")]);
    desk.say("first try").await;
    desk.say("second try").await;
    desk
}

async fn compacted() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two", "a summary", "of a turn", "three"]));
    desk.say("first").await;
    desk.say("second").await;
    desk.agent.compact(None, &Cancel::new()).await.unwrap();
    desk.say("third").await;
    desk
}

async fn branch_summary() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two", "what was tried", "three"]));
    desk.say("first").await;
    desk.say("second").await;
    let target = desk.prompt(1);
    let request = NavigateRequest { target, summary: SummaryRequest::Standard, label: Some("back".into()) };
    desk.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    desk.say("another second").await;
    desk
}

/// Two branches, the leaf at the end of the second.
async fn branches(more: &[&str]) -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&[&["one", "two", "three"], more].concat()));
    desk.say("first").await;
    desk.say("second").await;
    let target = desk.prompt(1);
    let request = NavigateRequest { target, ..NavigateRequest::default() };
    desk.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    desk.say("another second").await;
    desk
}

async fn moved_without_a_word() -> ServedAgent {
    let mut desk = branches(&[]).await;
    let target = desk.prompt(1);
    let request = NavigateRequest { target, ..NavigateRequest::default() };
    desk.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    desk
}

async fn merged() -> ServedAgent {
    let mut desk = branches(&["## Goal\nsecond", "four"]).await;
    let request =
        MergeBranchRequest { branch: desk.prompt(1), with: MergeWith::default(), ..Default::default() };
    let planned = desk.agent.plan_merge(None, &request).unwrap();
    let draft = desk.agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap();
    desk.agent.merge(&draft, &Cancel::new()).await.unwrap();
    desk.say("after the merge").await;
    desk
}

async fn cherry_picked() -> ServedAgent {
    let mut desk = branches(&["four"]).await;
    for native in [false, true] {
        let request = CherryPickRequest { what: desk.prompt(1), native, again: true, ..Default::default() };
        let planned = desk.agent.plan_cherry_pick(None, &request).unwrap();
        desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    }
    desk.say("after the picks").await;
    desk
}

async fn custom_messages() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two"]));
    let handle = desk.agent.handle();
    desk.say("first").await;
    handle.append_entry("state", Some(&json!({"open": 3}))).unwrap();
    handle.send_message(&CustomMessage::text("note", "by the way"), SendOptions::default()).unwrap();
    let hidden = CustomMessage {
        display: false,
        details: Some(json!({"n": 1})),
        ..CustomMessage::text("note", "psst")
    };
    let next = SendOptions { deliver_as: Some(Delivery::NextTurn), ..SendOptions::default() };
    handle.send_message(&hidden, next).unwrap();
    desk.say("second").await;
    desk
}

async fn models_names_labels() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two"]));
    desk.say("first").await;
    let other = desk.model("lab/other");
    desk.agent.choose_model(other).unwrap();
    let plan = desk.agent.plan_name(Some("a name"));
    desk.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    let label = LabelRequest { target: Some(desk.prompt(0)), label: Some("start".into()) };
    let plan = desk.agent.plan_label(&label).unwrap();
    desk.agent.label(&plan, &Cancel::new()).await.unwrap();
    desk.say("second").await;
    desk
}

async fn user_commands() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two"]));
    desk.say("first").await;
    for typed in ["!cat note.txt", "!!false"] {
        let cwd = desk.dir.path().to_path_buf();
        let place = ToolPlace::new(cwd, Cancel::new());
        let message = desk.agent.run_command(&UserCommand::parse(typed).unwrap(), &place).await.unwrap();
        desk.agent.keep_command(&message).unwrap();
    }
    desk.say("second").await;
    desk
}

async fn forked() -> ServedAgent {
    let mut desk = ServedAgent::new(texts(&["one", "two", "three"]));
    desk.say("first").await;
    desk.say("second").await;
    let fork = desk.agent.plan_fork(&ForkRequest::at(desk.prompt(1))).unwrap();
    desk.agent.fork(fork, Options::new(), &Cancel::new()).await.unwrap();
    desk.say("another second").await;
    desk
}

async fn overflowed() -> ServedAgent {
    let mut replies = texts(&["one", "two"]);
    replies.push(Reply::overflow());
    replies.extend(texts(&["a summary", "of a turn", "three"]));
    let mut desk = ServedAgent::new(replies);
    desk.say("first").await;
    desk.say("second").await;
    desk.say("third").await;
    desk
}

#[tokio::test]
async fn pi_opens_every_session_of_ours_with_the_same_context() {
    let peer = Peer::installed();
    let mut sessions = vec![
        ("tools", tools().await),
        ("thinking", thinking().await),
        ("images", images().await),
        ("aborted", aborted().await),
        ("failed", failed().await),
        ("compacted", compacted().await),
        ("branch summary", branch_summary().await),
        ("moved without a word", moved_without_a_word().await),
        ("merged", merged().await),
        ("cherry-picked", cherry_picked().await),
        ("custom messages", custom_messages().await),
        ("models, names, labels", models_names_labels().await),
        ("user commands", user_commands().await),
        ("forked", forked().await),
    ];
    if peer.is_recent() {
        // Older versions do not know that an answer can be left out of the context.
        sessions.push(("overflowed", overflowed().await));
    }
    let mut files = Vec::new();
    let mut kept = Vec::new();
    for (name, desk) in sessions {
        let (file, dir) = desk.file().await;
        files.push((name, file));
        kept.push(dir);
    }
    let paths: Vec<PathBuf> = files.iter().map(|(_, file)| file.clone()).collect();
    let theirs = peer.contexts(&paths);
    for ((name, file), theirs) in files.iter().zip(theirs) {
        let ours = own_context(file);
        assert!(ours["messages"].as_array().unwrap().len() > 1, "{name} says too little to compare");
        assert_same(name, &theirs, &ours);
    }
}
