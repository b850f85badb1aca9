//! Talking to a model from the command line: with nothing set up, and against a server in every wire format.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply, ScriptedUsage};

use crate::support::{Home, Run, files};

const FORMATS: [&str; 4] =
    ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"];

/// Sets up one provider, `lab`, that is the given server and speaks `api`.
fn set_up(home: &Home, server: &ModelServer, api: &str) {
    let settings = json!({
        "model": "lab/test",
        "retry": {"baseDelayMs": 1, "maxRetries": 2},
        "providers": {"lab": {
            "baseUrl": server.url(), "api": api,
            "models": [{"id": "test", "contextWindow": 100_000, "maxOutput": 1_000}],
        }},
    });
    home.file("offshoot/settings.json", settings.to_string());
}

fn sessions(home: &Home) -> usize {
    let dir = home.path("offshoot/sessions");
    if dir.exists() { files(&dir).len() } else { 0 }
}

/// The messages of the latest session, as role and text.
fn said(home: &Home) -> Vec<String> {
    said_in(home, "-")
}

fn said_in(home: &Home, session: &str) -> Vec<String> {
    let context: Value = home.run(&["context", session, "--json"]).json();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let messages = context["messages"].as_array().unwrap().iter();
    messages
        .map(|message| format!("{}: {}", message["role"].as_str().unwrap(), text(&message["content"])))
        .collect()
}

#[test]
fn with_nothing_set_up_the_offline_model_says_so_and_the_session_is_kept() {
    let home = Home::new();
    let run = home.run(&["-p", "hello"]);
    assert!(run.ok().starts_with("No model is configured"), "{run}");
    assert_eq!(sessions(&home), 1);
    let again = home.run_with_input(&["-c", "-p", "and", "this"], b"from a pipe\n");
    again.ok();
    assert_eq!(said(&home)[2], "user: from a pipe\n\nand this");
    assert_eq!(sessions(&home), 1);
}

#[test]
fn the_answer_comes_from_the_server_in_every_wire_format() {
    for api in FORMATS {
        let usage = ScriptedUsage { input: 12, output: 3, ..ScriptedUsage::default() };
        let server =
            ModelServer::start([Reply::answer().text("hello from the server").usage(usage)]).unwrap();
        let home = Home::new();
        set_up(&home, &server, api);
        let run = home.run(&["-p", "hi"]);
        assert_eq!(run.ok(), "hello from the server\n", "{api}: {run}");
        assert_eq!(said(&home), ["user: hi", "assistant: hello from the server"], "{api}");
        assert_eq!(server.requests().len(), 1, "{api}");
        let stats: Value = home.run(&["stats", "-", "--json"]).json();
        assert!(stats.to_string().contains("lab/test"), "{api}: {stats}");
    }
}

#[test]
fn a_tool_is_called_and_its_result_is_sent_back() {
    for api in FORMATS {
        let server = ModelServer::start([
            Reply::answer().text("I look").call("call_1", "read", json!({"path": "notes.txt"})),
            Reply::answer().text("it says: buy milk"),
        ])
        .unwrap();
        let home = Home::new();
        set_up(&home, &server, api);
        home.file("project/notes.txt", "buy milk\n");
        let run = home.run(&["-p", "what do my notes say?"]);
        assert_eq!(run.ok(), "it says: buy milk\n", "{api}: {run}");
        let sent = server.requests()[1].body.to_string();
        assert!(sent.contains("buy milk"), "{api}: {sent}");
    }
}

#[test]
fn a_call_that_nobody_can_be_asked_about_does_not_run() {
    let call = || Reply::answer().call("call_1", "bash", json!({"command": "touch made"}));
    let replies = || [call(), Reply::answer().text("oh")];
    for (arguments, is_made) in [
        (&["-p", "go"][..], false),
        (&["-p", "go", "--yes"], true),
        (&["-p", "go", "--allow", "bash(touch *)"], true),
        (&["-p", "go", "--allow", "bash(ls *)"], false),
    ] {
        let server = ModelServer::start(replies()).unwrap();
        let home = Home::new();
        set_up(&home, &server, "anthropic-messages");
        assert_eq!(home.run(arguments).ok(), "oh\n");
        assert_eq!(home.path("project/made").exists(), is_made, "{arguments:?}");
    }
}

#[test]
fn a_busy_server_is_asked_again_and_a_refusal_is_told() {
    let server =
        ModelServer::start([Reply::error(529, "overloaded"), Reply::answer().text("at last")]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    assert_eq!(home.run(&["-p", "hi"]).ok(), "at last\n");

    let server = ModelServer::start([Reply::error(401, "no such key")]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-completions");
    let run = home.run(&["-p", "hi"]);
    assert_eq!(run.code, 1);
    assert!(run.err().contains("does not accept the key"), "{run}");
    assert_eq!(said(&home)[0], "user: hi", "the prompt is kept");
}

#[test]
fn everything_that_happens_is_told_as_lines_of_json() {
    let server = ModelServer::start([Reply::answer().text("hello")]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-responses");
    let run = home.run(&["-p", "hi", "--mode", "json"]);
    let types: Vec<String> = run
        .ok()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(types.first().map(String::as_str), Some("agent_start"));
    assert_eq!(types.last().map(String::as_str), Some("agent_end"));
    assert!(types.iter().any(|kind| kind == "message_update"), "{types:?}");
}

#[test]
fn a_session_is_forked_named_or_not_kept_at_all() {
    let home = Home::new();
    let file = home.session("u1 user one\na2<u1 assistant two\nu3<a2 user three");
    home.run(&["--fork", &format!("{file}:a2"), "--name", "A copy", "-p", "go on"]).ok();
    assert_eq!(said_in(&home, "A copy")[..3], ["user: one", "assistant: two", "user: go on"]);
    let before = fs::read(&file).unwrap();
    home.run(&["--session", &file, "-p", "more"]).ok();
    assert!(fs::read(&file).unwrap().starts_with(&before));
    let count = sessions(&home);
    home.run(&["--no-session", "-p", "forget it"]).ok();
    assert_eq!(sessions(&home), count);
}

#[test]
fn what_cannot_be_done_is_told_and_nothing_is_written() {
    let home = Home::new();
    let refused = |arguments: &[&str]| -> Run {
        let run = home.run(arguments);
        assert_eq!(sessions(&home), 0, "{arguments:?}");
        run
    };
    assert_snapshot!(refused(&["-p", "hi", "--no-model"]), @"
    --- words
    error: no model is chosen
    --- exit code 1
    ");
    assert_snapshot!(refused(&["-p", "hi", "--model", "no-such-model"]), @"
    --- words
    error: no model `no-such-model`
    --- exit code 1
    ");
    assert_snapshot!(refused(&["-p", "hi", "--model", "claude-haiku-4-5"]), @"
    --- words
    error: no key for anthropic
    hint: set ANTHROPIC_API_KEY
    --- exit code 1
    ");
    assert_snapshot!(refused(&["-p", "hi", "--tools", "read,dance"]), @"
    --- words
    error: there is no tool `dance`
    hint: the tools are: read, bash, edit, write, grep, find, ls
    --- exit code 1
    ");
    assert_snapshot!(refused(&["-p", ""]), @r#"
    --- words
    error: there is nothing to say
    hint: `offshoot -p "…"`, or a command
    --- exit code 2
    "#);
    assert_snapshot!(refused(&["-c", "-p", "hi"]), @"
    --- words
    error: no session was made in [home]/project yet
    hint: `offshoot sessions --all` lists the sessions of all projects
    --- exit code 1
    ");
    home.file("offshoot/settings.json", "{\"model\": 7}");
    assert_snapshot!(refused(&["-p", "hi"]), @"
    --- words
    error: [home]/offshoot/settings.json is wrong: invalid type: integer `7`, expected a string at line 1 column 11
    hint: docs/settings.md tells what it may hold
    --- exit code 1
    ");
}
