//! `offshoot acp`: wrong messages, editors that vanish or do not answer, many requests at once.
//!
//! `tests/acp_clients` drives it with real clients.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

use crate::rpc::{Peer, Program};
use crate::support::Home;
use crate::talk::set_up;

/// An editor on a running program.
struct Editor {
    program: Program,
    next_id: u64,
    cwd: String,
}

impl Editor {
    fn start(home: &Home) -> Self {
        Self::start_with(home, &json!({}))
    }

    fn start_with(home: &Home, capabilities: &Json) -> Self {
        let cwd = home.path("project");
        std::fs::create_dir_all(&cwd).unwrap();
        // Every session of the program would get the same fixed ids.
        let mut command = home.command(&["acp"]);
        let mut child = command.env_remove("OFFSHOOT_IDS").stderr(Stdio::inherit()).spawn().unwrap();
        let peer = Peer::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let program = Program { child, peer };
        let mut editor = Editor { program, next_id: 0, cwd: cwd.to_str().unwrap().to_owned() };
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        assert_eq!(editor.result("initialize", &params)["protocolVersion"], 1);
        editor
    }

    fn send(&mut self, method: &str, params: &Json) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.program.peer.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn answer(&mut self, id: u64) -> Json {
        self.program.peer.until(|record| record["id"] == id && record.get("method").is_none())
    }

    fn result(&mut self, method: &str, params: &Json) -> Json {
        let id = self.send(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{answer:#}");
        answer["result"].take()
    }

    fn error(&mut self, method: &str, params: &Json) -> (i64, String) {
        let id = self.send(method, params);
        let error = &self.answer(id)["error"];
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    fn open(&mut self) -> String {
        let params = json!({"cwd": self.cwd, "mcpServers": []});
        self.result("session/new", &params)["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// Waits for an update of this kind.
    fn update(&mut self, kind: &str) -> Json {
        self.program.peer.until(|record| record["params"]["update"]["sessionUpdate"] == kind)
    }
}

/// The files that an editor has open, and the requests that it got for them.
#[derive(Default)]
struct Buffers {
    texts: BTreeMap<String, String>,
    requests: Vec<String>,
}

impl Buffers {
    /// Answers requests for files, and agrees to every tool call, until the prompt ends.
    fn serve(&mut self, editor: &mut Editor, prompt: u64) -> Json {
        loop {
            let record = editor.program.peer.until(|record| {
                record["id"] == prompt && record.get("method").is_none()
                    || record.get("id").is_some() && record.get("method").is_some()
            });
            let Some(method) = record["method"].as_str() else { return record };
            let path = record["params"]["path"].as_str().unwrap_or_default();
            let name = path.rsplit('/').next().unwrap().to_owned();
            self.requests.push(format!("{method} {name}"));
            let answer = match method {
                "session/request_permission" => {
                    Ok(json!({"outcome": {"outcome": "selected", "optionId": "yes"}}))
                }
                "fs/read_text_file" => match self.texts.get(&name) {
                    Some(text) => Ok(json!({ "content": text })),
                    None => Err("it is not open"),
                },
                "fs/write_text_file" if name == "locked.txt" => Err("the buffer is locked"),
                "fs/write_text_file" => {
                    let text = record["params"]["content"].as_str().unwrap().to_owned();
                    self.texts.insert(name, text);
                    Ok(Json::Null)
                }
                other => panic!("{other}"),
            };
            editor.program.peer.send(&match answer {
                Ok(result) => json!({"jsonrpc": "2.0", "id": record["id"], "result": result}),
                Err(message) => {
                    json!({"jsonrpc": "2.0", "id": record["id"], "error": {"code": -32603, "message": message}})
                }
            });
        }
    }
}

#[test]
fn tools_read_unsaved_text_and_write_through_the_editor() {
    let home = Home::new();
    let call = |id: &str, tool: &str, arguments: Json| Reply::answer().call(id, tool, arguments);
    let edit = |path: &str| json!({"path": path, "oldText": "unsaved", "newText": "edited"});
    let server = ModelServer::start(vec![
        call("c1", "read", json!({"path": "open.txt"})),
        call("c2", "edit", edit("open.txt")),
        call("c3", "write", json!({"path": "new.txt", "content": "new"})),
        call("c4", "read", json!({"path": "closed.txt"})),
        call("c5", "edit", edit("locked.txt")),
        call("c6", "read", json!({"path": "image.png"})),
        Reply::answer().text("Done."),
    ])
    .unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start_with(&home, &json!({"fs": {"readTextFile": true, "writeTextFile": true}}));
    let on_disk = |name: &str| home.path("project").join(name);
    std::fs::write(on_disk("open.txt"), "saved").unwrap();
    std::fs::write(on_disk("closed.txt"), "only on the disk").unwrap();
    std::fs::write(on_disk("locked.txt"), "saved").unwrap();
    std::fs::write(on_disk("image.png"), b"\x89PNG\r\n\x1a\n\0\0\0\0").unwrap();
    let mut buffers = Buffers::default();
    buffers.texts.insert("open.txt".to_owned(), "unsaved text".to_owned());
    buffers.texts.insert("locked.txt".to_owned(), "unsaved too".to_owned());

    let session = editor.open();
    let prompt = editor.prompt(&session, "go");
    let end = buffers.serve(&mut editor, prompt);
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert_eq!(buffers.texts["open.txt"], "edited text");
    assert_eq!(buffers.texts["new.txt"], "new");
    assert_eq!(buffers.texts["locked.txt"], "unsaved too");
    assert_eq!(std::fs::read_to_string(on_disk("open.txt")).unwrap(), "saved");
    assert!(!on_disk("new.txt").exists());
    assert!(!buffers.requests.iter().any(|request| request.contains("image.png")), "{:?}", buffers.requests);

    let results: Vec<String> = server.requests().last().unwrap().body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert_eq!(results.len(), 6);
    for (result, expected) in results.iter().zip([
        "unsaved text",
        "Changed 1 place in open.txt",
        "new.txt",
        "only on the disk",
        "the editor did not write locked.txt: the buffer is locked",
        "",
    ]) {
        assert!(result.contains(expected), "{result} has no `{expected}`");
    }
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn an_editor_that_offers_no_files_is_not_asked_for_them() {
    let home = Home::new();
    let write = Reply::answer().call("c1", "write", json!({"path": "a.txt", "content": "text"}));
    let read = Reply::answer().call("c2", "read", json!({"path": "a.txt"}));
    let server = ModelServer::start(vec![write, read, Reply::answer().text("Done.")]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start(&home);
    let session = editor.open();
    let prompt = editor.prompt(&session, "go");
    let mut buffers = Buffers::default();
    buffers.serve(&mut editor, prompt);
    assert_eq!(buffers.requests, ["session/request_permission "]);
    assert_eq!(std::fs::read_to_string(home.path("project/a.txt")).unwrap(), "text");
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn wrong_messages_get_errors_that_name_the_problem() {
    let home = Home::new();
    let mut editor = Editor::start(&home);
    let session = editor.open();
    let cwd = editor.cwd.clone();
    let block = |block: Json| json!({"sessionId": session, "prompt": [block]});
    for (method, params, code, text) in [
        ("session/fly", json!({}), -32601, "there is no method `session/fly`"),
        ("_offshoot/fly", json!({}), -32601, "there is no method"),
        ("session/new", json!({}), -32602, "missing field `cwd`"),
        ("session/new", json!({"cwd": "relative"}), -32602, "absolute"),
        (
            "session/new",
            json!({"cwd": "/no/such/directory"}),
            -32602,
            "/no/such/directory is not a directory",
        ),
        ("session/load", json!({"cwd": cwd, "sessionId": "nothing"}), -32002, "nothing"),
        ("session/prompt", json!({"sessionId": "nothing"}), -32002, "nothing is not open"),
        ("session/prompt", json!({"sessionId": 5}), -32602, "`sessionId` must be a text"),
        ("session/prompt", json!({"sessionId": session}), -32602, "`prompt` must be a list"),
        ("session/prompt", block(json!({"type": "audio"})), -32602, "audio"),
        ("session/set_mode", json!({"sessionId": session, "modeId": "wild"}), -32602, "wild"),
        (
            "session/set_config_option",
            json!({"sessionId": session, "configId": "x", "value": "y"}),
            -32602,
            "`x`",
        ),
        ("session/list", json!({"cursor": "x"}), -32602, "cursor"),
        ("session/fork", json!({"cwd": cwd, "sessionId": session}), -32002, &session),
        ("_offshoot/navigate", json!({"sessionId": session, "targetId": "zzzz"}), -32602, "zzzz"),
        ("authenticate", json!({"methodId": "x"}), -32602, "offshoot login"),
    ] {
        let error = editor.error(method, &params);
        assert!(error.0 == code && error.1.contains(text), "{method} {params}: {error:?}");
    }
    let peer = &mut editor.program.peer;
    peer.write("nonsense\n[]\n\n{\"id\":9}\n{\"jsonrpc\":\"2.0\",\"method\":\"unknown/notification\"}\n");
    let is_unnamed = |record: &Json| record.get("id").is_some_and(Json::is_null);
    assert_eq!(peer.until(is_unnamed)["error"]["code"], -32700);
    assert_eq!(peer.until(is_unnamed)["error"]["code"], -32600);
    editor.open();
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn a_question_that_the_editor_never_answers_ends_with_the_prompt() {
    let home = Home::new();
    let write = |id: &str| Reply::answer().call(id, "write", json!({"path": "a.txt", "content": id}));
    let server = ModelServer::start(vec![write("c1"), write("c2"), Reply::answer().text("Done.")]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start(&home);
    let session = editor.open();
    let first = editor.prompt(&session, "write");
    editor.program.peer.until(|record| record["method"] == "session/request_permission");
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    editor.program.peer.send(&cancel);
    assert_eq!(editor.answer(first)["result"]["stopReason"], "cancelled");

    let second = editor.prompt(&session, "write again");
    let asked = editor.program.peer.until(|record| record["method"] == "session/request_permission");
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome});
    editor.program.peer.send(&answer);
    // A second answer to the same question changes nothing.
    editor.program.peer.send(&answer);
    assert_eq!(editor.answer(second)["result"]["stopReason"], "end_turn");
    assert_eq!(std::fs::read_to_string(home.path("project/a.txt")).unwrap(), "c2");
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn an_editor_that_vanishes_during_a_turn_loses_nothing() {
    let home = Home::new();
    let server = ModelServer::start(vec![Reply::answer().text("This does not end.").stall_after(2)]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start(&home);
    let session = editor.open();
    editor.prompt(&session, "a long question");
    editor.update("agent_message_chunk");
    assert_eq!(editor.program.end(), 0);
    let run = home.run(&["tree", &session]);
    let shown = run.ok();
    assert!(shown.contains("user: a long question") && shown.contains("assistant: This"), "{shown}");
}

#[test]
fn requests_run_side_by_side_and_a_second_prompt_is_refused() {
    let home = Home::new();
    let stalled = || Reply::answer().text("This does not end.").stall_after(2);
    let server = ModelServer::start(vec![stalled(), stalled()]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start(&home);
    let params = json!({"cwd": editor.cwd, "mcpServers": []});
    let requests: Vec<u64> = (0..50).map(|_| editor.send("session/new", &params)).collect();
    let sessions: Vec<String> = requests
        .into_iter()
        .map(|id| editor.answer(id)["result"]["sessionId"].as_str().unwrap().to_owned())
        .collect();
    let first = editor.prompt(&sessions[0], "one");
    editor.update("agent_message_chunk");
    let second = editor.prompt(&sessions[1], "two");
    editor.update("agent_message_chunk");
    let third = editor.prompt(&sessions[0], "three");
    assert_eq!(editor.answer(third)["error"]["code"], -32001);
    for session in &sessions[..2] {
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
        editor.program.peer.send(&cancel);
    }
    for id in [first, second] {
        assert_eq!(editor.answer(id)["result"]["stopReason"], "cancelled");
    }
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn commands_of_the_program_can_be_typed_as_a_prompt() {
    let home = Home::new();
    let mut editor = Editor::start(&home);
    let session = editor.open();
    let offered = editor.update("available_commands_update")["params"]["update"]["availableCommands"].clone();
    let names: Vec<&str> =
        offered.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"undo") && names.contains(&"merge") && !names.contains(&"new"), "{names:?}");
    let say = |editor: &mut Editor, text: &str| {
        editor.program.peer.skipped.clear();
        let id = editor.prompt(&session, text);
        let answer = editor.answer(id);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        editor.update("agent_message_chunk")["params"]["update"]["content"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    say(&mut editor, "hello");
    assert!(say(&mut editor, "/label start").contains("start"));
    assert!(say(&mut editor, "/switch").contains("argument is missing"));
    assert!(say(&mut editor, "/undo").contains("hello"));
    let tree = editor.result("_offshoot/tree", &json!({"sessionId": session}));
    assert!(
        tree["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["label"]["label"] == "start" || row["label"] == "start"),
        "{tree}"
    );
    assert_eq!(editor.program.end(), 0);
}

#[test]
fn the_mcp_servers_of_the_editor_are_there_for_the_first_prompt() {
    let home = Home::new();
    let call = Reply::answer().call("c1", "mcp__history__sessions", json!({}));
    let server = ModelServer::start(vec![call, Reply::answer().text("Found.")]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut editor = Editor::start(&home);
    let env = json!([{"name": "OFFSHOOT_HOME", "value": home.path("offshoot")}]);
    let history =
        json!({"name": "history", "command": env!("CARGO_BIN_EXE_offshoot"), "args": ["mcp"], "env": env});
    let params = json!({"cwd": editor.cwd, "mcpServers": [history]});
    let session = editor.result("session/new", &params)["sessionId"].as_str().unwrap().to_owned();
    let prompt = editor.prompt(&session, "what was tried before?");
    let asked = editor.program.peer.until(|record| record["method"] == "session/request_permission");
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
    editor.program.peer.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome}));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let ended = editor.program.peer.until(|record| record["params"]["update"]["status"] == "completed");
    assert!(ended.to_string().contains("what was tried before?"), "{ended}");
    assert_eq!(editor.program.end(), 0);
}
