//! Sessions that pi makes: opened here, gone on with here, and opened there again.

use offshoot_agent::agent::{Agent, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::ThinkingLevel;
use offshoot_providers::{Catalogue, Credentials, HttpOptions, Providers};
use serde_json::json;
use session_tree::Options;
use testkit::model_server::{ModelServer, Reply};

use crate::peer::{Peer, session_files};
use crate::{assert_same, own_context};

#[tokio::test]
async fn we_open_what_pi_made_and_pi_opens_what_we_added() {
    let peer = Peer::installed();
    let dir = tempfile::tempdir().unwrap();
    let (home, cwd) = (dir.path().join("home"), dir.path().join("work"));
    std::fs::create_dir(&cwd).unwrap();
    std::fs::write(cwd.join("note.txt"), "one\ntwo\n").unwrap();
    let replies = vec![
        Reply::answer().thinking("let me look", "c2ln").call("toolu_1", "read", json!({"path": "note.txt"})),
        Reply::answer().text("two lines"),
        Reply::answer().text("running").call("toolu_2", "bash", json!({"command": "exit 3"})),
        Reply::answer().text("it failed"),
        Reply::error(400, "what?"),
        Reply::answer().text("here again"),
        Reply::answer().text("from us"),
    ];
    let server = ModelServer::start(replies).unwrap();
    Peer::make_home(&home, &server.url());
    assert!(peer.print(&home, &cwd, &["--thinking", "high", "what is in note.txt?"]));
    assert!(peer.print(&home, &cwd, &["-c", "run it"]));
    // What comes of a refusal is pi's business; the session goes on.
    peer.print(&home, &cwd, &["-c", "break"]);
    assert!(peer.print(&home, &cwd, &["-c", "still there?"]));
    let files = session_files(&home.join("sessions"));
    let [file] = &files[..] else { panic!("one session: {files:?}") };

    let before = own_context(file);
    assert!(before["messages"].as_array().unwrap().len() >= 9, "{before:#}");
    assert_same("made by pi", &peer.contexts(&files)[0], &before);

    let settings = json!({"providers": {"lab": {
        "baseUrl": server.url(), "api": "anthropic-messages", "models": [{"id": "test", "thinkingLevels": ["off", "high"]}],
    }}});
    let catalogue = Catalogue::default().merged(serde_json::from_value(settings).unwrap());
    let http = HttpOptions { use_proxies: false, ..HttpOptions::default() };
    let model = Providers::new(catalogue, Credentials::none()).with_http(http).model("lab/test").unwrap();
    let mut agent =
        Agent::new(Options::new().open(file).unwrap(), &cwd).with_model(model, ThinkingLevel::High);
    agent.store_choice().unwrap();
    agent.submit(Submission::typed("and now?"), &Cancel::new()).await.unwrap();
    agent.quit().await;
    drop(agent);

    let after = own_context(file);
    let said = after["messages"].as_array().unwrap();
    assert_eq!(said.len(), before["messages"].as_array().unwrap().len() + 2);
    assert_eq!(said.last().unwrap()["content"][0]["text"], "from us");
    assert_same("gone on with by us", &peer.contexts(&files)[0], &after);
    // The service was asked with the whole conversation of pi.
    let asked = server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("what is in note.txt?") && asked.contains("still there?"), "{asked}");
}
