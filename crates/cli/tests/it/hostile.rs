//! Session files come from anywhere: nothing in them may steer the terminal, turn text around, or hide.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use testkit::hostile::{Allowed, Watched, watch};
use testkit::model_server::{ModelServer, Reply};

use crate::interactive::screen::{DOWN, ESCAPE, Screen};
use crate::support::Home;
use crate::talk::set_up;

/// Sequences that have been used to control terminals, spoof text or hide it.
const STRINGS: [&str; 26] = [
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;file:///etc/passwd\u{1b}\\click\u{1b}]8;;\u{1b}\\",
    "\u{1b}]9;notice\u{7}",
    "\u{1b}]777;notify;a;b\u{7}",
    "\u{1b}[6n",
    "\u{1b}[c\u{1b}[21t",
    "\u{1b}P1$r0m\u{1b}\\",
    "\u{1b}_Gf=100;AAAA\u{1b}\\",
    "\u{1b}^private\u{1b}\\",
    "\u{1b}[?1049h\u{1b}[?25l",
    "\u{1b}[35mpurple\u{1b}[0m",
    "\u{1b}c",
    "\u{9b}2J",
    "\u{9d}0;title\u{9c}",
    "\u{90}q\u{9c}",
    "a\u{8}\u{8}\u{8}b",
    "one\rtwo",
    "\u{0}\u{7}\u{b}\u{c}\u{e}\u{f}\u{7f}",
    "\u{202e}desrever\u{202c}",
    "\u{2066}a\u{2067}b\u{2069}\u{200e}\u{200f}\u{61c}",
    "in\u{200b}vis\u{200d}ible\u{2060}\u{feff}\u{ad}",
    "\u{e0001}\u{e0068}\u{e0069}\u{e007f}\u{e0100}",
    "two\u{2028}lines\u{2029}here\u{85}",
    "\u{1b}[200~pasted\u{1b}[201~\n\u{1b}[1A\u{1b}[2K",
];

/// A session that says `evil` in every place a session can.
fn session(evil: &str) -> String {
    let mut lines = Lines(vec![json!({
        "type": "session", "version": 3, "id": "0123abcd", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": format!("/w/{evil}"),
        "parentSession": format!("/s/{evil}.jsonl"),
    })]);
    conversation(&mut lines, evil);
    settings(&mut lines, evil);
    side_branch(&mut lines, evil);
    let mut text: String = lines
        .0
        .iter()
        .map(|line| {
            format!(
                "{line}
"
            )
        })
        .collect();
    // As raw bytes, not escaped as JSON asks for.
    text.push_str(&format!(
        "{{\"type\":\"message\",\"id\":\"bad{evil}
"
    ));
    text
}

/// The lines of a session in the making.
struct Lines(Vec<Value>);

impl Lines {
    fn add(&mut self, id: &str, parent: Option<&str>, body: &Value) {
        let mut line =
            json!({"type": "", "id": id, "parentId": parent, "timestamp": "2025-01-01T00:00:01.000Z"});
        line.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        self.0.push(line);
    }
}

fn usage() -> Value {
    json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": {"total": 0.1}})
}

fn conversation(lines: &mut Lines, evil: &str) {
    let usage = usage();
    lines.add("user0001", None, &json!({"type": "message", "message": {"role": "user", "content": evil}}));
    lines.add(
        "call0002",
        Some("user0001"),
        &json!({"type": "message", "message": {
            "role": "assistant", "provider": evil, "model": evil, "api": evil, "stopReason": evil, "usage": usage,
            "content": [
                {"type": "thinking", "thinking": evil},
                {"type": "text", "text": evil},
                {"type": "toolCall", "id": evil, "name": evil, "arguments": {"path": evil, "command": evil, evil: evil}},
                {"type": "toolCall", "id": "e", "name": "edit", "arguments": {"path": evil, "oldText": evil, "newText": format!("{evil}x")}},
                {"type": "image", "data": evil, "mimeType": evil},
                {"type": evil, evil: evil},
            ],
        }}),
    );
    lines.add(
        "tool0003",
        Some("call0002"),
        &json!({"type": "message", "message": {
            "role": "toolResult", "toolCallId": evil, "toolName": evil, "isError": true, "details": {"diff": format!("+{evil}\n-{evil}")},
            "content": [{"type": "text", "text": evil}],
        }}),
    );
    lines.add(
        "bash0004",
        Some("tool0003"),
        &json!({"type": "message", "message": {
            "role": "bashExecution", "command": evil, "output": evil, "exitCode": 3,
        }}),
    );
    lines.add(
        "fail0005",
        Some("bash0004"),
        &json!({"type": "message", "message": {
            "role": "assistant", "content": [], "stopReason": "error", "errorMessage": evil, "provider": evil, "model": evil,
        }}),
    );
    lines.add(
        "role0006",
        Some("fail0005"),
        &json!({"type": "message", "message": {"role": evil, "content": evil}}),
    );
}

fn settings(lines: &mut Lines, evil: &str) {
    let usage = usage();
    let odd = format!("odd{evil}");
    lines.add(
        "model007",
        Some("role0006"),
        &json!({"type": "model_change", "provider": evil, "modelId": evil}),
    );
    lines.add("think008", Some("model007"), &json!({"type": "thinking_level_change", "thinkingLevel": evil}));
    lines.add("usage009", Some("think008"), &json!({"type": "usage", "kind": evil, "usage": usage}));
    lines.add(
        "cust0010",
        Some("usage009"),
        &json!({"type": "custom", "customType": evil, "data": {evil: evil}}),
    );
    lines.add(
        "cmsg0011",
        Some("cust0010"),
        &json!({"type": "custom_message", "customType": evil, "content": evil, "display": true}),
    );
    lines.add("labl0012", Some("cmsg0011"), &json!({"type": "label", "targetId": "user0001", "label": evil}));
    lines.add("name0013", Some("labl0012"), &json!({"type": "session_info", "name": evil}));
    lines.add("odd00014", Some("name0013"), &json!({"type": evil, evil: evil}));
    lines.add(
        &odd,
        Some("odd00014"),
        &json!({"type": "message", "message": {"role": "user", "content": evil}}),
    );
    lines.add(
        "lost0016",
        Some(evil),
        &json!({"type": "message", "message": {"role": "user", "content": "orphan"}}),
    );
}

fn side_branch(lines: &mut Lines, evil: &str) {
    lines.add(
        "side0017",
        Some("user0001"),
        &json!({"type": "message", "message": {"role": "user", "content": evil}}),
    );
    lines.add(
        "summ0018",
        Some("side0017"),
        &json!({"type": "branch_summary", "fromId": evil, "summary": evil,
        "details": {"readFiles": [evil], "modifiedFiles": [evil]}}),
    );
    lines.add(
        "comp0019",
        Some("summ0018"),
        &json!({"type": "compaction", "summary": evil, "firstKeptEntryId": evil, "tokensBefore": 1}),
    );
    lines.add(
        "edit0020",
        Some("comp0019"),
        &json!({"type": "context_edit", "targetId": "side0017", "replacement": {"content": evil}}),
    );
}

/// Looks at what reaches a terminal; our own colours are no strangers.
fn watched(seen: &[u8]) -> Watched {
    let is_ours =
        |numbers: &[u16], action| action == 'm' && matches!(numbers, [0 | 1 | 2 | 4 | 31 | 32 | 33 | 36]);
    watch(seen, Allowed { lines: true, sequence: is_ours })
}

/// Every command that prints content; `S` stands for the session.
const COMMANDS: &[&[&str]] = &[
    &["tree", "S", "--filter", "all", "--ids"],
    &["tree", "S", "--turns"],
    &["tree", "S", "--branches"],
    &["tree", "S", "--search", "E"],
    &["tree", "S", "--flat"],
    &["path", "S"],
    &["show", "S", "call0002"],
    &["show", "S", "tool0003"],
    &["show", "S", "bash0004"],
    &["show", "S", "fail0005"],
    &["show", "S", "cust0010"],
    &["show", "S", "cmsg0011"],
    &["show", "S", "labl0012"],
    &["show", "S", "summ0018"],
    &["show", "S", "comp0019"],
    &["show", "S", "edit0020"],
    &["context", "S", "name0013"],
    &["context", "S", "edit0020"],
    &["context", "S", "--llm"],
    &["check", "S"],
    &["tree", "E"],
    &["path", "S", "E"],
    &["path", "S", "@E"],
    &["cherry-pick", "S", "call0002", "--again", "--dry-run"],
    &["cherry-pick", "S", "call0002", "--again", "--note", "E"],
    &["merge", "S", "name0013", "--dry-run"],
    &["pop", "S", "-m", "E"],
    &["sessions", "--all", "--session-dir", "."],
    &["branches", "S", "--all"],
    &["labels", "S"],
    &["label", "S", "user0001"],
    &["label", "S", "user0001", "E"],
    &["name", "S"],
    &["name", "S", "E"],
    &["switch", "S", "user0001"],
    &["branch-here", "S", "user0001"],
    &["fork", "S", "side0017", "-o", "./new.jsonl"],
    &["clone", "S", "-o", "./new.jsonl"],
    &["import", "S"],
    &["new", "--name", "E"],
    &["diff", "S", "name0013", "edit0020", "--all"],
    &["stats", "S"],
    &["follow", "S", "--from-start", "--until-idle", "0"],
    &["repair", "S", "--dry-run"],
    &["repair", "S"],
    &["migrate", "S"],
];

#[test]
fn no_foreign_escape_sequence_reaches_a_terminal_from_any_place() {
    let home = Home::new();
    for (number, evil) in STRINGS.iter().enumerate() {
        let text = session(evil);
        for command in COMMANDS {
            // Each command gets a fresh file: some of them append, or make others.
            drop(fs::remove_file(home.path("project/new.jsonl")));
            let file = home.file("project/s.jsonl", &text);
            // An argument cannot hold a zero byte.
            let argument = evil.replace('\0', "");
            let arguments: Vec<String> = command
                .iter()
                .map(|word| match *word {
                    "S" => file.clone(),
                    word if word.contains('E') => word.replace('E', &argument),
                    word => word.to_owned(),
                })
                .collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let seen = home.on_terminal(80, &arguments);
            let watched = watched(&seen);
            assert_eq!(
                watched.foreign,
                Vec::<String>::new(),
                "string {number}, {command:?}: {}",
                watched.printed
            );
            assert!(!watched.printed.trim().is_empty(), "string {number}, {command:?} printed nothing");
        }
    }
}

#[test]
fn the_watcher_sees_what_it_is_there_for() {
    for (number, evil) in STRINGS.iter().enumerate() {
        assert!(!watched(evil.as_bytes()).foreign.is_empty(), "string {number}");
    }
}

#[test]
fn an_answer_reaches_a_terminal_cleaned_and_a_pipe_as_it_is() {
    for (number, evil) in STRINGS.iter().enumerate() {
        let (home, text) = (Home::new(), format!("before {evil} after"));
        let server = ModelServer::start((0..3).map(|_| Reply::answer().text(&text))).unwrap();
        set_up(&home, &server, "anthropic-messages");
        let seen = watched(&home.on_terminal(80, &["-p", "hi", "--no-session"]));
        assert_eq!(seen.foreign, Vec::<String>::new(), "string {number}");
        assert!(
            seen.printed.contains("before") && seen.printed.contains("after"),
            "string {number}: {}",
            seen.printed
        );
        assert_eq!(home.run(&["-p", "hi", "--no-session"]).ok(), format!("{text}\n"), "string {number}");
        let told = home.run(&["-p", "hi", "--no-session", "--mode", "json"]);
        let is_control = |byte: &u8| *byte < b' ' && *byte != b'\n';
        assert!(!told.stdout.iter().any(is_control), "string {number}: {told}");
    }
}

#[test]
fn the_refusal_of_a_server_reaches_a_terminal_cleaned() {
    for (number, evil) in STRINGS.iter().enumerate() {
        let home = Home::new();
        let server = ModelServer::start([Reply::error(400, &format!("before {evil} after"))]).unwrap();
        set_up(&home, &server, "anthropic-messages");
        let seen = watched(&home.on_terminal(80, &["-p", "hi", "--no-session"]));
        assert_eq!(seen.foreign, Vec::<String>::new(), "string {number}");
        assert!(seen.printed.contains("before"), "string {number}: {}", seen.printed);
    }
}

#[test]
fn an_answer_that_does_not_end_is_ended_with_a_reason_and_a_bounded_session() {
    let home = Home::new();
    let frame = json!({"id": "x", "choices": [{"index": 0, "delta": {"content": "word ".repeat(13_000)}}]});
    let stream = format!("data: {frame}\n\n").repeat(200);
    let server = ModelServer::start([Reply::bytes(200, "text/event-stream", stream)]).unwrap();
    set_up(&home, &server, "openai-completions");
    let session = home.session("u1 user one\na2<u1 assistant two");
    let run = home.run(&["--session", &session, "-p", "hi"]);
    assert!(run.err().ends_with("error: the answer was ended because it is larger than 8 MiB\n"), "{run}");
    let size = fs::metadata(session).unwrap().len();
    assert!((8 << 20..9 << 20).contains(&size), "{size}");
}

/// The kinds of sequences that a terminal got, without the colours and places of text, and without titles.
fn kinds(seen: &[u8]) -> BTreeSet<String> {
    let is_usual = |_: &[u16], action| matches!(action, 'A'..='H' | 'X' | 'd' | 'm' | 'r');
    let kind = |what: String| match what.split_once("], ") {
        Some((first, _)) if first.starts_with("OSC") => first.to_owned(),
        _ => what,
    };
    let found = watch(seen, Allowed { lines: false, sequence: is_usual }).foreign;
    found.into_iter().map(kind).collect()
}

/// Opens a session that says `text` everywhere, looks at its tree and at the list of sessions, and leaves.
fn walk(text: &str) -> BTreeSet<String> {
    let home = Home::new();
    let project = session_tree::encode_cwd(home.path("project").to_str().unwrap());
    let file = home.file(&format!("offshoot/sessions/{project}/s.jsonl"), session(text));
    let mut screen = Screen::start(&home.command(&["--session", &file]), 100, 30);
    screen.wait_for("offshoot/offline");
    for (command, shown) in [("/tree", "Session Tree"), ("/resume", "Resume Session")] {
        screen.say(command);
        screen.wait_for(shown);
        screen.send(DOWN);
        screen.send(ESCAPE);
        screen.wait_without(shown);
    }
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    kinds(&bytes)
}

#[test]
fn the_chat_the_tree_and_the_list_send_nothing_that_a_harmless_session_does_not_cause() {
    let harmless = walk("harmless words");
    for part in STRINGS.chunks(9) {
        let hostile = walk(&part.join(" "));
        let foreign: Vec<&String> = hostile.difference(&harmless).collect();
        assert_eq!(foreign, Vec::<&String>::new());
    }
}
