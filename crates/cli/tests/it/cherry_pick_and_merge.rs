//! Cherry-pick, merge and pop: the appended entries, the output, and undoing them.

use insta::assert_snapshot;
use testkit::model_server::{ModelServer, Reply};

use crate::support::{Home, files};
use crate::talk::set_up;

const TREE: &str = "
    u1 user Build a parser
    a2<u1 assistant How?
    u3<a2 user With channels
    a4<u3 assistant Channels are fast
    u5<a2 user With threads
    a6<u5 assistant Threads are simple
";

#[test]
fn an_answer_is_quoted_with_its_origin_and_a_prompt_copied_as_it_is() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["cherry-pick", &file, "a4", "--note", "worth keeping"]), @"
    000000f1
    --- words
    copied a4 under a6: 1 entry, about 37 tokens
    undo: offshoot switch --exact [home]/project/s.jsonl a6
    ");
    assert_snapshot!(home.run(&["cherry-pick", &file, "u3"]), @"
    000000f2
    --- words
    copied u3 under 000000f1: 1 entry, about 4 tokens
    undo: offshoot switch --exact [home]/project/s.jsonl 000000f1
    ");
    assert_snapshot!(home.run(&["tree", &file]), @r#"
    • user: Build a parser
    • assistant: How?
    ├⊟ • user: With threads
    │     • assistant: Threads are simple
    │     • ⇠ pick from "With channels": Channels are fast
    │     • ⇠ pick from "With channels": With channels ← active
    └⊟ user: With channels
          assistant: Channels are fast
    "#);
    assert_snapshot!(home.run(&["context", &file]), @"
    entry     tokens  role       text
    u1             4  user       Build a parser
    a2             1  assistant  How?
    u5             3  user       With threads
    a6             5  assistant  Threads are simple
    000000f1      37  custom     Copied from branch With channels, entry a4, 2025-01-01. File changes mentioned here were not applied on this branch unless noted. Channels are fast
    000000f2       4  user       With channels
    --- words
    6 messages, about 54 tokens; model prov/mod, thinking off
    ");
}

#[test]
fn a_pick_is_undone_by_the_printed_command() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["cherry-pick", &file, "a4"]);
    let undo = run.err().lines().find_map(|line| line.strip_prefix("undo: offshoot ")).unwrap().to_owned();
    let words: Vec<&str> = undo.split(' ').collect();
    home.run(&words).ok();
    assert!(home.run(&["context", &file]).ok().ends_with("Threads are simple\n"));
}

#[test]
fn whole_turns_and_ranges_are_picked() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["cherry-pick", &file, "a4", "--turn", "--dry-run"]), @"
    With channels

    Copied from branch With channels, entry a4, 2025-01-01. File changes mentioned here were not applied on this branch unless noted.

    Channels are fast
    --- words
    would copy u3, a4 under a6: 2 entries, about 41 tokens
    ");
    assert_snapshot!(home.run(&["cherry-pick", &file, "a2..a4", "--as", "native", "--json"]), @r#"{"action":"copy","sourceEntryIds":["u3","a4"],"text":"With channels\n\nChannels are fast","tokens":9,"warnings":[],"entryIds":["000000f1","000000f2"],"file":"[home]/project/s.jsonl","leafId":"000000f2","dryRun":false,"undo":"offshoot switch --exact [home]/project/s.jsonl a6"}"#);
}

#[test]
fn what_cannot_be_picked_is_refused_with_the_reason() {
    let home = Home::new();
    let file = home.session(&format!("{TREE}\n    l7<a6 label u3 channels"));
    assert_snapshot!(home.run(&["cherry-pick", &file, "u5"]), @"
    --- words
    error: entry u5 is on the current path already
    hint: `--again` copies it all the same
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["cherry-pick", &file, "l7"]), @"
    --- words
    error: entry l7 is on the current path already
    hint: `--again` copies it all the same
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["cherry-pick", &file, "a4..u3"]), @"
    --- words
    error: entry a4 is not an ancestor of entry u3
    --- exit code 1
    ");
}

#[test]
fn entries_come_from_another_session_too() {
    let home = Home::new();
    let file = home.session(TREE);
    let other = home.file(
        "project/other.jsonl",
        testkit::drawing::session_text("x1 user elsewhere\nx2<x1 assistant far away"),
    );
    assert_snapshot!(home.run(&["cherry-pick", &file, &format!("{other}:x2")]), @"
    000000f1
    --- words
    copied x2 under a6: 1 entry, about 34 tokens
    undo: offshoot switch --exact [home]/project/s.jsonl a6
    ");
    assert_snapshot!(home.run(&["merge", &file, "other.jsonl:leaf"]), @r#"
    000000f2
    --- words
    merged 1 turn of "elsewhere", about 43 tokens
    undo: offshoot switch --exact [home]/project/s.jsonl 000000f1
    "#);
}

#[test]
fn a_merge_summarises_the_other_branch() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["merge", &file, "u3", "--dry-run"]), @r#"
    Copied from branch With channels, entry u3, 2025-01-01. File changes mentioned here were not applied on this branch unless noted.

    User: With channels
    --- words
    would merge 1 turn of "With channels", about 38 tokens
    "#);
    assert_snapshot!(home.run(&["merge", &file, "a4"]), @r#"
    000000f1
    --- words
    merged 1 turn of "With channels", about 47 tokens
    undo: offshoot switch --exact [home]/project/s.jsonl a6
    "#);
    assert_snapshot!(home.run(&["merge", &file, "a4"]), @"
    --- words
    merged nothing: already up to date
    ");
    assert_snapshot!(home.run(&["tree", &file]), @"
    • user: Build a parser
    • assistant: How?
    ├⊟ • user: With threads
    │     • assistant: Threads are simple
    │     • [merge ⇠ With channels]: Copied from branch With channels, entries u3 to a4, 2025-01-01. File changes mentioned here were not applied on this branch unless noted.  User: With channels  Assistant: Channels are fast ← active
    └⊟ user: With channels
          assistant: Channels are fast
    ");
}

#[test]
fn a_summary_of_a_merge_is_made_by_the_model_of_the_settings() {
    let home = Home::new();
    let file = home.session(TREE);
    let server = ModelServer::start([Reply::answer().text("Channels are fast.")]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let run = home.run(&["merge", &file, "a4", "--mode", "summary", "--dry-run"]);
    assert!(
        run.err().contains("would merge 1 turn of \"With channels\", with a summary by a model"),
        "{run}"
    );
    assert!(!run.ok().contains("With channels"), "the digest is not what would be written: {run}");
    assert_eq!(server.requests().len(), 0, "a dry run asks no model");
    let run = home.run(&["merge", &file, "a4", "--mode", "summary", "--focus", "speed", "--json"]);
    assert_eq!(run.json()["text"], "Channels are fast.", "{run}");
    assert!(server.requests()[0].body.to_string().contains("Additional focus: speed"));
}

#[test]
fn a_merge_in_own_words_and_a_fast_forward() {
    let home = Home::new();
    let file = home.session(&format!("{TREE}\n    m7<a2 marker a2"));
    assert_snapshot!(home.run(&["merge", &file, "a4", "--json"]), @r#"{"action":"move","outcome":"fast-forward","newLeafId":"a4","file":"[home]/project/s.jsonl","leafId":"a4","dryRun":false,"undo":"offshoot switch --exact [home]/project/s.jsonl a2"}"#);
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["merge", &file, "a4", "-m", "Channels win", "--json"]), @r#"{"action":"merge","outcome":"merge","branch":"With channels","baseId":"a2","sourceLeafId":"a4","text":"Channels win","tokens":3,"readFiles":[],"modifiedFiles":[],"contestedFiles":[],"conflicts":[],"turns":1,"omittedTurns":0,"entryId":"000000f1","file":"[home]/project/s.jsonl","leafId":"000000f1","dryRun":false,"undo":"offshoot switch --exact [home]/project/s.jsonl a6"}"#);
}

#[test]
fn a_pop_goes_back_and_leaves_a_note() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["pop", &file, "-m", "threads block"]), @"
    000000f1
    --- words
    went back to a2, 2 entries left behind
    undo: offshoot switch --exact [home]/project/s.jsonl a6
    the prompt was: With threads
    ");
    assert_snapshot!(home.run(&["tree", &file]), @"
    • user: Build a parser
    • assistant: How?
    ├─ • [branch summary]: threads block ← active
    ├⊟ user: With channels
    │     assistant: Channels are fast
    └⊟ user: With threads
          assistant: Threads are simple
    ");
    assert_snapshot!(home.run(&["pop", &file, "-m", " "]), @"
    --- words
    error: the summary is empty
    hint: `branch-here` moves without a summary
    --- exit code 2
    ");
}

#[test]
fn a_pop_without_a_note_makes_a_summary() {
    let home = Home::new();
    let file = home.session(TREE);
    let run = home.run(&["pop", &file, "u5"]);
    assert_eq!(run.ok().lines().count(), 1, "{run}");
    assert!(run.err().contains("went back to a2, 2 entries left behind"), "{run}");
    assert!(run.err().contains("the prompt was: With threads"), "{run}");
    let summary: serde_json::Value = home.run(&["show", &file, run.ok().trim(), "--json"]).json();
    let summary = summary.to_string();
    assert!(summary.contains("branch_summary") && summary.contains("With threads"), "{summary}");

    // The model of the settings is asked; if it fails, nothing changes.
    let home = Home::new();
    let file = home.session(TREE);
    let server = ModelServer::start([Reply::answer().text("Threads were tried.")]).unwrap();
    set_up(&home, &server, "anthropic-messages");
    let run = home.run(&["pop", &file, "--json"]);
    assert_eq!(run.json()["abandonedEntries"], 2, "{run}");
    assert_eq!(server.requests().len(), 1);
    assert!(home.run(&["tree", &file]).ok().contains("Threads were tried."));
    let before = files(&home.path("project"));
    let run = home.run(&["pop", &file]);
    assert_eq!(run.code, 1, "{run}");
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("project"));
    for command in [
        &["cherry-pick", file.as_str(), "a4"][..],
        &["merge", &file, "a4"],
        &["merge", &file, "a4", "-m", "own words"],
        &["pop", &file, "-m", "note"],
        &["pop", &file],
    ] {
        for how in [&["--dry-run"][..], &["--dry-run", "--json"]] {
            let run = home.run(&[command, how].concat());
            run.ok();
        }
    }
    assert_eq!(files(&home.path("project")), before);
}
