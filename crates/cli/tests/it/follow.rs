//! `follow`: what other processes append, as they do.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use insta::assert_snapshot;
use testkit::drawing::session_text;

use crate::support::{Home, files};

const TREE: &str = "
    u1 user Build a CLI
    c2<u1 call bash cargo new cli
    t3<c2 tool bash created
    a4<t3 assistant Done
    l5<a4 label u1 start
";

/// Longer than any machine needs; a test that works never waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of a running command.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    receive
}

fn prompt(text: &str) -> String {
    format!("{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n")
}

#[test]
fn from_the_start_prints_everything_and_writes_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("project"));
    assert_snapshot!(home.run(&["follow", &file, "--from-start", "--until-idle", "0"]), @"
    u1  user: Build a CLI
    c2  assistant: cargo new cli
    t3  [bash: ]
    a4  assistant: Done
    l5  [label: start]
    ");
    assert_snapshot!(home.run(&["follow", &file, "--until-idle", "0"]), @"");
    let json = home.run(&["follow", &file, "--from-start", "--until-idle", "0", "--json"]);
    let entries: String =
        fs::read_to_string(&file).unwrap().lines().skip(1).map(|line| format!("{line}\n")).collect();
    assert_eq!(json.ok(), entries);
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn entries_are_printed_as_another_process_appends_them() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut child = home.command(&["follow", &file, "--from-start"]).spawn().unwrap();
    let lines = lines_of(&mut child);
    for _ in 0..5 {
        lines.recv_timeout(PATIENCE).unwrap();
    }
    for step in 0..3 {
        let run = home.run_with_input(&["append", &file], prompt(&format!("step {step}")).as_bytes());
        let told = lines.recv_timeout(PATIENCE).unwrap();
        assert_eq!(told, format!("{}  user: step {step}", run.ok().trim()));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_migration_by_another_process_is_followed() {
    let home = Home::new();
    let v1 = include_str!("v1.jsonl");
    let file = home.file("project/old.jsonl", v1);
    let mut child = home.command(&["follow", &file, "--from-start", "--json"]).spawn().unwrap();
    let lines = lines_of(&mut child);
    let first: serde_json::Value = serde_json::from_str(&lines.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!(first["id"].as_str().unwrap().len(), 8, "entries are told as the current version spells them");
    lines.recv_timeout(PATIENCE).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), v1);
    let run = home.run_with_input(&["append", &file], prompt("on").as_bytes());
    let told: serde_json::Value = serde_json::from_str(&lines.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!(told["id"], run.ok().trim());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_file_that_goes_away_or_becomes_another_ends_it() {
    let home = Home::new();
    let other = session_text(TREE);
    let other = String::from_utf8(other).unwrap().replacen("\"ses\"", "\"other\"", 1);
    let mut words = String::new();
    for replace in [false, true] {
        let file = home.session(TREE);
        let mut child = home.command(&["follow", &file, "--from-start"]).spawn().unwrap();
        let lines = lines_of(&mut child);
        lines.recv_timeout(PATIENCE).unwrap();
        match replace {
            true => fs::rename(home.file("other", &other), &file).unwrap(),
            false => fs::remove_file(&file).unwrap(),
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        words.push_str(&String::from_utf8(output.stderr).unwrap().replace(&file, "FILE"));
    }
    assert_snapshot!(words, @"
    error: FILE was deleted by another program
    error: FILE was replaced by another program
    ");
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut child = home.command(&["follow", &file]).spawn().unwrap();
    drop(child.stdout.take());
    // It notices with the first news after it has opened the session.
    let mut is_over = || {
        home.run_with_input(&["append", &file], prompt("news").as_bytes()).ok();
        child.try_wait().unwrap().is_some()
    };
    assert!((0..1_000).any(|_| is_over()));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn what_cannot_be_a_number_of_seconds_is_refused() {
    let home = Home::new();
    let file = home.session(TREE);
    for wrong in ["-1", "soon", "NaN", "1e99"] {
        let run = home.run(&["follow", &file, &format!("--until-idle={wrong}")]);
        assert_eq!(run.code, 2, "{run}");
    }
}
