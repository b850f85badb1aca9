//! The program as other programs use it: `--mode rpc`, `--mode jsonrpc` and `offshoot serve`.

mod bad_input;
mod clients;
mod json_rpc;
mod tree;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

use crate::support::Home;
use crate::talk::set_up;

/// Longer than any machine needs; a test that works never waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
";

/// A peer that sends and receives lines of JSON.
pub(crate) struct Peer {
    input: Option<Box<dyn Write>>,
    lines: Receiver<String>,
    /// The records that came while another one was waited for.
    pub(crate) skipped: VecDeque<Json>,
}

impl Peer {
    pub(crate) fn new(input: impl Write + 'static, output: impl Read + Send + 'static) -> Self {
        let (send, lines) = mpsc::channel();
        let output = BufReader::new(output);
        std::thread::spawn(move || {
            // Unlike `lines`, only a line feed ends a line.
            output
                .split(b'\n')
                .map_while(Result::ok)
                .try_for_each(|line| send.send(String::from_utf8(line).unwrap()))
        });
        Peer { input: Some(Box::new(input)), lines, skipped: VecDeque::new() }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        self.input.as_mut().unwrap().flush().unwrap();
    }

    pub(crate) fn send(&mut self, record: &Json) {
        self.write(&format!("{record}\n"));
    }

    /// Ends the input of the program.
    pub(crate) fn end(&mut self) {
        self.input = None;
    }

    /// Returns the next record that fits; those before it are kept.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Json) -> bool) -> Json {
        if let Some(at) = self.skipped.iter().position(&is_wanted) {
            return self.skipped.remove(at).unwrap();
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let record: Json =
                        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                    if is_wanted(&record) {
                        return record;
                    }
                    self.skipped.push_back(record);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("it did not come; there was {:#?}", self.skipped)
                }
            }
        }
    }

    pub(crate) fn event(&mut self, name: &str) -> Json {
        self.until(|record| record["type"] == name)
    }

    /// Runs a command and returns its answer.
    pub(crate) fn answer(&mut self, mut command: Json) -> Json {
        command["id"] = json!("request");
        self.send(&command);
        self.until(|record| record["type"] == "response" && record["id"] == "request")
    }

    /// Runs a command that succeeds and returns its data.
    pub(crate) fn data(&mut self, command: Json) -> Json {
        let mut answer = self.answer(command);
        assert_eq!(answer["success"], true, "{answer:#}");
        answer["data"].take()
    }

    /// Runs a command that fails and returns the error.
    pub(crate) fn error(&mut self, command: Json) -> String {
        let answer = self.answer(command);
        assert_eq!(answer["success"], false, "{answer:#}");
        answer["error"].as_str().unwrap().to_owned()
    }
}

/// A running program.
pub(crate) struct Program {
    pub(crate) child: Child,
    pub(crate) peer: Peer,
}

impl Program {
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command(arguments);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let peer = Peer::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Program { child, peer }
    }

    /// Ends the input and returns the exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.peer.end();
        self.code()
    }

    /// Waits for the end of the program and returns the exit code.
    pub(crate) fn code(&mut self) -> i32 {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the program does not end");
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Returns the most memory that the program had, in MiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn rpc(home: &Home, arguments: &[&str]) -> Program {
    Program::start(home, &[&["--mode", "rpc", "--model", "offshoot/offline"], arguments].concat())
}

#[test]
fn a_prompt_is_answered_first_and_its_events_follow() {
    let home = Home::new();
    let mut program = rpc(&home, &[]);
    program.peer.send(&json!({"type": "prompt", "id": "1", "message": "hello"}));
    program.peer.event("agent_settled");
    let types = program.peer.skipped.iter().map(|record| record["type"].as_str().unwrap().to_owned());
    let mut types: Vec<String> = types.collect();
    types.dedup();
    assert_eq!(
        types.join(" "),
        "response agent_start turn_start message_start message_end message_start message_update message_end \
         turn_end agent_end"
    );
    assert!(program.peer.skipped.iter().all(|record| record.get("seq").is_none()));
    assert_eq!(program.end(), 0);
}

#[test]
fn the_last_line_needs_no_line_feed_and_cr_is_removed() {
    let home = Home::new();
    let mut program = rpc(&home, &[]);
    program.peer.write(
        "{\"type\":\"set_session_name\",\"name\":\"a\u{2028}b\"}\r\n{\"type\":\"get_state\",\"id\":\"last\"}",
    );
    program.peer.end();
    let name = program.peer.event("session_info_changed")["name"].clone();
    assert_eq!(name, "a\u{2028}b");
    let state = program.peer.until(|record| record["id"] == "last");
    assert_eq!(state["success"], true);
    assert_eq!(program.code(), 0);
}

#[test]
fn signals_end_the_program_with_their_codes() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let home = Home::new();
        let mut program = rpc(&home, &[]);
        program.peer.data(json!({"type": "get_state"}));
        program.signal(signal);
        assert_eq!(program.code(), code, "{signal}");
    }
}

#[test]
fn a_turn_that_runs_is_stopped_at_the_end_of_the_input_and_nothing_is_lost() {
    let server =
        ModelServer::start([Reply::answer().text("This answer does not end").stall_after(2)]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-completions");
    let mut program = Program::start(&home, &["--mode", "rpc"]);
    program.peer.data(json!({"type": "prompt", "message": "hello"}));
    program.peer.event("message_update");
    let file = program.peer.data(json!({"type": "get_state"}))["sessionFile"].as_str().unwrap().to_owned();
    assert_eq!(program.end(), 0);
    let context = home.run(&["context", &file, "--json"]).json();
    let last = context["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["stopReason"], "aborted", "{last:#}");
}

#[test]
fn a_client_approves_an_extension_once_for_all_its_calls() {
    let call = |id: &str| Reply::answer().call(id, "look", json!({}));
    let answer = || Reply::answer().text("ok");
    let server = ModelServer::start([call("1"), answer(), call("2"), answer()]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-completions");
    home.file(
        "project/x.ts",
        r#"export default (pi: any) => pi.registerTool({
            name: "look", description: "Look", parameters: { type: "object", properties: {} },
            execute: async () => ({ content: [{ type: "text", text: "seen" }] }),
        });"#,
    );
    let mut program = Program::start(&home, &["--mode", "rpc", "-e", "x.ts"]);
    let peer = &mut program.peer;
    peer.data(json!({"type": "subscribe", "approvals": true}));
    peer.send(&json!({"type": "prompt", "message": "look"}));
    let asked = peer.event("extension_ui_request");
    assert_eq!(asked["approval"]["rule"], "extension(x)", "{asked:#}");
    peer.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": "Always"}));
    assert_eq!(peer.event("tool_execution_end")["isError"], false);
    peer.event("agent_settled");
    peer.send(&json!({"type": "prompt", "message": "look again"}));
    let end = peer.until(|record| {
        assert_ne!(record["type"], "extension_ui_request", "{record:#}");
        record["type"] == "tool_execution_end"
    });
    assert_eq!(end["isError"], false, "{end:#}");
    peer.event("agent_settled");
    assert_eq!(program.end(), 0);
}

#[test]
fn a_tool_call_is_refused_unless_a_client_approves() {
    let call = |id: &str| Reply::answer().call(id, "bash", json!({"command": "printf done > out.txt"}));
    let answer = || Reply::answer().text("ok");
    let server = ModelServer::start([call("1"), answer(), call("2"), answer(), call("3"), answer()]).unwrap();
    let home = Home::new();
    set_up(&home, &server, "openai-completions");
    let mut program = Program::start(&home, &["--mode", "rpc"]);
    let peer = &mut program.peer;
    let out = home.path("project/out.txt");

    peer.send(&json!({"type": "prompt", "message": "no client approves"}));
    let end = peer.event("tool_execution_end");
    assert_eq!(end["isError"], true, "{end:#}");
    assert!(end.to_string().contains("the user cannot be asked"), "{end:#}");
    assert!(end.get("durationMs").is_none(), "it did not run");
    peer.event("agent_settled");

    peer.data(json!({"type": "subscribe", "approvals": true}));
    for (answer, is_error) in [(json!({"value": "No"}), true), (json!({"value": "Yes"}), false)] {
        assert!(!out.exists());
        peer.send(&json!({"type": "prompt", "message": "ask"}));
        let asked = peer.event("extension_ui_request");
        assert_eq!(asked["approval"]["args"]["command"], "printf done > out.txt");
        assert_eq!(asked["options"][0], "Yes");
        let mut response = json!({"type": "extension_ui_response", "id": asked["id"]});
        response.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        peer.send(&response);
        assert_eq!(peer.event("tool_execution_end")["isError"], is_error);
        peer.event("agent_settled");
    }
    assert!(out.exists());
    assert_eq!(program.end(), 0);
}
