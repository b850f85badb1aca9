//! JSON-RPC 2.0 on standard input and output, and on a socket with many clients.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

use super::{PATIENCE, Peer, Program, TREE};
use crate::support::Home;
use crate::talk::set_up;

impl Peer {
    /// Sends a request and returns the whole response.
    fn call(&mut self, method: &str, params: &Json) -> Json {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}));
        self.until(|record| record["id"] == method)
    }

    fn result(&mut self, method: &str, params: &Json) -> Json {
        let mut response = self.call(method, params);
        assert!(response.get("error").is_none(), "{response:#}");
        response["result"].take()
    }

    fn code(&mut self, method: &str, params: &Json) -> i64 {
        self.call(method, params)["error"]["code"].as_i64().unwrap()
    }

    fn notification(&mut self, name: &str) -> Json {
        let method = format!("session/{name}");
        self.until(|record| record["method"] == method.as_str())["params"].take()
    }
}

/// Connects to a socket as soon as it is there.
fn connect(path: &Path) -> Peer {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Ok(stream) = UnixStream::connect(path) {
            return Peer::new(stream.try_clone().unwrap(), stream);
        }
        assert!(Instant::now() < end, "no server");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn methods_are_commands_and_errors_have_codes() {
    let home = Home::new();
    let file = home.session(TREE);
    let arguments = ["--mode", "jsonrpc", "--session", &file, "--no-model"];
    let mut program = Program::start(&home, &arguments);
    let peer = &mut program.peer;
    assert_eq!(peer.result("resolve_ref", &json!({"ref": "leaf"}))["entryId"], "a6");
    assert_eq!(peer.result("set_session_name", &json!({"name": "x"})), Json::Null);
    assert_eq!(peer.notification("session_info_changed")["name"], "x");
    assert_eq!(peer.code("no_such_method", &json!({})), -32601);
    assert_eq!(peer.code("get_entry", &json!({"ref": "zzzz"})), -32602);
    assert_eq!(peer.code("get_entry", &json!({"ref": 5})), -32602);
    assert_eq!(peer.code("prompt", &json!({"message": "hello"})), -32003);
    assert_eq!(peer.code("extension_ui_response", &json!({"id": "x", "cancelled": true})), -32602);
    peer.write("nonsense\n[]\n{\"jsonrpc\":\"2.0\"}\n");
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(peer.until(|record| record["id"].is_null())["error"]["code"].as_i64().unwrap());
    }
    assert_eq!(codes, [-32700, -32600, -32600]);
    // A notification gets no answer, and a batch gets one.
    peer.send(&json!({"jsonrpc": "2.0", "method": "get_state"}));
    peer.send(&json!([
        {"jsonrpc": "2.0", "id": 1, "method": "resolve_ref", "params": {"ref": "u1"}},
        {"jsonrpc": "2.0", "method": "get_state"},
        {"jsonrpc": "2.0", "id": 2, "method": "no_such_method"},
    ]));
    let batch = peer.until(Json::is_array);
    assert_eq!(batch.as_array().unwrap().len(), 2);
    assert_eq!((&batch[0]["result"]["entryId"], &batch[1]["error"]["code"]), (&json!("u1"), &json!(-32601)));
    assert!(peer.skipped.iter().all(|record| record.get("result").is_none()));
    assert_eq!(program.end(), 0);
}

#[test]
fn frames_with_a_length_are_answered_in_kind() {
    let home = Home::new();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"get_labels"}"#;
    let input = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let run = home.run_with_input(&["--mode", "jsonrpc"], input.as_bytes());
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"labels":[]}}"#;
    assert_eq!(run.ok(), format!("Content-Length: {}\r\n\r\n{answer}", answer.len()));
}

#[test]
fn many_clients_share_one_agent() {
    let slow = Reply::answer().text("This answer does not end").stall_after(2);
    let server = ModelServer::start([Reply::answer().text("one"), slow]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-completions");
    let socket = home.path("s");
    let mut program = Program::start(&home, &["serve", "--socket", socket.to_str().unwrap()]);
    let (mut one, mut other) = (connect(&socket), connect(&socket));
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let seq = other.result("subscribe", &json!({}))["seq"].clone();
    assert_eq!(one.result("prompt", &json!({"message": "hello"}))["disposition"], "started");
    one.notification("agent_settled");
    other.notification("agent_settled");
    let entries = other.result("get_entries", &json!({}));
    assert_eq!(entries, one.result("get_entries", &json!({})));

    // A client that leaves in the middle of a turn stops nothing.
    one.skipped.clear();
    one.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "prompt", "params": {"message": "again"}}));
    one.notification("message_update");
    drop(one);
    assert_eq!(other.result("get_state", &json!({}))["isStreaming"], true);
    assert_eq!(other.code("navigate_tree", &json!({"targetId": "root"})), -32001);

    // One that comes back gets all events since a number.
    let mut back = connect(&socket);
    let resumed =
        back.result("subscribe", &json!({"since": seq, "events": ["agent_start", "agent_settled"]}));
    assert_eq!(resumed["resumed"], true);
    let starts = back.skipped.iter().filter(|record| record["method"] == "session/agent_start").count();
    assert_eq!(starts, 2);
    other.result("abort", &json!({}));
    back.notification("agent_settled");

    let second = home.run(&["serve", "--no-session", "--socket", socket.to_str().unwrap()]);
    assert!(second.err().contains("another server listens"), "{second}");
    let file = home.file("project/file", "text");
    let refused = home.run(&["serve", "--no-session", "--socket", &file]);
    assert!(refused.err().contains("a file is there already"), "{refused}");
    program.signal("TERM");
    assert_eq!(program.code(), 143);
    assert!(!socket.exists());
}

#[test]
fn a_dialog_is_answered_once() {
    let home = Home::new();
    let extension = home.file(
        "ask.js",
        "export default (pi) => pi.registerCommand('ask', { handler: async (_, ctx) => {
            ctx.ui.notify(String(await ctx.ui.confirm('Sure?', 'Really?')));
        } });",
    );
    let socket = home.path("s");
    let socket_text = socket.to_str().unwrap().to_owned();
    let arguments = ["serve", "--socket", &socket_text, "--model", "offshoot/offline", "-e", &extension];
    let mut program = Program::start(&home, &arguments);
    let (mut one, mut other) = (connect(&socket), connect(&socket));
    one.send(&json!({"jsonrpc": "2.0", "id": "ask", "method": "prompt", "params": {"message": "/ask"}}));
    let asked = one.notification("extension_ui_request");
    assert_eq!(other.notification("extension_ui_request"), asked);
    let yes = json!({"id": asked["id"], "confirmed": true});
    assert_eq!(other.result("extension_ui_response", &yes), Json::Null);
    assert_eq!(one.code("extension_ui_response", &yes), -32602);
    assert_eq!(one.notification("extension_ui_request")["message"], "true");
    assert_eq!(one.until(|record| record["id"] == "ask")["result"]["disposition"], "handled");

    // A dialog is cancelled when no client is left to answer it, and the agent goes on.
    one.send(&json!({"jsonrpc": "2.0", "id": "ask", "method": "prompt", "params": {"message": "/ask"}}));
    one.notification("extension_ui_request");
    drop((one, other));
    let mut third = connect(&socket);
    assert_eq!(third.result("abort", &json!({})), Json::Null);
    program.signal("TERM");
    assert_eq!(program.code(), 143);
}
