//! Talking to a model from the command line: with nothing set up, and against a server in every wire format.

mod foreign;
mod notices;
mod system_prompt;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use testkit::drawing::session_text;
use testkit::model_server::{ModelServer, Reply, ScriptedUsage};

use crate::support::{Home, Run, files};

const FORMATS: [&str; 4] =
    ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"];

/// Sets up one provider, `lab`, that is the given server and speaks `api`.
pub(crate) fn set_up(home: &Home, server: &ModelServer, api: &str) {
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

/// Runs a command whose new ids begin elsewhere, so that they are not those of an earlier one.
fn later(home: &Home, ids: u32, arguments: &[&str]) -> String {
    let command =
        home.command(arguments).env("OFFSHOOT_IDS", ids.to_string()).stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8(command.stderr).unwrap();
    assert!(command.status.success(), "{arguments:?}: {words}");
    String::from_utf8(command.stdout).unwrap()
}

fn sessions(home: &Home) -> usize {
    let dir = home.path("offshoot/sessions");
    if dir.exists() { files(&dir).len() } else { 0 }
}

/// The messages of the latest session, as role and text.
pub(crate) fn said(home: &Home) -> Vec<String> {
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
fn a_file_that_is_named_on_the_command_line_goes_with_the_prompt_and_one_from_a_pipe_does_not() {
    let home = Home::new();
    let notes = home.file("notes.md", "greet kindly\n");
    let named = format!("see @{notes}");
    home.run(&["-p", &named]).ok();
    let file = format!("<file name=\"{notes}\">\ngreet kindly\n</file>");
    assert_eq!(said(&home)[0], format!("user: {named}"));
    assert!(said(&home)[1].ends_with(&file), "{:?}", said(&home));
    let home = Home::new();
    home.run_with_input(&["-p", "and", "this"], named.as_bytes()).ok();
    assert!(said(&home)[1].starts_with("assistant: "), "{:?}", said(&home));
}

#[test]
fn unreadable_lines_are_reported_when_a_session_is_opened() {
    let home = Home::new();
    let mut text = session_text("u1 user one\n a2<u1 assistant two");
    text.extend_from_slice(b"{\"type\":\"mess\n");
    let file = home.file("project/s.jsonl", text);
    let run = home.run(&["--session", &file, "-p", "go on"]);
    run.ok();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(told.contains("note: 1 line of this session cannot be read, all others can"), "{run}");
    assert!(told.contains("`offshoot check "), "{run}");
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
fn a_call_that_needs_approval_without_a_user_does_not_run() {
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
fn a_busy_server_is_retried_and_a_refusal_is_reported() {
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
fn a_prompt_survives_a_program_that_ends_before_the_answer() {
    for signal in ["-KILL", "-TERM"] {
        let server = ModelServer::start([Reply::answer().text("never").stall_after(0)]).unwrap();
        let home = Home::new();
        set_up(&home, &server, "anthropic-messages");
        let mut child = home.command(&["-p", "hello"]).stdin(Stdio::null()).spawn().unwrap();
        let patience = Instant::now() + Duration::from_secs(90);
        while server.requests().is_empty() {
            assert!(Instant::now() < patience, "nothing was asked");
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert!(!child.wait().unwrap().success(), "{signal}");
        assert_eq!(said(&home)[0], "user: hello", "{signal}");
        assert_eq!(sessions(&home), 1, "{signal}");
    }
}

#[test]
fn all_events_are_printed_as_lines_of_json() {
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
    assert!(types.ends_with(&["agent_end".to_owned(), "session_totals".to_owned()]), "{types:?}");
    assert!(types.iter().any(|kind| kind == "message_update"), "{types:?}");
}

#[test]
fn the_totals_of_branch_and_file_come_last() {
    let usage = |input, output| ScriptedUsage { input, output, ..ScriptedUsage::default() };
    let server = ModelServer::start([
        Reply::answer().text("one").usage(usage(100, 10)),
        Reply::answer().text("two").usage(usage(200, 20)),
    ])
    .unwrap();
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    home.run(&["-p", "first"]).ok();
    home.run(&["branch-here", "-", "~1"]).ok();
    let run = home.run(&["-c", "-p", "second", "--mode", "json"]);
    let totals: Value = serde_json::from_str(run.ok().lines().last().unwrap()).unwrap();
    assert_eq!(totals["thisBranch"]["totalTokens"], 220, "{totals}");
    assert_eq!(totals["wholeFile"]["totalTokens"], 330, "{totals}");
    assert_eq!((&totals["wholeFile"]["input"], &totals["wholeFile"]["output"]), (&json!(300), &json!(30)));
    assert!(totals["sessionFile"].as_str().unwrap().ends_with(".jsonl"));
}

#[test]
fn a_command_of_the_person_runs_and_is_kept() {
    let home = Home::new();
    assert_snapshot!(home.run(&["-p", "!echo hello; echo oh >&2"]), @"
    hello
    oh
    ");
    assert_snapshot!(home.run(&["-c", "-p", "!!echo for me; exit 3"]), @"
    for me
    --- words
    error: the command ended with exit code 3
    --- exit code 1
    ");
    assert_eq!(sessions(&home), 1);
    let server = ModelServer::start([Reply::answer().text("seen")]).unwrap();
    set_up(&home, &server, "openai-completions");
    home.run(&["-c", "-p", "what was that?"]).ok();
    let sent = server.requests()[0].body["messages"].to_string();
    assert!(sent.contains("echo hello") && !sent.contains("for me"), "{sent}");
}

#[test]
fn what_a_pipe_brings_is_never_run() {
    let home = Home::new();
    let run = home.run_with_input(&["-p"], b"!touch made");
    run.ok();
    assert_eq!(said(&home)[0], "user: !touch made");
    assert_snapshot!(home.run_with_input(&["-p", "!touch made"], b"more"), @"
    --- words
    error: a command takes nothing from a pipe
    hint: `offshoot -p '!command' < /dev/null`
    --- exit code 2
    ");
    assert!(!home.path("project/made").exists());
    let line = later(&home, 300, &["-p", "!touch made", "--mode", "json", "--name", "Made"]);
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["type"], &line["message"]["exitCode"]), (&json!("message_end"), &json!(0)));
    assert!(home.path("project/made").exists());
    assert_eq!(home.run(&["name", "Made"]).ok(), "Made\n");
}

#[test]
fn a_session_is_chosen_from_a_list_in_the_chat_only() {
    let home = Home::new();
    home.run(&["-p", "the first", "--name", "First"]).ok();
    assert_snapshot!(home.run(&["-r", "-p", "go on"]), @"
    --- words
    error: `--resume` opens a list of sessions, which needs the chat at a terminal
    hint: `--session SESSION` names one, `offshoot sessions` lists them
    --- exit code 2
    ");
    assert_eq!(sessions(&home), 1);
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
fn impossible_changes_are_reported_and_nothing_is_written() {
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
    hint: `offshoot models` lists the models
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
    error: there is nothing to say: no prompt is given, and nothing comes from a pipe
    hint: `offshoot -p "…"` asks once, `offshoot` in a terminal begins a conversation, `offshoot --help` shows all commands
    --- exit code 2
    "#);
    assert_snapshot!(refused(&["-c", "-p", "hi"]), @"
    --- words
    error: no session was made in [home]/project yet
    hint: `offshoot sessions --all` lists the sessions of all projects
    --- exit code 1
    ");
}

#[test]
fn a_command_refuses_every_option_for_talking() {
    let home = Home::new();
    let session = home.session("u1 user one");
    let options: [&[&str]; 19] = [
        &["--mode", "json"],
        &["--continue"],
        &["--resume"],
        &["--session", "x"],
        &["--fork", "x"],
        &["--no-session"],
        &["--name", "x"],
        &["--model", "x"],
        &["--no-model"],
        &["--thinking", "low"],
        &["--tools", "read"],
        &["--allow", "write"],
        &["--yes"],
        &["--system-prompt", "x"],
        &["--append-system-prompt", "x"],
        &["--no-context-files"],
        &["--extension", "x.ts"],
        &["--no-extensions"],
        &["--approve"],
    ];
    for option in options {
        let run = home.run(&[option, &["tree", &session]].concat());
        assert_eq!(run.code, 2, "{option:?}: {run}");
        assert!(run.err().contains("takes no options for talking"), "{option:?}: {run}");
    }
    home.run(&["tree", &session]).ok();
}

/// A control character takes six bytes in a session file.
#[test]
fn a_prompt_that_could_not_be_read_again_is_refused_before_anything_is_written() {
    let home = Home::new();
    let run = home.run_with_input(&["-p"], &[1; 45 << 20]);
    assert_eq!(run.code, 1);
    let words = String::from_utf8_lossy(&run.stderr);
    assert!(words.contains("the entry takes 283115522 bytes in the session file"), "{words}");
    assert_eq!(sessions(&home), 0);
}
