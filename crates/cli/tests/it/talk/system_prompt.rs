//! The system prompt: the default text, the user's, the project's; the same bytes every time.

use serde_json::Value;
use testkit::model_server::{ModelServer, Reply};

use super::{FORMATS, later, set_up};
use crate::support::Home;

/// Runs prompts one after the other; gives the bodies of their requests.
fn requests(home: &Home, api: &str, runs: &[&[&str]]) -> Vec<Value> {
    let replies = runs.iter().map(|_| Reply::answer().text("ok"));
    let server = ModelServer::start(replies).unwrap();
    set_up(home, &server, api);
    for (at, arguments) in (1..).zip(runs) {
        assert_eq!(later(home, at * 100, arguments), "ok\n");
    }
    server.requests().into_iter().map(|request| request.body).collect()
}

fn told(home: &Home, arguments: &[&str]) -> String {
    let bodies =
        requests(home, "openai-completions", &[&[&["-p", "hi", "--no-session"], arguments].concat()]);
    bodies[0]["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn context_files_come_from_the_person_and_from_the_root_of_the_repository_down() {
    let home = Home::new();
    home.file("AGENTS.md", "above the repository");
    home.file("offshoot/AGENTS.md", "of the person");
    home.file("project/.git/HEAD", "");
    home.file("project/CLAUDE.md", "of the project");
    let text = told(&home, &[]);
    let (own, project) = (text.find("of the person").unwrap(), text.find("of the project").unwrap());
    assert!(own < project && !text.contains("above the repository"), "{text}");
    let without = told(&home, &["--no-context-files"]);
    assert!(!without.contains("of the person") && !without.contains("of the project"), "{without}");
}

#[test]
fn the_command_line_goes_before_the_files_and_adds_to_them() {
    let home = Home::new();
    assert!(told(&home, &[]).starts_with("You are offshoot"));
    home.file("offshoot/SYSTEM.md", "You are mine.");
    home.file("offshoot/APPEND_SYSTEM.md", "Be kind.\n");
    let text = told(&home, &["--append-system-prompt", "Be brief.", "--append-system-prompt", "Be exact."]);
    assert!(
        text.starts_with("You are mine.\n\nBe kind.\n\nBe brief.\n\nBe exact.\n\nThe working directory"),
        "{text}"
    );
    let text = told(&home, &["--system-prompt", "You are nobody."]);
    assert!(text.starts_with("You are nobody.\n\nBe kind."), "{text}");
}

/// The messages of a request, whatever the wire format calls them.
fn messages(body: &Value) -> &Vec<Value> {
    ["messages", "input", "contents"].iter().find_map(|name| body[name].as_array()).unwrap()
}

/// A body without its messages and without marks for caches, which move with the end of the conversation.
fn frame(body: &Value) -> String {
    let mut body = body.clone();
    let members = body.as_object_mut().unwrap();
    for name in ["messages", "input", "contents"] {
        members.shift_remove(name);
    }
    body.to_string()
}

#[test]
fn going_on_and_forking_repeat_the_same_bytes_first() {
    for api in FORMATS {
        let home = Home::new();
        home.file("project/AGENTS.md", "Use tabs.");
        let runs: [&[&str]; 3] =
            [&["-p", "one", "--name", "A"], &["-c", "-p", "two"], &["--fork", "A:~1", "-p", "three"]];
        let bodies = requests(&home, api, &runs);
        let marks = |messages: &[Value]| {
            let text = serde_json::to_string(messages).unwrap();
            text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
        };
        let first = messages(&bodies[0]);
        for body in &bodies[1..] {
            let next = &messages(body)[..first.len()];
            assert_eq!(marks(next), marks(first), "{api}");
            // The key of a cache is the id of a session: a fork has its own.
            let without_key = |body: &Value| {
                let mut body = body.clone();
                body.as_object_mut().unwrap().shift_remove("prompt_cache_key");
                frame(&body)
            };
            assert_eq!(without_key(body), without_key(&bodies[0]), "{api}");
        }
    }
}
