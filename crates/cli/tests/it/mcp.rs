//! MCP in the program: sessions for other agents, and the tools of servers in `-p`, in the chat and over RPC.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::drawing::session_text;
use testkit::model_server::{ModelServer, Reply};
use testkit::postgres::PostgresServer;

use crate::interactive::screen::{ENTER, Screen};
use crate::support::Home;
use crate::talk::set_up;

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
";

/// Writes down which labels and entries extensions see.
const WRITES_DOWN: &str = r#"
import * as fs from "node:fs";
export default (pi: any) => {
  pi.on("session_label", (event: any) => fs.appendFileSync("seen", `label ${event.targetId} ${event.label}\n`));
  pi.on("session_before_fork", () => fs.appendFileSync("seen", "fork\n"));
  pi.on("session_entry", (event: any) => fs.appendFileSync("seen", `entry ${event.entry.type}\n`));
};
"#;

/// A home whose catalog has the session `ses`.
fn home() -> Home {
    let home = Home::new();
    home.file("offshoot/sessions/--p--/ses.jsonl", session_text(TREE));
    home
}

/// A client of `offshoot mcp` that speaks the revision 2025-11-25.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::of(home.command(&[&["mcp"], arguments].concat()))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, input, output };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        assert_eq!(client.request("initialize", &hello)["result"]["protocolVersion"], "2025-11-25");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Json) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Json) -> Json {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn call(&mut self, tool: &str, arguments: &Json) -> (bool, Json) {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let is_error = answer["result"]["isError"] == true;
        (is_error, serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
    }

    /// Closes the input; the server ends by itself.
    fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn the_sessions_of_a_database_are_offered() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    let session = database.replacen('?', "/team?", 1);
    let file = home.file("project/s.jsonl", session_text(TREE));
    home.run(&["db", "init", &database]).ok();
    home.run(&["db", "push", &file, &session]).ok();
    let mut command = home.command(&["mcp", "--write"]);
    command.env("OFFSHOOT_STORE", &database);
    let mut client = Client::of(command);

    let (_, sessions) = client.call("sessions", &json!({}));
    assert!(sessions.to_string().contains("\"ses\""), "{sessions}");
    let (_, found) = client.call("search", &json!({"query": "Node"}));
    assert!(found.to_string().contains("ses:u3"), "{found}");
    let (is_error, read) = client.call("read", &json!({"session": "ses", "entry": "u3"}));
    assert!(!is_error && read.to_string().contains("Use Node"), "{read}");
    let (is_error, answer) =
        client.call("label", &json!({"session": "ses", "entry": "u3", "label": "tried"}));
    assert!(!is_error, "{answer}");
    assert_eq!(client.end(), 0);
    assert!(home.run(&["labels", &session]).ok().contains("tried"));
}

#[test]
fn tools_that_write_run_the_same_hooks_as_commands() {
    let home = home();
    home.file("offshoot/extensions/x.ts", WRITES_DOWN);
    let mut client = Client::start(&home, &["--write"]);
    let (failed, labelled) =
        client.call("label", &json!({"session": "ses", "entry": "a4", "label": "-n slow one"}));
    assert!(!failed, "{labelled}");
    assert_eq!((&labelled["entryId"], &labelled["label"]), (&json!("a4"), &json!("-n slow one")));
    let (failed, noted) = client.call("note", &json!({"session": "ses", "text": "--help\nNode was slow"}));
    assert!(!failed, "{noted}");
    let (failed, forked) = client.call("fork", &json!({"session": "ses", "entry": "@-n slow one"}));
    assert!(!failed, "{forked}");
    assert!(fs::metadata(forked["path"].as_str().unwrap()).is_ok(), "{forked}");
    let seen = fs::read_to_string(home.path("project/seen")).unwrap();
    assert_eq!(seen, "label a4 -n slow one\nentry label\nentry custom_message\nfork\n");
    let (_, context) = client.call("context", &json!({"session": "ses"}));
    assert!(context.to_string().contains("Node was slow"), "{context}");
    let (failed, error) = client.call("label", &json!({"session": "ses", "entry": "zzzz", "label": "x"}));
    assert!(failed && error.as_str().unwrap().contains("zzzz"), "{error}");
    let (failed, error) = client.call("note", &json!({"session": "ses", "text": "  "}));
    assert_eq!((failed, error), (true, json!("a note needs a text")));
    assert_eq!(client.end(), 0);
}

#[test]
fn without_write_nothing_is_written_not_even_a_cache_beside_the_session() {
    let home = home();
    let file = home.path("offshoot/sessions/--p--/ses.jsonl");
    let before = fs::read(&file).unwrap();
    let mut client = Client::start(&home, &[]);
    let listed = client.request("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8, "{listed}");
    for (tool, arguments) in [
        ("search", json!({"query": "node"})),
        ("tree", json!({"session": "ses"})),
        ("branches", json!({"session": "ses"})),
        ("diff", json!({"session": "ses", "one": "branch:2"})),
    ] {
        let (failed, answer) = client.call(tool, &arguments);
        assert!(!failed, "{answer}");
    }
    assert_eq!(client.end(), 0);
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_signal_ends_the_server_although_its_input_is_open() {
    let home = home();
    let mut client = Client::start(&home, &[]);
    let started = Instant::now();
    let id = client.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    client.child.wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// Sends a request to `/mcp`; gives the status.
fn post(address: &str, headers: &str, path: &str) -> u16 {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    std::str::from_utf8(&line[9..]).unwrap().parse().unwrap()
}

#[test]
fn over_http_only_this_machine_under_its_own_name_is_answered() {
    let home = home();
    for (token, extra, good) in [(None, "", 200), (Some("s3cret"), "Authorization: Bearer s3cret\r\n", 200)] {
        let mut command = home.command(&["mcp", "--http", "0", "--allow-host", "build.example"]);
        command.envs(token.map(|token| ("OFFSHOOT_MCP_TOKEN", token)));
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let with = |headers: &str| post(&address, &format!("{headers}{extra}"), "/mcp");
        assert_eq!(with(&format!("Host: {address}\r\n")), good);
        assert_eq!(with("Host: build.example\r\nOrigin: https://build.example\r\n"), good);
        assert_eq!(with("Host: evil.example\r\n"), 403);
        assert_eq!(with(&format!("Host: {address}\r\nOrigin: http://evil.example\r\n")), 403);
        assert_eq!(post(&address, &format!("Host: {address}\r\n{extra}"), "/other"), 404);
        if token.is_some() {
            assert_eq!(post(&address, &format!("Host: {address}\r\n"), "/mcp"), 401);
            assert_eq!(
                post(&address, &format!("Host: {address}\r\nAuthorization: Bearer s3cre\r\n"), "/mcp"),
                401
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let refused = home.run(&["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err().contains("0.0.0.0:0 can be reached from other machines"), "{refused}");
}

/// Configures our own server, and one that hangs.
fn configure(home: &Home, servers: &Json) {
    home.file("offshoot/mcp.json", json!({"mcpServers": servers}).to_string());
}

fn own_server(home: &Home) -> Json {
    let sessions = home.path("offshoot/sessions/--p--");
    json!({"command": env!("CARGO_BIN_EXE_offshoot"), "args": ["mcp", "--session-dir", sessions]})
}

fn tools(server: &ModelServer, request: usize) -> Vec<String> {
    let tools = server.requests()[request].body["tools"].clone();
    tools
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn tools_of_a_server_are_called_by_the_model_if_a_rule_allows_it() {
    let call = || Reply::answer().call("c1", "mcp__own__search", json!({"query": "node"}));
    for (rule, allowed) in [("mcp__own__*", true), ("mcp__own__search", true), ("mcp__other__*", false)] {
        let home = home();
        let server = ModelServer::start([call(), Reply::answer().text("found it")]).unwrap();
        set_up(&home, &server, "anthropic-messages");
        configure(&home, &json!({"own": own_server(&home)}));
        let run = home.run(&["-p", "what did I try?", "--no-session", "--allow", rule]);
        assert_eq!(run.ok(), "found it\n");
        assert!(tools(&server, 0).contains(&"mcp__own__file_history".to_owned()), "{:?}", tools(&server, 0));
        let result = server.requests()[1].body["messages"].to_string();
        assert_eq!(result.contains("Use Node"), allowed, "{rule}: {result}");
        assert_eq!(run.err().contains("was not run: not allowed"), !allowed, "{run}");
    }
}

#[test]
fn the_options_and_extensions_choose_among_tools_of_servers_too() {
    let home = home();
    let server = ModelServer::start((0..3).map(|_| Reply::answer().text("ok"))).unwrap();
    set_up(&home, &server, "anthropic-messages");
    configure(&home, &json!({"own": own_server(&home)}));
    home.run(&["-p", "hi", "--no-session", "--tools", "read,mcp__own__tree"]).ok();
    assert_eq!(tools(&server, 0), ["read", "mcp__own__tree"]);
    home.file("project/x.ts", "export default (pi: any) => pi.registerTool({name: 'dice', description: 'd', parameters: {type: 'object'}, execute: async () => ({content: []})});");
    home.run(&["-p", "hi", "--no-session", "-e", "x.ts"]).ok();
    let all = tools(&server, 1);
    assert!(
        ["read", "bash", "dice", "mcp__own__tree"].iter().all(|name| all.contains(&(*name).to_owned())),
        "{all:?}"
    );
    let chooses = "export default (pi: any) => pi.on('agent_start', () => pi.setActiveTools(['read']));";
    home.file("project/x.ts", chooses);
    home.run(&["-p", "hi", "--no-session", "-e", "x.ts"]).ok();
    assert_eq!(tools(&server, 2), ["read"]);
}

#[test]
fn servers_of_a_project_need_trust_and_a_failing_one_is_explained() {
    let home = home();
    let project =
        json!({"mcpServers": {"theirs": own_server(&home), "gone": {"command": "no-such-program"}}});
    home.file("project/.mcp.json", project.to_string());
    configure(&home, &json!({"off": {"command": "x", "enabled": false}}));
    let before = home.run(&["mcp", "list"]);
    assert!(before.ok().starts_with("off  turned off\n"), "{before}");
    assert!(
        before.err().contains(".mcp.json of this project is not used: it is not trusted yet"),
        "{before}"
    );
    home.run(&["trust", "--yes"]).ok();
    let after = home.run(&["mcp", "list", "--json"]);
    assert_eq!(after.code, 1);
    let rows: Vec<Json> = serde_json::from_str(after.out()).unwrap();
    let states: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["state"].as_str().unwrap())).collect();
    assert_eq!(states, [("off", "off"), ("theirs", "ready"), ("gone", "failed")]);
    assert_eq!(rows[1]["tools"][0], "mcp__theirs__search");
    assert_eq!(rows[2]["reason"], "the program `no-such-program` was not found");
    assert_eq!(rows[2]["hint"], "install it, or give its path, then `/reload`");
    assert!(after.err().contains("error: 1 server cannot be used"), "{after}");
}

#[test]
fn the_chat_neither_waits_for_a_server_that_hangs_nor_leaves_it_behind() {
    let home = home();
    let call = Reply::answer().call("c1", "mcp__own__sessions", json!({}));
    let server =
        ModelServer::start([Reply::answer().text("Hello."), call, Reply::answer().text("One session.")])
            .unwrap();
    set_up(&home, &server, "anthropic-messages");
    let pid = home.path("pid");
    let hang = format!("echo $$ > {}; exec sleep 1000", pid.display());
    configure(
        &home,
        &json!({
            "own": own_server(&home), "hang": {"command": "sh", "args": ["-c", hang]}, "gone": {"command": "no-such-program"},
        }),
    );
    let mut command = home.command(&[]);
    command.stdin(Stdio::null());
    let started = Instant::now();
    let mut screen = Screen::start(&command, 100, 40);
    screen.wait_for("every conversation is a tree");
    screen.wait_for("the MCP server `gone` does not run: the program `no-such-program` was not found");
    screen.ask("hi", "Hello.");
    assert!(started.elapsed() < Duration::from_secs(25), "nothing waits for the limit of 30 seconds");
    screen.say("/mcp");
    screen.wait_for("hang  starting");
    screen.wait_for("own  ready, 8 tools");
    screen.say("what is there?");
    screen.wait_for("it calls `sessions` of the MCP server `own`");
    screen.answer(ENTER);
    screen.wait_for("One session.");
    assert!(server.requests()[2].body["messages"].to_string().contains("ses"));
    screen.wait_without("Working");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
    let id = fs::read_to_string(pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z"), "the server outlived the chat: {stat}");
}

#[test]
fn an_agent_over_rpc_gets_the_tools_of_servers_when_they_have_answered() {
    let home = home();
    let server = ModelServer::start((0..50).map(|_| Reply::answer().text("ok"))).unwrap();
    set_up(&home, &server, "anthropic-messages");
    configure(&home, &json!({"own": own_server(&home)}));
    let mut child = home.command(&["--mode", "rpc", "--no-session"]).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut lines = output.lines();
    for turn in 0..50 {
        writeln!(input, "{}", json!({"type": "prompt", "message": "hi"})).unwrap();
        let is_end = |line: &str| line.contains("\"agent_settled\"");
        lines.by_ref().find(|line| is_end(line.as_ref().unwrap())).unwrap().unwrap();
        if tools(&server, turn).contains(&"mcp__own__search".to_owned()) {
            break;
        }
        assert!(turn < 49, "the tools did not come");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
