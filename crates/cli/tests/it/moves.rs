//! Branches, and moving between them: what is listed, where the leaf goes, how it comes back.

use std::fs;

use insta::assert_snapshot;
use testkit::drawing::{header_line, session_text};

use crate::support::{Home, files};
use crate::undoing::undo;

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
    u5<a2 user Use Rust
    a6<u5 assistant Done, 1 ms
    l7<a6 label u5 rust
    u8<a2 user Use Zig
";

/// The id of the entry where a session stands; empty before the first one.
fn position(home: &Home, file: &str) -> String {
    let tree = home.run(&["tree", file, "--filter", "all", "--json"]).json();
    let rows = tree.as_array().unwrap().iter();
    let mut leaves =
        rows.filter(|row| row["isLeaf"] == true).map(|row| row["id"].as_str().unwrap().to_owned());
    leaves.next().unwrap_or_default()
}

#[test]
fn branches_are_listed_newest_first_with_what_they_did() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["branches", &file]), @"
    branch  name      from         turns  tokens   cost  model  last
      ● %1  Use Zig   Build a CLI      1       0  $0.00         1h    here
        %2  rust      Build a CLI      1      10  $0.00  mod    1h
        %3  Use Node  Build a CLI      1      10  $0.00  mod    1h
    --- words
    3 branches, 1 branch point
    ");
}

#[test]
fn marks_show_the_state_of_a_branch() {
    let home = Home::new();
    let merge = r#"{"type":"branch_summary","id":"m7","parentId":"a4","timestamp":"2025-01-01T00:00:07.000Z","fromId":"a6","summary":"Rust won","details":{"merge":{"sourceLeafId":"a6"}}}"#;
    let failed = r#"{"type":"message","id":"a9","parentId":"u8","timestamp":"2025-01-01T00:00:09.000Z","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded","timestamp":1735689609000}}"#;
    let hide = r#"{"type":"custom","customType":"session-tree.hide","data":{"targetId":"u10","hidden":true},"id":"h11","parentId":"u10","timestamp":"2025-01-01T00:00:11.000Z"}"#;
    let file = home.session(&format!(
        "u1 user Build a CLI
         a2<u1 assistant Which language?
         u3<a2 user Use Node
         a4<u3 assistant Done, 60 ms
         u5<a2 user Use Rust
         a6<u5 assistant Done, 1 ms
         ! {merge}
         u8<a2 user Use Zig
         ! {failed}
         u10<a2 user Use Perl
         ! {hide}
         c12<m7 compaction keep=m7 A greeter"
    ));
    assert_snapshot!(home.run(&["branches", &file]), @"
    branch  name      from         turns  tokens   cost  model  last
      ● %1  Use Node  Build a CLI      1      10  $0.00  mod    1h    here, ⌂ compacted
        %3  Use Zig   Build a CLI      1       0  $0.00         1h    ⚠ ends in error
        %4  Use Rust  Build a CLI      1      10  $0.00  mod    1h    ⇢ merged into %1
    --- words
    4 branches, 1 branch point, 1 hidden (`--all` shows them)
    ");
    assert_snapshot!(home.run(&["branches", &file, "--all"]), @"
    branch  name      from         turns  tokens   cost  model  last
      ● %1  Use Node  Build a CLI      1      10  $0.00  mod    1h    here, ⌂ compacted
        %2  Use Perl  Build a CLI      1       0  $0.00         1h    hidden
        %3  Use Zig   Build a CLI      1       0  $0.00         1h    ⚠ ends in error
        %4  Use Rust  Build a CLI      1      10  $0.00  mod    1h    ⇢ merged into %1
    --- words
    4 branches, 1 branch point
    ");
}

#[test]
fn branches_as_json_have_exact_numbers_and_ids() {
    let home = Home::new();
    let file = home.session(TREE);
    let branches = home.run(&["branches", &file, "--json"]).json();
    assert_snapshot!(serde_json::to_string_pretty(&branches[1]).unwrap(), @r#"
    {
      "ref": "branch:2",
      "number": 2,
      "tipId": "a6",
      "branchPointId": "a2",
      "name": "rust",
      "label": null,
      "from": "Build a CLI",
      "entries": 2,
      "turns": 1,
      "lastActivity": "2025-01-01T00:00:06.000Z",
      "isCurrent": false,
      "isHidden": false,
      "endsInError": false,
      "compacted": false,
      "mergedInto": null,
      "tokens": 10,
      "cost": 0.0,
      "model": {
        "provider": "prov",
        "modelId": "mod"
      }
    }
    "#);
    assert_eq!(branches.as_array().unwrap().len(), 3);
}

#[test]
fn a_session_without_entries_has_no_branches() {
    let home = Home::new();
    let file = home.file("project/s.jsonl", header_line());
    assert_snapshot!(home.run(&["branches", &file]), @"
    --- words
    0 branches, 0 branch points
    ");
    assert_snapshot!(home.run(&["branches", &file, "--json"]), @"[]");
}

#[test]
fn the_number_of_a_branch_names_it_everywhere() {
    let home = Home::new();
    let file = home.session(TREE);
    for branch in home.run(&["branches", &file, "--json"]).json().as_array().unwrap() {
        home.run(&["switch", &file, &format!("#{}", branch["number"])]).ok();
        assert_eq!(position(&home, &file), branch["tipId"].as_str().unwrap());
    }
}

#[test]
fn switching_goes_to_the_end_of_a_branch_and_back() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["switch", &file, "@rust"]);
    assert_snapshot!(run, @"
    a6
    --- words
    moved to a6 (assistant: Done, 1 ms), 1 entry left behind
    undo: offshoot switch --exact [home]/project/s.jsonl u8
    ");
    assert_eq!(position(&home, &file), "a6");
    undo(&home, &run);
    assert_eq!(position(&home, &file), "u8");
}

#[test]
fn switching_exactly_stays_at_the_entry() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["switch", &file, "@rust", "--exact"]), @"
    u5
    --- words
    moved to u5 (user: Use Rust), 1 entry left behind
    undo: offshoot switch --exact [home]/project/s.jsonl u8
    ");
    assert_eq!(position(&home, &file), "u5");
}

#[test]
fn the_start_is_a_position_too() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["switch", &file, "start"]), @"
    --- words
    moved to the start, 3 entries left behind
    undo: offshoot switch --exact [home]/project/s.jsonl u8
    ");
    assert_eq!(position(&home, &file), "");
    let back = home.run(&["switch", &file, "a4"]);
    assert_snapshot!(back, @"
    a4
    --- words
    moved to a4 (assistant: Done, 60 ms)
    undo: offshoot switch [home]/project/s.jsonl start
    ");
    undo(&home, &back);
    assert_eq!(position(&home, &file), "");
    assert_snapshot!(home.run(&["switch", &file, "start"]), @"
    --- words
    stayed at the start
    ");
}

#[test]
fn who_is_there_already_writes_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["switch", &file, "u8"]), @"
    u8
    --- words
    stayed at u8 (user: Use Zig)
    ");
    assert_snapshot!(home.run(&["switch", &file, "u8", "--json"]), @r#"{"action":"stay","moved":false,"targetId":"u8","oldLeafId":"u8","newLeafId":"u8","commonAncestorId":"u8","entriesToSummarize":0,"canSummarize":false,"prompt":null,"images":[],"abandonedEntries":0,"file":"[home]/project/s.jsonl","leafId":"u8","dryRun":false,"undo":null}"#);
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn a_dry_run_of_a_move_reports_everything_and_writes_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["switch", &file, "a4", "--dry-run"]), @"
    --- words
    would move to a4 (assistant: Done, 60 ms), 1 entry left behind
    ");
    assert_snapshot!(home.run(&["switch", &file, "start", "-n"]), @"
    --- words
    would move to the start, 3 entries left behind
    ");
    assert_snapshot!(home.run(&["branch-here", &file, "u3", "-n"]), @"
    --- words
    would move to a2 (assistant: Which language?), 1 entry left behind
    ");
    assert_snapshot!(home.run(&["branch-here", &file, "u3", "-n", "--json"]), @r#"{"action":"move","moved":true,"targetId":"u3","oldLeafId":"u8","newLeafId":"a2","commonAncestorId":"a2","entriesToSummarize":1,"canSummarize":true,"prompt":"Use Node","images":[],"abandonedEntries":1,"file":"[home]/project/s.jsonl","leafId":"u8","dryRun":true,"undo":null}"#);
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn branching_at_a_prompt_takes_it_back_to_be_sent_again() {
    let home = Home::new();
    let prompt = r#"{"type":"message","id":"u9","parentId":"a4","timestamp":"2025-01-01T00:00:09.000Z","message":{"role":"user","content":[{"type":"text","text":"Two\n\tlines"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"timestamp":1735689609000}}"#;
    let file = home.session(&format!("{TREE}\n! {prompt}\na10<u9 assistant Fine"));
    let run = home.run(&["branch-here", &file, "u9"]);
    assert_snapshot!(run, @"
    Two
        lines
    --- words
    moved to a4 (assistant: Done, 60 ms), 2 entries left behind
    undo: offshoot switch --exact [home]/project/s.jsonl a10
    the prompt had 1 image; --json prints them
    ");
    assert_eq!(position(&home, &file), "a4");
    undo(&home, &run);
    assert_eq!(position(&home, &file), "a10");
    let json = home.run(&["branch-here", &file, "u9", "--exact", "--json"]).json();
    assert_eq!((json["moved"].as_bool(), json["prompt"].as_str()), (Some(true), None));
    assert_eq!(position(&home, &file), "u9");
    let json = home.run(&["branch-here", &file, "u5", "--json"]).json();
    assert_eq!((json["moved"].as_bool(), json["prompt"].as_str()), (Some(true), Some("Use Rust")));
    let json = home.run(&["branch-here", &file, "u9", "--json"]).json();
    assert_eq!(json["prompt"], "Two\n\tlines");
    assert_eq!(json["images"], serde_json::json!([{"mimeType": "image/png", "data": "aGk="}]));
}

#[test]
fn a_prompt_right_behind_the_position_is_given_without_a_move() {
    let home = Home::new();
    let file = home.session(TREE);
    home.run(&["switch", &file, "a2", "--exact"]).ok();
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["branch-here", &file, "u3"]), @"
    Use Node
    --- words
    stayed at a2 (assistant: Which language?)
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn branching_at_an_answer_goes_to_it() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["branch-here", &file, "a4"]), @"
    --- words
    moved to a4 (assistant: Done, 60 ms), 1 entry left behind
    undo: offshoot switch --exact [home]/project/s.jsonl u8
    ");
    assert_eq!(position(&home, &file), "a4");
}

#[test]
fn the_first_prompt_is_taken_back_to_the_start() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["branch-here", &file, "root"]);
    assert_snapshot!(run, @"
    Build a CLI
    --- words
    moved to the start, 3 entries left behind
    undo: offshoot switch --exact [home]/project/s.jsonl u8
    ");
    assert_eq!(position(&home, &file), "");
    undo(&home, &run);
    assert_eq!(position(&home, &file), "u8");
}

#[test]
fn references_that_name_nothing_are_explained() {
    let home = Home::new();
    let file = home.file("project/s.jsonl", session_text(TREE));
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["switch", &file, "abcd"]), @"
    --- words
    error: Entry abcd not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", &file, "@no"]), @"
    --- words
    error: cannot resolve the reference `@no`: no entry has this label
    hint: an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", &file, "#9"]), @"
    --- words
    error: cannot resolve the reference `#9`: there is no such branch
    hint: an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", &file, "-"]), @"
    --- words
    error: cannot resolve the reference `-`: there is no previous leaf here
    hint: an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", &file, "~9"]), @"
    --- words
    error: cannot resolve the reference `~9`: the path does not go back that far
    hint: an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", "nothing", "abcd"]), @"
    --- words
    error: no session nothing
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["switch", &file]), @"
    --- words
    error: no session was made in [home]/project yet
    hint: `offshoot sessions --all` lists the sessions of all projects
    --- exit code 1
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn the_beginning_of_an_id_must_mean_one_entry() {
    let home = Home::new();
    let file = home.session("abcd0001 user one\nabcd0002<abcd0001 assistant two");
    assert_snapshot!(home.run(&["switch", &file, "abcd"]), @"
    --- words
    error: `abcd` is ambiguous: 2 entries begin with it
    hint: one of: abcd0001, abcd0002
    --- exit code 1
    ");
    home.run(&["switch", &file, "abcd0001", "--exact"]).ok();
    assert_eq!(position(&home, &file), "abcd0001");
}

#[test]
fn what_cannot_be_written_is_not_moved() {
    let home = Home::new();
    let newer = String::from_utf8(session_text(TREE)).unwrap().replace("\"version\":3", "\"version\":4");
    let newer = home.file("project/newer.jsonl", newer);
    let text = home.file("project/notes.jsonl", "no session at all\n");
    let before = files(&home.path("."));
    assert_snapshot!(home.run(&["switch", &newer, "a4"]), @"
    --- words
    error: the session is read only: it has version 4, this engine writes version 3
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["branch-here", &text, "a4"]), @"
    --- words
    error: Session file is not a valid pi session: [home]/project/notes.jsonl
    hint: it has no session header; the file was not changed
    --- exit code 1
    ");
    assert_eq!(files(&home.path(".")), before);
}

#[test]
fn moving_in_an_old_session_brings_it_up_to_date_and_keeps_the_original() {
    let home = Home::new();
    let file = home.file("project/old.jsonl", include_bytes!("v1.jsonl"));
    let before = files(&home.path("."));
    home.run(&["branches", &file]).ok();
    home.run(&["switch", &file, "root", "--exact", "--dry-run"]).ok();
    assert_eq!(files(&home.path(".")), before, "reading writes nothing");
    let run = home.run(&["switch", &file, "root", "--exact"]);
    assert_snapshot!(run, @"
    b048715d
    --- words
    brought version 1 to version 3; the original is [home]/project/old.jsonl.bak-v1
    moved to b048715d (user: Build a CLI), 1 entry left behind
    undo: offshoot switch --exact [home]/project/old.jsonl 2660ef59
    ");
    assert_eq!(fs::read(home.path("project/old.jsonl.bak-v1")).unwrap(), include_bytes!("v1.jsonl"));
    undo(&home, &run);
    assert_snapshot!(home.run(&["tree", &file]), @"
    • user: Build a CLI
    • assistant: Which language? ← active
    ");
}

#[test]
fn a_move_works_while_another_program_appends() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut other = session_tree::Session::open(&file).unwrap();
    home.run(&["switch", &file, "a4"]).ok();
    let mine = other.append(session_tree::Message::user("and I go on")).unwrap();
    assert_eq!(
        other.tree().parent(other.leaf().unwrap()),
        other.tree().node("u8"),
        "nobody moved the other one"
    );
    drop(other);
    assert_eq!(position(&home, &file), mine.as_str());
    home.run(&["switch", &file, "a4"]).ok();
    assert_eq!(position(&home, &file), "a4");
}

#[test]
fn an_id_with_a_command_in_it_is_only_an_id_when_a_move_is_taken_back() {
    let home = Home::new();
    for id in ["a b;touch pwned", "-x$(touch pwned)"] {
        let text = String::from_utf8(session_text("u1 user one\na2<u1 assistant two\nu3<a2 user three"));
        let text = text.unwrap().replace("u3", id);
        let file = home.file("project/s.jsonl", text);
        let run = home.run(&["switch", &file, "root", "--exact"]);
        assert_eq!(run.code, 0, "{run}");
        undo(&home, &run);
        assert!(!home.path("project/pwned").exists(), "{id}");
        let path = home.run(&["path", &file]);
        assert!(path.ok().contains("three"), "{path}");
        let labelled = home.run(&["label", &file, "leaf", "here"]);
        assert_eq!(labelled.code, 0, "{labelled}");
        undo(&home, &labelled);
        assert!(home.run(&["labels", &file]).out().is_empty());
    }
}
