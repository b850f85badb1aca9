//! Large and deep sessions: output, memory and work stay in proportion to the file.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Home;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;

/// A session file; `parents` names the parent of every entry by its number.
fn session(home: &Home, parents: impl IntoIterator<Item = Option<usize>>) -> String {
    let mut text = format!("{HEADER}\n");
    for (at, parent) in parents.into_iter().enumerate() {
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent:08x}\""));
        let message = match at % 2 {
            0 => format!(r#"{{"role":"user","content":"prompt {at}"}}"#),
            _ => format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"answer {at}"}}],"stopReason":"stop"}}"#
            ),
        };
        let time = "2025-01-01T00:00:00.000Z";
        writeln!(
            text,
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"{time}","message":{message}}}"#
        )
        .unwrap();
    }
    home.file("project/large.jsonl", text)
}

/// Every entry follows the one before it.
fn chain(home: &Home, entries: usize) -> String {
    session(home, (0..entries).map(|at| at.checked_sub(1)))
}

/// Every second entry has two children, of which one goes on.
fn comb(home: &Home, entries: usize) -> String {
    session(home, (0..entries).map(|at| at.checked_sub(if at % 2 == 0 { 2 } else { 1 })))
}

/// All entries but the first are children of the first.
fn star(home: &Home, entries: usize) -> String {
    session(home, (0..entries).map(|at| (at > 0).then_some(0)))
}

/// Far more than the command needs on a busy machine, far less than quadratic work would take.
const PATIENCE: Duration = Duration::from_secs(120);

fn in_time(home: &Home, arguments: &[&str]) -> String {
    let mut child = home.command(arguments).stdin(Stdio::null()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut output).unwrap());
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{arguments:?}: {status}");
            return reader.join().unwrap();
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{arguments:?} took longer than {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_tree_of_a_comb_has_short_lines() {
    let home = Home::new();
    let entries = 10_000;
    let file = comb(&home, entries);
    let run = home.run(&["tree", &file]);
    let lines: Vec<&str> = run.ok().lines().collect();
    assert_eq!(lines.len(), entries);
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 200, "{longest}");
    for at in [0, 1, 10, entries - 1] {
        let said = format!("{} {at}", if at % 2 == 0 { "prompt" } else { "answer" });
        assert!(lines.iter().any(|line| line.contains(&said)), "{said}");
    }
    let deepest = lines.iter().find(|line| line.contains(&format!("answer {}", entries - 1))).unwrap();
    assert!(deepest.starts_with('…'), "the number of hidden levels comes first: {deepest}");
    // JSON has the real depth.
    let rows: Value = home.run(&["tree", &file, "--json"]).json();
    let depth = rows.as_array().unwrap().iter().map(|row| row["indent"].as_u64().unwrap()).max().unwrap();
    assert!(depth > 4_000, "{depth}");
}

#[test]
fn deep_sessions_are_listed_in_linear_time() {
    let home = Home::new();
    let entries = 60_000;
    let file = comb(&home, entries);
    assert_eq!(in_time(&home, &["tree", "--flat", &file]).lines().count(), entries + 1);
    assert_eq!(in_time(&home, &["path", &file]).lines().count(), entries / 2 + 2);
    let file = chain(&home, entries);
    let context: Value =
        serde_json::from_str(&in_time(&home, &["context", &file, "--llm", "--json"])).unwrap();
    assert_eq!(context["messages"].as_array().unwrap().len(), entries);
}

#[test]
fn the_marks_of_a_context_stand_beside_the_messages_of_a_model() {
    let home = Home::new();
    let file = home.session(
        "u1 user one
         a2<u1 assistant two
         u3<a2 user three
         k4<u3 compaction keep=u3 We started
         u5<k4 user four",
    );
    let run = home.run(&["context", &file, "--llm"]);
    let marks: Vec<(&str, &str)> = run
        .ok()
        .lines()
        .skip(1)
        .map(|line| {
            let mut words = line.split_whitespace();
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect();
    assert_eq!(marks[0], ("k4", "summarised"), "{run}");
    assert_eq!(marks[1], ("u3", "kept"), "{run}");
}

/// Runs a command that may use so much memory, in kilobytes.
#[cfg(target_os = "linux")]
fn limited(home: &Home, kilobytes: u64, arguments: &[&str]) -> std::process::Output {
    let program = home.command(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$@\""), "sh"]);
    command.arg(program.get_program()).args(program.get_args());
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.path("project")).stdin(Stdio::null()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn many_branches_are_listed_in_little_memory() {
    let home = Home::new();
    let entries = 200_000;
    let file = star(&home, entries);
    for (arguments, rows) in [(&["branches", &file][..], entries), (&["branches", &file, "--json"], 1)] {
        let run = limited(&home, 300_000, arguments);
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{arguments:?}: {words}");
        assert_eq!(run.stdout.iter().filter(|byte| **byte == b'\n').count(), rows, "{arguments:?}");
    }
}

/// Makes a file of so many bytes: `start`, zero bytes, `end`. Zeros take no room on most disks.
#[cfg(target_os = "linux")]
fn zeros(home: &Home, start: &str, bytes: u64, end: &str) -> String {
    let file = home.file("project/zeros.jsonl", start);
    let mut open = OpenOptions::new().write(true).open(&file).unwrap();
    open.set_len(bytes).unwrap();
    open.seek(SeekFrom::End(0)).unwrap();
    open.write_all(end.as_bytes()).unwrap();
    file
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_a_gigabyte_of_zeros_is_skipped_in_little_memory() {
    let entry = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":"said {id}"}}}}"#
        )
    };
    let (one, two) = (entry("aaaaaaaa", "null"), entry("bbbbbbbb", "\"aaaaaaaa\""));
    let memory = 400_000;
    let home = Home::new();

    // Nothing but zeros is no session, and that shows before the end of the file.
    let file = zeros(&home, "", 1 << 30, "");
    for command in ["check", "tree"] {
        let run = limited(&home, memory, &[command, &file]);
        let words = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{command}: {words}");
        assert!(words.contains("it has no session header"), "{command}: {words}");
    }

    // Behind the zeros the session goes on.
    let file = zeros(&home, &format!("{HEADER}\n{one}\n"), 1 << 30, &format!("\n{two}\n"));
    let run = limited(&home, memory, &["tree", &file]);
    let shown = String::from_utf8_lossy(&run.stdout);
    assert!(shown.contains("said aaaaaaaa") && shown.contains("said bbbbbbbb"), "{shown}");
    let run = limited(&home, memory, &["check", &file]);
    assert_eq!(run.status.code(), Some(4), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(String::from_utf8_lossy(&run.stdout).contains("kept, not shown"));

    // The header is lost too.
    let file = zeros(&home, &format!("{one}\n"), 1 << 30, &format!("\n{two}\n"));
    let run = limited(&home, memory, &["check", &file]);
    assert_eq!(run.status.code(), Some(4), "{}", String::from_utf8_lossy(&run.stderr));
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(told.contains("2 entries"), "{told}");
    fs::remove_file(file).unwrap();
}
