//! `repair` and `migrate`: what was lost comes back, and everything can be taken back.

use std::fs;

use insta::assert_snapshot;

use crate::check::{damaged, private};
use crate::support::{Home, files};

const TREE: &str = "
    00000001 user Build a CLI
    00000002<00000001 assistant Which language?
    00000003<00000002 user Use Node
    00000004<00000003 assistant Done
";

/// The second entry is cut off in the middle.
fn cut() -> String {
    damaged(TREE, |at, line| if at == 2 { format!("{}\n", &line[..60]) } else { line })
}

/// The second and the third entry stand on one line.
fn glued() -> String {
    damaged(TREE, |at, line| if at == 2 { line.replace('\n', "") } else { line })
}

#[test]
fn a_lost_entry_gets_a_stub_and_the_repair_can_be_taken_back() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", cut());
    assert_snapshot!(home.run(&["repair", &file]), @"
    000000f1
    --- words
    fix: append an empty entry 00000002 below 00000001
    repaired [home]/project/s.jsonl with 1 fix
    undo: offshoot repair [home]/project/s.jsonl --undo
    ");
    assert!(fs::read_to_string(&file).unwrap().starts_with(&cut()), "what was there stays as it is");
    assert_snapshot!(home.run(&["repair", &file]), @"
    --- words
    nothing to repair in [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run(&["check", &file]), @"
    [home]/project/s.jsonl: 1 note (8 lines, 6 entries, 1.4 kB)
      note: line 3 (bytes 258..318): cannot be read; line 6 holds the entry 00000002 in its place
    ");
    assert_snapshot!(home.run(&["repair", &file, "--undo", "-n"]), @"
    --- words
    would take back the repair 000000f1 of [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run(&["repair", &file, "--undo"]), @"
    --- words
    took back the repair 000000f1 of [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run(&["repair", &file, "--undo"]), @"
    --- words
    error: no repair of [home]/project/s.jsonl can be taken back
    --- exit code 1
    ");
}

#[test]
fn fused_lines_are_taken_apart_and_fused_again() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", glued());
    let context = || home.run(&["context", &file]).to_string();
    let before = context();
    assert_snapshot!(before, @"
    entry     tokens  role       text
    00000004       1  assistant  Done
    --- words
    1 message, about 1 tokens; model prov/mod, thinking off
    ");
    assert_snapshot!(home.run(&["repair", &file, "--json"]), @r#"{"action":"repair","fixes":[{"action":"recover","isGuess":false,"needsCopy":false,"ids":["00000002","00000003"]}],"appended":["00000002","00000003","000000f1","000000f2"],"records":["000000f1"],"file":"[home]/project/s.jsonl","leafId":"00000004","needsCopy":false,"damagedPlaces":0,"dryRun":false,"undo":"offshoot repair [home]/project/s.jsonl --undo"}"#);
    assert_snapshot!(context(), @"
    entry     tokens  role       text
    00000001       3  user       Build a CLI
    00000002       4  assistant  Which language?
    00000003       2  user       Use Node
    00000004       1  assistant  Done
    --- words
    4 messages, about 10 tokens; model prov/mod, thinking off
    ");
    assert_snapshot!(home.run(&["repair", &file, "--undo", "--json"]), @r#"{"action":"undo-repair","record":"000000f1","appended":["00000002","00000003","000000f2","000000f3","000000f4"],"file":"[home]/project/s.jsonl","leafId":"00000004","dryRun":false,"undo":null}"#);
    assert_eq!(context(), before);
    assert!(fs::read_to_string(&file).unwrap().starts_with(&glued()), "what was there stays as it is");
}

#[test]
fn what_comes_back_and_what_is_only_guessed_are_one_repair() {
    let home = Home::new();
    let lost = damaged(TREE, |at, line| match at {
        2 => "\u{1}\n".into(),
        3 => format!("{}{}", &line[..40], line),
        _ => line,
    });
    let file = private(&home, "project/s.jsonl", lost);
    assert_snapshot!(home.run(&["repair", &file]), @"
    000000f1
    --- words
    fix: append again what is whole: 00000003
    fix: append an empty entry 00000002 below 00000001, which is a guess
    repaired [home]/project/s.jsonl with 2 fixes
    undo: offshoot repair [home]/project/s.jsonl --undo
    ");
    assert_snapshot!(home.run(&["check", &file]), @"
    [home]/project/s.jsonl: 1 damaged place, 1 note (9 lines, 6 entries, 1.6 kB)
      damage: line 3 (bytes 258..259): not a JSON text (expected a value); kept, not shown
      note: line 4 (bytes 260..468): cannot be read; line 6 holds the entry 00000003 in its place
    --- exit code 4
    ");
}

#[test]
fn a_dry_run_reports_the_change_and_writes_nothing() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", cut());
    let before = files(&home.path(""));
    assert_snapshot!(home.run(&["repair", &file, "--dry-run"]), @"
    --- words
    fix: would append an empty entry 00000002 below 00000001
    would repair [home]/project/s.jsonl with 1 fix
    ");
    assert_snapshot!(home.run(&["repair", &file, "--dry-run", "--json"]), @r#"{"action":"repair","fixes":[{"action":"stub","isGuess":false,"needsCopy":false,"ids":["00000002"],"parentId":"00000001"}],"appended":[],"records":[],"file":"[home]/project/s.jsonl","leafId":"00000004","needsCopy":false,"damagedPlaces":1,"dryRun":true,"undo":null}"#);
    assert_snapshot!(home.run(&["repair", &file, "-n", "--copy", "new.jsonl"]), @"
    --- words
    fix: would append an empty entry 00000002 below 00000001
    would write a repaired copy of [home]/project/s.jsonl with 4 entries: [home]/project/new.jsonl
    ");
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn a_session_in_order_is_left_alone() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", testkit::drawing::session_text(TREE));
    let before = files(&home.path(""));
    assert_snapshot!(home.run(&["repair", &file]), @"
    --- words
    nothing to repair in [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run(&["repair", &file, "--json"]), @r#"{"action":"repair","fixes":[],"appended":[],"records":[],"file":"[home]/project/s.jsonl","leafId":"00000004","needsCopy":false,"damagedPlaces":0,"dryRun":false,"undo":null}"#);
    assert_snapshot!(home.run(&["repair", &file, "--undo"]), @"
    --- words
    error: no repair of [home]/project/s.jsonl can be taken back
    --- exit code 1
    ");
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn a_guess_can_be_left_out() {
    let home = Home::new();
    let lost = damaged(TREE, |at, line| if at == 2 { "\u{1}\n".into() } else { line });
    let file = private(&home, "project/s.jsonl", lost);
    assert_snapshot!(home.run(&["repair", &file, "--no-guess"]), @"
    --- words
    nothing to repair in [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run(&["repair", &file]), @"
    000000f1
    --- words
    fix: append an empty entry 00000002 below 00000001, which is a guess
    repaired [home]/project/s.jsonl with 1 fix
    undo: offshoot repair [home]/project/s.jsonl --undo
    ");
}

#[test]
fn a_copy_heals_what_appending_cannot() {
    let home = Home::new();
    let circle = damaged(TREE, |at, line| match at {
        1 => line.replace("\"parentId\":null", "\"parentId\":\"00000003\""),
        _ => line,
    });
    let file = private(&home, "project/s.jsonl", &circle);
    assert_snapshot!(home.run(&["repair", &file]), @"
    --- words
    error: [home]/project/s.jsonl can only be repaired in a copy
    hint: `offshoot repair [home]/project/s.jsonl --copy NEW` writes one
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["repair", &file, "--copy", "new.jsonl"]), @"
    [home]/project/new.jsonl
    --- words
    fix: make 00000001 a root
    wrote a repaired copy of [home]/project/s.jsonl with 4 entries: [home]/project/new.jsonl
    undo: rm [home]/project/new.jsonl
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), circle);
    assert_snapshot!(home.run(&["check", "new.jsonl"]), @"new.jsonl: clean (5 lines, 4 entries, 1.2 kB)");
    assert_snapshot!(home.run(&["repair", &file, "--copy", "new.jsonl"]), @"
    --- words
    error: new.jsonl exists already
    hint: choose another name; no file is ever replaced
    --- exit code 1
    ");
}

#[test]
fn a_file_without_a_header_is_salvaged_into_a_copy() {
    let home = Home::new();
    let file = private(&home, "project/s.jsonl", &testkit::drawing::session_text(TREE)[40..]);
    let before = fs::read(&file).unwrap();
    assert_snapshot!(home.run(&["repair", &file]), @"
    --- words
    error: the header of [home]/project/s.jsonl cannot be read; 4 entries can
    hint: `offshoot repair [home]/project/s.jsonl --copy NEW` writes them into a new file
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["repair", &file, "--copy", "new.jsonl"]), @"
    [home]/project/new.jsonl
    --- words
    wrote a repaired copy of [home]/project/s.jsonl with 4 entries: [home]/project/new.jsonl
    undo: rm [home]/project/new.jsonl
    ");
    assert_snapshot!(home.run(&["tree", "new.jsonl"]), @"
    • user: Build a CLI
    • assistant: Which language?
    • user: Use Node
    • assistant: Done ← active
    ");
    assert_eq!(fs::read(&file).unwrap(), before);
    let other = private(&home, "project/other.jsonl", "{\"name\":\"not ours\"}\n");
    assert_snapshot!(home.run(&["repair", &other, "--copy", "x.jsonl"]), @"
    --- words
    error: Session file is not a valid pi session: [home]/project/other.jsonl
    hint: its first entry is not a session header; the file was not changed
    --- exit code 1
    ");
}

#[test]
fn an_old_session_is_migrated_and_its_original_kept() {
    let home = Home::new();
    let v1 = include_str!("v1.jsonl");
    let file = private(&home, "project/old.jsonl", v1);
    let before = files(&home.path(""));
    assert_snapshot!(home.run(&["migrate", &file, "-n"]), @"
    --- words
    would bring version 1 to version 3 first, and keep the original
    would migrate [home]/project/old.jsonl from version 1 to 3, and keep the original beside it
    ");
    assert_eq!(files(&home.path("project")), before);
    let run = home.run(&["migrate", &file]);
    assert_snapshot!(run, @"
    [home]/project/old.jsonl.bak-v1
    --- words
    migrated [home]/project/old.jsonl from version 1 to 3; the original is kept as [home]/project/old.jsonl.bak-v1
    undo: mv [home]/project/old.jsonl.bak-v1 [home]/project/old.jsonl
    ");
    assert_snapshot!(home.run(&["migrate", &file]), @"
    --- words
    [home]/project/old.jsonl has version 3 already
    ");
    assert_snapshot!(home.run(&["migrate", &file, "--json"]), @r#"{"action":"migrate","file":"[home]/project/old.jsonl","from":3,"to":3,"kept":null,"dryRun":false,"undo":null}"#);
    let undo = run.err().lines().find_map(|line| line.strip_prefix("undo: mv ")).unwrap();
    let (from, to) = undo.split_once(' ').unwrap();
    fs::rename(from, to).unwrap();
    assert_eq!(files(&home.path("project")), before);
}
