//! The program as a person runs it: what it prints, what it leaves alone, how it ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn offshoot(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_offshoot")).args(arguments).env_clear().output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Makes the demo session in a directory of its own.
fn demo() -> (tempfile::TempDir, PathBuf, String) {
    let dir = tempfile::tempdir().unwrap();
    let output = offshoot(&["demo", dir.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    (dir, file, text(&output.stdout))
}

#[test]
fn the_demo_shows_a_tree_with_its_active_branch_first() {
    let (_dir, file, shown) = demo();
    let expected = "\
• user: Build a CLI that greets people
├⊟ • assistant: Which language do you have in mind?
│  ├⊟ • [branch summary]: Node works and starts in 60 ms.
│  │     • [rust] user: Too slow. Use Rust instead
│  │     • [bash: cargo new greeter]
│  │     • assistant: It starts in one millisecond.
│  │     • [compaction: 12k tokens]
│  │     • user: Add a --shout flag
│  │     • assistant: HELLO, ANN! ← active
│  └⊟ user: Use Node
│        [write: /home/ann/greeter/greet.js]
│        assistant: Done, but it needs 60 ms to say hello.
└⊟ user: No CLI after all: a web page
      assistant: A page that greets, then.
";
    assert!(shown.starts_with(expected), "{shown}");
    let again = offshoot(&["tree", file.to_str().unwrap()]);
    assert_eq!(text(&again.stdout), expected);
}

#[test]
fn reading_commands_leave_file_and_directory_as_they_were() {
    let (dir, file, _) = demo();
    let before = fs::read(&file).unwrap();
    let path = file.to_str().unwrap();
    for arguments in
        [vec!["tree", path, "--filter", "all"], vec!["context", path, "@rust"], vec!["check", path]]
    {
        let output = offshoot(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn damage_is_explained_and_gives_a_failing_exit_code() {
    let (_dir, file, _) = demo();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    let output = offshoot(&["check", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("cut off while it was written"), "{}", text(&output.stdout));
}

#[test]
fn what_is_no_session_is_refused_with_a_reason_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.txt");
    fs::write(&file, "my notes\n").unwrap();
    let output = offshoot(&["tree", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let words = text(&output.stderr);
    assert!(words.contains("not a valid pi session") && words.contains("hint: "), "{words}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "my notes\n");
}

#[test]
fn escape_codes_of_a_session_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    let hostile = concat!(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"x\u001b]52;c;eA==\u0007\u009b2J\u202ey"}}"#,
        "\n",
        r#"{"type":"label","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","targetId":"a","label":"\u001b[2J"}"#,
        "\n",
    );
    fs::write(&file, hostile).unwrap();
    for command in ["tree", "context", "check"] {
        let output = offshoot(&[command, file.to_str().unwrap()]);
        let shown = text(&output.stdout);
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{shown:?}");
    }
}
