//! Wrong commands, endless lines, clients that do not read, many requests at once: a clear error each, and bounded memory.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use super::{TREE, rpc};
use crate::support::Home;

#[test]
fn wrong_commands_get_errors_that_name_the_problem() {
    let home = Home::new();
    let mut program = rpc(&home, &[]);
    let peer = &mut program.peer;
    assert_eq!(peer.error(json!({"type": "fly"})), "Unknown command: fly");
    let cases = [
        (json!({"type": "prompt"}), "missing field `message`"),
        (json!({"type": "prompt", "message": 5}), "expected a string"),
        (json!({"type": "prompt", "message": "x", "images": [{"data": 1}]}), "expected a string"),
        (json!({"type": "set_thinking_level", "level": "hard"}), "unknown variant `hard`"),
        (json!({"type": "set_auto_retry", "enabled": "yes"}), "expected a boolean"),
        (json!({"type": "subscribe", "since": -1}), "expected u64"),
        (json!({"type": "list_sessions", "cursor": "x"}), "cursor"),
        (json!({"type": "get_path", "ref": "zzzz"}), "zzzz"),
        (json!({"type": "merge", "ref": "--help"}), "--help"),
        (json!({"type": "import_session", "path": "/no/such/file"}), "/no/such/file"),
        (json!({"type": "switch_session", "sessionPath": "/no/such/file"}), "/no/such/file"),
    ];
    for (command, expected) in cases {
        let error = peer.error(command.clone());
        assert!(error.contains(expected), "{command}: {error}");
    }
    peer.write("null\n7\n\"x\"\n{\"type\":5,\"id\":\"n\"}\n");
    for _ in 0..3 {
        let answer = peer.until(|record| record.get("id").is_none());
        assert_eq!(answer["error"], "Unknown command: undefined");
    }
    assert_eq!(peer.until(|record| record["id"] == "n")["error"], "Unknown command: 5");
    let deep = format!("{{\"type\":{}\n", "[".repeat(100_000));
    peer.write(&deep);
    assert!(peer.event("response")["error"].as_str().unwrap().contains("Failed to parse command"));
    assert_eq!(program.end(), 0);
}

#[test]
fn a_line_of_100_megabytes_is_refused_in_bounded_memory() {
    let home = Home::new();
    let mut program = rpc(&home, &[]);
    let part = "x".repeat(1 << 20);
    program.peer.write("{\"type\":\"prompt\",\"message\":\"");
    for _ in 0..100 {
        program.peer.write(&part);
    }
    program.peer.write("\"}\n");
    let answer = program.peer.event("response");
    assert_eq!((&answer["command"], &answer["success"]), (&json!("parse"), &json!(false)));
    assert!(answer["error"].as_str().unwrap().contains("longer than 64 MiB"), "{answer}");
    program.peer.data(json!({"type": "get_state"}));
    assert!(program.peak_memory() < 400, "{} MiB", program.peak_memory());
    assert_eq!(program.end(), 0);
}

#[test]
fn fifty_requests_at_once_are_all_answered() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut program = rpc(&home, &["--session", &file]);
    let types = ["get_state", "get_tree", "list_branches", "set_session_name", "get_context"];
    for number in 0..50 {
        program.peer.send(&json!({"type": types[number % 5], "id": number.to_string(), "name": "x"}));
    }
    let mut answered = BTreeSet::new();
    for _ in 0..50 {
        let answer = program.peer.until(|record| record["type"] == "response");
        assert_eq!(answer["success"], true, "{answer}");
        answered.insert(answer["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(answered.len(), 50);
    assert_eq!(program.end(), 0);
}

#[test]
fn a_client_that_never_reads_is_waited_for_in_bounded_memory() {
    let home = Home::new();
    let text = "y".repeat(1 << 20);
    let file = home.session(&format!("u1 user {text}"));
    let mut command = home.command(&["--mode", "rpc", "--model", "offshoot/offline", "--session", &file]);
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // A thousand answers of a megabyte; the program stops reading when the client does not take them.
    std::thread::spawn(move || (0..1000).try_for_each(|_| input.write_all(b"{\"type\":\"get_entries\"}\n")));
    std::thread::sleep(Duration::from_secs(2));
    let output = child.stdout.take().unwrap();
    let peer = super::Peer::new(std::io::sink(), std::io::empty());
    let mut program = super::Program { child, peer };
    assert!(program.peak_memory() < 300, "{} MiB", program.peak_memory());
    program.signal("TERM");
    assert_eq!(program.code(), 143);
    drop(output);
}
