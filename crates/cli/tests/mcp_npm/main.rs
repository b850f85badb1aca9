//! MCP with programs of others: the inspector and the conformance suite as clients, the reference servers as servers.
//!
//! They are read from the directory that `OFFSHOOT_MCP_NPM` names: `npm install` has put these packages there, in the versions
//! of `scripts/test`: `@modelcontextprotocol/inspector`, `conformance`, `server-everything` and `server-filesystem`. They need
//! Node 22 first on the path. None of them is part of this project.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "the other tests use more of the home")]
#[path = "../it/support.rs"]
mod support;

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::Home;
use testkit::drawing::session_text;
use testkit::model_server::{ModelServer, Reply};

const OFFSHOOT: &str = env!("CARGO_BIN_EXE_offshoot");

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
";

/// Returns the script of a program of npm.
fn script(name: &str) -> String {
    let Some(directory) = std::env::var_os("OFFSHOOT_MCP_NPM") else {
        panic!("OFFSHOOT_MCP_NPM does not say where the packages are");
    };
    let path = PathBuf::from(directory).join("node_modules/.bin").join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display())).display().to_string()
}

/// Returns the path of Node, which has to be version 22.
fn node() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let node =
        std::env::split_paths(&path).map(|directory| directory.join("node")).find(|file| file.is_file());
    let node = node.unwrap().display().to_string();
    let version = Command::new(&node).arg("--version").output().unwrap().stdout;
    assert!(version.starts_with(b"v22."), "{}", String::from_utf8_lossy(&version));
    node
}

/// Ends a program when the test does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn home() -> Home {
    let home = Home::new();
    home.file("offshoot/sessions/--p--/ses.jsonl", session_text(TREE));
    home
}

fn inspector(home: &Home, options: &[&str], server_options: &[&str]) -> Output {
    let mut command = Command::new(node());
    command.arg(script("mcp-inspector")).arg("--cli").args(options).arg("--").arg("/usr/bin/env");
    // The inspector does not pass its environment to the server.
    command.arg(format!("OFFSHOOT_HOME={}", home.path("offshoot").display()));
    command.arg(format!("HOME={}", home.path("").display()));
    command.args([OFFSHOOT, "mcp"]).args(server_options).current_dir(home.path("project"));
    command.stdin(Stdio::null()).output().unwrap()
}

fn inspected(home: &Home, options: &[&str], server_options: &[&str]) -> Json {
    let output = inspector(home, options, server_options);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{options:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{options:?}: {error}: {text}"))
}

#[test]
fn the_inspector_lists_and_calls_every_tool() {
    let home = home();
    let listed = inspected(&home, &["--method", "tools/list"], &["--write"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let calls: &[(&str, &[&str], &str)] = &[
        ("search", &["query=node"], "ses:u3"),
        ("sessions", &[], "Build a CLI"),
        ("tree", &["session=ses"], "Use Rust"),
        ("read", &["session=ses", "entry=a4"], "Done, 60 ms"),
        ("branches", &["session=ses"], "branch:2"),
        ("context", &["session=ses"], "Done, 1 ms"),
        ("diff", &["session=ses", "one=branch:2"], "Use Node"),
        ("file_history", &["path=src/main.rs"], "entries"),
        ("fork", &["session=ses", "entry=a4"], "parentSession"),
        ("label", &["session=ses", "entry=a4", "label=slow"], "slow"),
        ("note", &["session=ses", "text=remember this"], "entryId"),
    ];
    assert_eq!(names, calls.iter().map(|call| call.0).collect::<Vec<_>>());
    for (name, arguments, expected) in calls {
        let mut options = vec!["--method", "tools/call", "--tool-name", name];
        arguments.iter().for_each(|argument| options.extend(["--tool-arg", argument]));
        let result = inspected(&home, &options, &["--write"]);
        assert_eq!(result["isError"], false, "{name}: {result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains(expected), "{name}: {result}");
    }
    let resources = inspected(&home, &["--method", "resources/list"], &[]);
    assert_eq!(resources["resources"][0]["uri"], "session://ses");
    let entry = inspected(&home, &["--method", "resources/read", "--uri", "session://ses/u3"], &[]);
    assert!(entry.to_string().contains("Use Node"), "{entry}");
}

/// The scenarios of the suite that work with any server. The others need a server that is written
/// for the suite: `logging-set-level`, `completion-complete`, `tools-call-*`, `json-schema-2020-12`, `elicitation-*`,
/// `server-sse-*`, `resources-read-*`, `resources-templates-read`, `resources-subscribe`, `resources-unsubscribe`, `prompts-*`.
const SCENARIOS: [&str; 5] =
    ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

#[test]
fn the_server_passes_the_conformance_suite() {
    let home = home();
    let mut server = Running(home.command(&["mcp", "--http", "127.0.0.1:0"]).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_start_matches("serving ").split(';').next().unwrap().to_owned();
    for scenario in SCENARIOS {
        let mut command = Command::new(node());
        command.args([&script("conformance"), "server", "--url", &url, "--scenario", scenario]);
        let output = command.current_dir(home.path("project")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(", 0 failed, 0 warnings"), "{scenario}: {text}");
    }
}

fn set_up(home: &Home, model: &ModelServer, servers: &Json) {
    let settings = json!({"model": "lab/test", "providers": {"lab": {
        "baseUrl": model.url(), "api": "anthropic-messages",
        "models": [{"id": "test", "contextWindow": 100_000, "maxOutput": 1_000, "readsImages": true}],
    }}});
    home.file("offshoot/settings.json", settings.to_string());
    home.file("offshoot/mcp.json", json!({"mcpServers": servers}).to_string());
}

/// Lets a model call a tool; gives the result that it gets.
fn result_of(home: &Home, servers: &Json, tool: &str, arguments: Json) -> Json {
    let model = ModelServer::start([Reply::answer().call("c1", tool, arguments), Reply::answer().text("ok")])
        .unwrap();
    set_up(home, &model, servers);
    let run = home.run(&[
        "-p",
        "go",
        "--no-session",
        "--allow",
        &format!("{}__*", tool.rsplit_once("__").unwrap().0),
    ]);
    assert_eq!(run.ok(), "ok\n", "{run}");
    let messages = model.requests()[1].body["messages"].clone();
    messages.as_array().unwrap().last().unwrap()["content"][0].clone()
}

#[test]
fn the_reference_servers_start_and_their_tools_work() {
    let home = Home::new();
    home.file("project/notes.txt", "remember the milk");
    let start = |name: &str, arguments: &[&str]| {
        let script = script(name);
        let arguments = [&[script.as_str()], arguments].concat();
        json!({"command": node(), "args": arguments})
    };
    let servers = json!({
        "everything": start("mcp-server-everything", &["stdio"]), "files": start("mcp-server-filesystem", &["."]),
    });
    home.file("offshoot/mcp.json", json!({"mcpServers": servers}).to_string());
    let listed: Vec<Json> = serde_json::from_str(home.run(&["mcp", "list", "--json"]).ok()).unwrap();
    assert!(listed.iter().all(|server| server["state"] == "ready"), "{listed:?}");
    let echo = result_of(&home, &servers, "mcp__everything__echo", json!({"message": "hello"}));
    assert_eq!(echo["content"][0]["text"], "Echo: hello", "{echo}");
    let image = result_of(&home, &servers, "mcp__everything__get-tiny-image", json!({}));
    assert!(image["content"].as_array().unwrap().iter().any(|block| block["type"] == "image"), "{image}");
    let slow = result_of(
        &home,
        &servers,
        "mcp__everything__trigger-long-running-operation",
        json!({"duration": 1, "steps": 2}),
    );
    assert!(slow.to_string().contains("completed"), "{slow}");
    let file = result_of(&home, &servers, "mcp__files__read_text_file", json!({"path": "notes.txt"}));
    assert!(file.to_string().contains("remember the milk"), "{file}");
    let outside = result_of(&home, &servers, "mcp__files__read_text_file", json!({"path": "/etc/passwd"}));
    assert_eq!(outside["is_error"], true, "{outside}");
}

#[test]
fn a_reference_server_is_used_over_http() {
    // A port that is free at this moment.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(node());
    command.args([&script("mcp-server-everything"), "streamableHttp"]).env("PORT", port.to_string());
    let _server = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let started = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(30), "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let servers = json!({"remote": {"type": "http", "url": format!("http://127.0.0.1:{port}/mcp")}});
    let sum = result_of(&Home::new(), &servers, "mcp__remote__get-sum", json!({"a": 2, "b": 3}));
    assert!(sum.to_string().contains('5'), "{sum}");
}
