//! `completions` and `man`: what shells and readers of manuals get.

use std::fs;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;

use crate::support::{Home, files};

const TREE: &str = "
    aaaa0001 user Build a CLI
    aaaa0002<aaaa0001 assistant Which language?
    bbbb0003<aaaa0002 user Use Node
    bbbb0004<aaaa0002 user Use Rust
    bbbb0005<bbbb0004 label bbbb0004 rust
";

/// Returns the completions of fish; the last word is the one that is being typed.
fn complete(home: &Home, words: &[&str]) -> String {
    let mut command = home.command(&["--", "offshoot"]);
    command.args(words).env("OFFSHOOT_COMPLETE", "fish");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Options follow whatever the argument offers.
    text.lines().filter(|line| !line.starts_with("--")).map(|line| format!("{line}\n")).collect()
}

fn session(home: &Home, id: &str, name: &str) {
    let cwd = home.path("project").canonicalize().unwrap();
    let dir = session_tree::encode_cwd(cwd.to_str().unwrap());
    let header = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"{}\"}}\n",
        cwd.display()
    );
    let entries = testkit::drawing::entry_lines(&format!("{TREE}\nbbbb0006<bbbb0005 info {name}"));
    let file =
        home.file(&format!("offshoot/sessions/{dir}/{id}.jsonl"), [header.into_bytes(), entries].concat());
    // The list is in the order of changes.
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 * id.len() as u64);
    fs::File::options().append(true).open(file).unwrap().set_modified(changed).unwrap();
}

#[test]
fn every_shell_gets_a_script() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = home.run(&["completions", shell]);
        assert!(run.ok().contains("OFFSHOOT_COMPLETE"), "{run}");
        assert!(run.ok().contains(shell), "{run}");
    }
    assert_eq!(home.run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn sessions_of_this_project_are_completed_by_id_name_and_path() {
    let home = Home::new();
    session(&home, "one", "Greeter");
    session(&home, "second", "Other");
    home.file("project/local.jsonl", "");
    home.file("project/notes.txt", "");
    assert_snapshot!(complete(&home, &["show", ""]), @"
    second	Other
    one	Greeter
    local.jsonl
    ");
    assert_snapshot!(complete(&home, &["show", "Gr"]), @"Greeter	one");
    assert_snapshot!(complete(&home, &["show", "./"]), @"./local.jsonl");
    assert_snapshot!(complete(&home, &["check", "o"]), @"one	Greeter");
}

#[test]
fn entries_of_the_session_that_was_named_are_completed() {
    let home = Home::new();
    session(&home, "one", "Greeter");
    assert_snapshot!(complete(&home, &["show", "one", ""]), @"
    @rust	Use Rust
    branch:1	rust
    branch:2	Use Node
    leaf~1	Use Rust
    leaf~2	Build a CLI
    leaf	the current position
    root	the first entry of this branch
    bbbb0004	user: Use Rust
    bbbb0003	user: Use Node
    aaaa0002	assistant: Which language?
    aaaa0001	user: Build a CLI
    ");
    assert_snapshot!(complete(&home, &["show", "--json", "Greeter", "@"]), @"@rust	Use Rust");
    assert_snapshot!(complete(&home, &["show", "one", "#"]), @"");
    assert_snapshot!(complete(&home, &["diff", "-", "aaaa0001", "bb"]), @"
    bbbb0004	user: Use Rust
    bbbb0003	user: Use Node
    ");
    assert_snapshot!(complete(&home, &["append", "one", "--under", "a"]), @"
    aaaa0002	assistant: Which language?
    aaaa0001	user: Build a CLI
    ");
}

#[test]
fn nothing_is_written_or_said_when_there_is_nothing_to_complete() {
    let home = Home::new();
    let file = home.session("a user hi\n! {broken");
    let before = files(&home.path(""));
    assert_snapshot!(complete(&home, &["show", "nobody", ""]), @"
    leaf	the current position
    root	the first entry of this branch
    ");
    assert_snapshot!(complete(&home, &["show", &file, "x"]), @"");
    assert_snapshot!(complete(&home, &["show", "--session-dir", "/nowhere", "x"]), @"");
    assert_eq!(files(&home.path("")), before);
}

#[test]
fn there_is_a_manual_page_for_the_program_and_for_each_command() {
    let home = Home::new();
    assert!(home.run(&["man"]).ok().contains("offshoot\\-append(1)"));
    let page = home.run(&["man", "append"]);
    assert!(page.ok().contains(".TH offshoot-append 1"), "{page}");
    assert_snapshot!(home.run(&["man", "nothing"]), @"
    --- words
    error: no command `nothing`
    hint: `offshoot help` lists the commands
    --- exit code 1
    ");
    home.run(&["man", "--dir", "pages"]).ok();
    let pages = files(&home.path("project/pages"));
    let written =
        |name: &str| pages.iter().find(|(path, _)| path.ends_with(name)).map(|(_, page)| page.clone());
    assert_eq!(written("offshoot-append.1").unwrap(), page.stdout);
    assert!(written("offshoot.1").is_some());
    assert!(pages.len() > 15);
}
