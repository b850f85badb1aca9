//! Labels and names: shown, set, cleared, and taken back.

use std::fs;

use insta::assert_snapshot;
use testkit::drawing::session_text;

use crate::support::{Home, files};
use crate::undoing::undo;

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    l5<a4 label u3 node
    n6<l5 info Greeter
";

/// The label of an entry, nothing if it has none.
fn label(home: &Home, file: &str, entry: &str) -> Option<String> {
    home.run(&["label", file, entry, "--json"]).json()["label"].as_str().map(str::to_owned)
}

fn name(home: &Home, file: &str) -> Option<String> {
    home.run(&["name", file, "--json"]).json()["name"].as_str().map(str::to_owned)
}

#[test]
fn a_label_is_shown_and_its_absence_reported() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["label", &file, "u3"]), @"node");
    assert_snapshot!(home.run(&["label", &file, "u1"]), @"
    --- words
    u1 (user: Build a CLI) has no label
    ");
    assert_snapshot!(home.run(&["label", &file, "u3", "--json"]), @r#"{"entryId":"u3","label":"node","labelTimestamp":"2025-01-01T00:00:05.000Z"}"#);
    assert_snapshot!(home.run(&["label", &file, "u1", "--json"]), @r#"{"entryId":"u1","label":null,"labelTimestamp":null}"#);
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn labels_are_listed_in_the_order_in_which_they_were_set() {
    let home = Home::new();
    let file = home.session(TREE);
    home.run(&["label", &file, "u1", "begin"]).ok();
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["labels", &file]), @"
    label  entry  set  text
    node   u3     1h   user: Use Node
    begin  u1     now  user: Build a CLI
    ");
    assert_snapshot!(home.run(&["labels", &file, "--json"]), @r#"[{"label":"node","labelTimestamp":"2025-01-01T00:00:05.000Z","entryId":"u3","text":"user: Use Node"},{"label":"begin","labelTimestamp":"2025-01-01T02:00:00.000Z","entryId":"u1","text":"user: Build a CLI"}]"#);
    assert_eq!(files(&home.path(".")), before);
    let empty = home.file("project/empty.jsonl", session_text("u1 user hello"));
    assert_snapshot!(home.run(&["labels", &empty]), @"
    --- words
    no labels
    ");
    assert_snapshot!(home.run(&["labels", &empty, "--json"]), @"[]");
    assert_snapshot!(home.run(&["labels", "s.jsonl", "empty.jsonl", "none.jsonl"]), @"
    ==> s.jsonl <==
    label  entry  set  text
    node   u3     1h   user: Use Node
    begin  u1     now  user: Build a CLI

    ==> empty.jsonl <==

    ==> none.jsonl <==
    --- words
    no labels
    error: no session none.jsonl
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
}

#[test]
fn a_new_label_is_taken_off_again_by_its_undo() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["label", &file, "a4", "slow but works"]);
    assert_snapshot!(run, @"
    a4
    --- words
    labelled a4 (assistant: Done, 60 ms) `slow but works`
    undo: offshoot label --delete [home]/project/s.jsonl a4
    ");
    assert_eq!(label(&home, &file, "@slow but works").as_deref(), Some("slow but works"));
    undo(&home, &run);
    assert_eq!(label(&home, &file, "a4"), None);
}

#[test]
fn a_changed_label_becomes_what_it_was_by_its_undo() {
    let home = Home::new();
    let file = home.session(TREE);
    for old in ["--delete", "it's $(odd)", "-", "@node"] {
        home.run(&["label", &file, "u3", "--", old]).ok();
        let run = home.run(&["label", &file, "u3", "new"]);
        undo(&home, &run);
        assert_eq!(label(&home, &file, "u3").as_deref(), Some(old));
        let run = home.run(&["label", &file, "u3", "--delete"]);
        assert_eq!(label(&home, &file, "u3"), None);
        undo(&home, &run);
        assert_eq!(label(&home, &file, "u3").as_deref(), Some(old));
    }
}

#[test]
fn the_leaf_means_what_was_said_last() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["label", &file, "leaf", "done"]), @"
    a4
    --- words
    labelled a4 (assistant: Done, 60 ms) `done`
    undo: offshoot label --delete [home]/project/s.jsonl a4
    ");
    assert_snapshot!(home.run(&["label", &file, "."]), @"done");
}

#[test]
fn a_label_that_is_there_already_is_not_written_again() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["label", &file, "u3", " node "]), @"
    u3
    --- words
    left u3 (user: Use Node) as it is
    ");
    assert_snapshot!(home.run(&["label", &file, "u1", "--delete"]), @"
    u1
    --- words
    left u1 (user: Build a CLI) as it is
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn two_entries_with_one_label_are_warned_about() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["label", &file, "u1", "node"]), @"
    u1
    --- words
    labelled u1 (user: Build a CLI) `node`
    undo: offshoot label --delete [home]/project/s.jsonl u1
    warning: 1 other entry has this label too, so `@node` names none of them
    ");
    assert_snapshot!(home.run(&["label", &file, "@node"]), @"
    --- words
    error: the label `node` is on 2 entries
    hint: one of: u3, u1
    --- exit code 1
    ");
}

#[test]
fn a_dry_run_labels_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["label", &file, "u1", "begin", "--dry-run"]), @"
    --- words
    would label u1 (user: Build a CLI) `begin`
    ");
    assert_snapshot!(home.run(&["label", &file, "u3", "-d", "-n", "--json"]), @r#"{"action":"unlabel","entryId":"u3","label":null,"previousLabel":"node","file":"[home]/project/s.jsonl","leafId":"n6","dryRun":true,"undo":null}"#);
    assert_snapshot!(home.run(&["name", &file, "a\r\nb ", "--dry-run"]), @"
    --- words
    would name the session `a b`
    ");
    assert_snapshot!(home.run(&["name", &file, "--clear", "--dry-run"]), @"
    --- words
    would clear the name of the session
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn a_label_needs_a_name_and_an_entry() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["label", &file, "u1", " "]), @"
    --- words
    error: a label cannot be empty
    hint: `label NAME` labels the last answer, `label REF NAME` an entry
    --- exit code 2
    ");
    assert_snapshot!(home.run(&["label", &file, "nowhere", "x"]), @"
    --- words
    error: Entry nowhere not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["label", &file, "u1", "x", "--delete"]), @"
    --- words
    error: `label -d` needs one entry
    hint: `label NAME` labels the last answer, `label REF NAME` an entry
    --- exit code 2
    ");
    assert_snapshot!(home.run(&["name", &file, "\n"]), @"
    --- words
    error: a name cannot be empty
    hint: `--clear` removes the name
    --- exit code 2
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn a_name_is_shown_set_cleared_and_taken_back() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["name", &file]), @"Greeter");
    let run = home.run(&["name", &file, "Two\nlines  here "]);
    assert_snapshot!(run, @"
    Two lines  here
    --- words
    named the session `Two lines  here`
    undo: offshoot name [home]/project/s.jsonl Greeter
    ");
    undo(&home, &run);
    assert_eq!(name(&home, &file).as_deref(), Some("Greeter"));
    let run = home.run(&["name", &file, "--clear"]);
    assert_snapshot!(run, @"
    --- words
    cleared the name of the session
    undo: offshoot name [home]/project/s.jsonl Greeter
    ");
    assert_snapshot!(home.run(&["name", &file]), @"
    --- words
    the session has no name
    ");
    assert_snapshot!(home.run(&["name", &file, "--json"]), @r#"{"name":null}"#);
    undo(&home, &run);
    assert_eq!(name(&home, &file).as_deref(), Some("Greeter"));
    assert_snapshot!(home.run(&["name", &file, "Greeter"]), @"
    Greeter
    --- words
    left the name as it is
    ");
    assert_snapshot!(home.run(&["name", &file, "Greeter 2", "--json"]), @r#"{"action":"name","name":"Greeter 2","previousName":"Greeter","file":"[home]/project/s.jsonl","leafId":"000000f5","dryRun":false,"undo":"offshoot name [home]/project/s.jsonl Greeter"}"#);
}

#[test]
fn a_first_name_is_taken_away_by_its_undo() {
    let home = Home::new();
    let file = home.session("u1 user hello");
    let run = home.run(&["name", &file, "--", "--clear"]);
    assert_snapshot!(run, @"
    --clear
    --- words
    named the session `--clear`
    undo: offshoot name --clear [home]/project/s.jsonl
    ");
    undo(&home, &run);
    assert_eq!(name(&home, &file), None);
}

#[test]
fn names_and_labels_cannot_harm_a_terminal() {
    let home = Home::new();
    let file = home.session("u1 user hello");
    let hostile = "a\u{1b}[2Jb\u{202e}c\u{7}";
    let runs = [
        home.run(&["label", &file, "u1", hostile]),
        home.run(&["name", &file, hostile]),
        home.run(&["labels", &file]),
        home.run(&["name", &file]),
        home.run(&["label", &file, "u1"]),
        home.run(&["branches", &file]),
    ];
    for run in runs {
        let shown = [run.ok(), run.err()].concat();
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{shown:?}");
    }
    assert_eq!(label(&home, &file, "u1").as_deref(), Some(hostile), "stored as it was given");
    assert_eq!(name(&home, &file).as_deref(), Some(hostile));
}

#[test]
fn labels_and_names_of_a_session_that_cannot_be_written() {
    let home = Home::new();
    let newer = String::from_utf8(session_text(TREE)).unwrap().replace("\"version\":3", "\"version\":4");
    let newer = home.file("project/newer.jsonl", newer);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["label", &newer, "u1", "x"]), @"
    --- words
    error: the session is read only: it has version 4, this engine writes version 3
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["name", &newer, "x"]), @"
    --- words
    error: the session is read only: it has version 4, this engine writes version 3
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["labels", &newer]), @"
    label  entry  set  text
    node   u3     1h   user: Use Node
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn labelling_an_old_session_brings_it_up_to_date_and_keeps_the_original() {
    let home = Home::new();
    let old: &[u8] = include_bytes!("v1.jsonl");
    let file = home.file("project/old.jsonl", old);
    home.run(&["labels", &file]).ok();
    home.run(&["name", &file]).ok();
    assert_eq!(fs::read(&file).unwrap(), old);
    assert_snapshot!(home.run(&["label", &file, "root", "first"]), @"
    b048715d
    --- words
    brought version 1 to version 3; the original is [home]/project/old.jsonl.bak-v1
    labelled b048715d (user: Build a CLI) `first`
    undo: offshoot label --delete [home]/project/old.jsonl b048715d
    ");
    assert_eq!(fs::read(home.path("project/old.jsonl.bak-v1")).unwrap(), old);
    assert_snapshot!(home.run(&["labels", &file]), @"
    label  entry     set  text
    first  b048715d  now  user: Build a CLI
    ");
    let other = home.file("project/other.jsonl", old);
    assert_snapshot!(home.run(&["name", &other, "Old"]), @"
    Old
    --- words
    brought version 1 to version 3; the original is [home]/project/other.jsonl.bak-v1
    named the session `Old`
    undo: offshoot name --clear [home]/project/other.jsonl
    ");
}
