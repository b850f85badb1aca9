//! `append`: drafts in, ids out; what was reported is in the file, what is wrong is not.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use insta::assert_snapshot;
use session_tree::Session;

use crate::support::{Home, files};

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    a4<u3 assistant Done, 60 ms
";

fn prompt(text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\",\"timestamp\":1}}}}\n"
    )
}

/// The entries behind the first `count` ones, without what was there before.
fn added(file: &str, count: usize) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().skip(1 + count).collect::<Vec<_>>().join("\n")
}

#[test]
fn drafts_become_entries_one_below_the_other() {
    let home = Home::new();
    let file = home.session(TREE);
    let input = format!(
        "{}\n{}{}",
        prompt("Use Rust"),
        r#"{ "type": "custom", "customType": "ext", "data": {"n": 12345678901234567890} }"#,
        "\n{\"type\":\"label\",\"targetId\":\"root\",\"label\":\"start\"}"
    );
    assert_snapshot!(home.run_with_input(&["append", &file], input.as_bytes()), @"
    000000f1
    000000f2
    000000f3
    --- words
    appended 3 entries to [home]/project/s.jsonl
    undo: offshoot switch --exact [home]/project/s.jsonl a4
    ");
    assert_snapshot!(added(&file, 4), @r#"
    {"type":"message","id":"000000f1","parentId":"a4","timestamp":"2025-01-01T02:00:00.000Z","message":{"role":"user","content":"Use Rust","timestamp":1}}
    {"type":"custom","customType":"ext","data":{"n":12345678901234567890},"id":"000000f2","parentId":"000000f1","timestamp":"2025-01-01T02:00:00.000Z"}
    {"type":"label","id":"000000f3","parentId":"000000f2","timestamp":"2025-01-01T02:00:00.000Z","targetId":"u1","label":"start"}
    "#);
}

#[test]
fn json_has_ids_and_parents_and_then_the_action() {
    let home = Home::new();
    let file = home.session(TREE);
    let input = [prompt("one"), prompt("two")].concat();
    assert_snapshot!(home.run_with_input(&["append", &file, "--json"], input.as_bytes()), @r#"
    {"id":"000000f1","parentId":"a4"}
    {"id":"000000f2","parentId":"000000f1"}
    {"action":"append","file":"[home]/project/s.jsonl","leafId":"000000f2","entries":2,"dryRun":false,"undo":"offshoot switch --exact [home]/project/s.jsonl a4"}
    "#);
}

#[test]
fn a_branch_begins_below_the_entry_that_is_named() {
    let home = Home::new();
    let file = home.session(TREE);
    let input = [prompt("Use Rust"), prompt("Use Zig").replace("\"type\"", "\"parentId\":\"a2\",\"type\"")];
    home.run_with_input(&["append", &file, "--under", "a2"], input.concat().as_bytes()).ok();
    home.run_with_input(
        &["append", &file],
        prompt("Anew").replace("\"type\"", "\"parentId\":null,\"type\"").as_bytes(),
    )
    .ok();
    assert_snapshot!(home.run(&["tree", &file, "--ids"]), @"
    000000f3 • user: Anew ← active
    u1       user: Build a CLI
    a2          assistant: Which language?
    u3          ├⊟ user: Use Node
    a4          │     assistant: Done, 60 ms
    000000f1    ├─ user: Use Rust
    000000f2    └─ user: Use Zig
    ");
}

#[test]
fn going_back_takes_it_back() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = home.run(&["context", &file, "--json"]).json();
    let run = home.run_with_input(&["append", &file], prompt("Use Rust").as_bytes());
    let undo = run.err().lines().find_map(|line| line.strip_prefix("undo: offshoot ")).unwrap();
    assert_ne!(home.run(&["context", &file, "--json"]).json(), before);
    home.run(&undo.split(' ').collect::<Vec<_>>()).ok();
    assert_eq!(home.run(&["context", &file, "--json"]).json(), before);
}

#[test]
fn a_bad_draft_ends_it_and_names_its_line() {
    let home = Home::new();
    let bad = [
        "{\"type\":\"message\"",
        r#"{"type":"message","message":{"role":"user"}}"#,
        r#"{"type":"lable","targetId":"u1"}"#,
        r#"{"type":"label","targetId":"nobody"}"#,
        r#"{"type":"message","id":"x","message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"message","parentId":7,"message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"compaction","summary":"x","firstKeptEntryId":"a4","tokensBefore":1,"parentId":"u1"}"#,
        r#"{"type":"context_edit","targetId":"a4","replacement":null,"parentId":"u1"}"#,
    ];
    let mut words = String::new();
    for draft in bad {
        let file = home.session(TREE);
        let before = fs::read(&file).unwrap();
        let run =
            home.run_with_input(&["append", &file], format!("\n{draft}\n{}", prompt("never")).as_bytes());
        assert_eq!((run.code, run.out()), (1, ""), "{run}");
        assert_eq!(fs::read(&file).unwrap(), before, "{draft}");
        words.push_str(run.err());
    }
    assert_snapshot!(words, @"
    error: line 2 of standard input: not JSON: unexpected end of text at byte 17
    error: line 2 of standard input: cannot write this message: it has no `content`
    hint: `offshoot show SESSION REF --raw` prints an entry as it is stored
    error: line 2 of standard input: cannot write this draft: the type `lable` is not one that is written
    hint: `offshoot show SESSION REF --raw` prints an entry as it is stored
    error: line 2 of standard input: Entry nobody not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    error: line 2 of standard input: cannot write this draft: `id` is set by the session
    hint: `offshoot show SESSION REF --raw` prints an entry as it is stored
    error: line 2 of standard input: `parentId` is neither an entry nor null
    error: line 2 of standard input: Entry a4 is not on the active branch
    error: line 2 of standard input: Entry a4 is not on the active branch
    ");
}

#[test]
fn what_came_before_a_bad_draft_stays_and_what_comes_after_is_not_written() {
    let home = Home::new();
    let file = home.session(TREE);
    let input = [prompt("stays"), "{}\n".into(), prompt("never")].concat();
    assert_snapshot!(home.run_with_input(&["append", &file], input.as_bytes()), @"
    000000f1
    --- words
    appended 1 entry to [home]/project/s.jsonl
    undo: offshoot switch --exact [home]/project/s.jsonl a4
    error: line 2 of standard input: cannot write this draft: it has no `type`
    hint: `offshoot show SESSION REF --raw` prints an entry as it is stored
    --- exit code 1
    ");
    assert_snapshot!(added(&file, 4), @r#"{"type":"message","id":"000000f1","parentId":"a4","timestamp":"2025-01-01T02:00:00.000Z","message":{"role":"user","content":"stays","timestamp":1}}"#);
}

#[test]
fn a_dry_run_looks_at_all_drafts_and_writes_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path(""));
    let input = [prompt("one"), prompt("two")].concat();
    assert_snapshot!(home.run_with_input(&["append", &file, "--dry-run"], input.as_bytes()), @"
    --- words
    would append 2 entries to [home]/project/s.jsonl
    ");
    assert_snapshot!(home.run_with_input(&["append", &file, "--dry-run", "--json"], input.as_bytes()), @r#"{"action":"append","file":"[home]/project/s.jsonl","leafId":"a4","entries":2,"dryRun":true,"undo":null}"#);
    let wrong = [prompt("one"), "[]".into()].concat();
    assert_snapshot!(home.run_with_input(&["append", &file, "-n"], wrong.as_bytes()), @"
    --- words
    error: line 2 of standard input: cannot write this draft: it is not a JSON object
    hint: `offshoot show SESSION REF --raw` prints an entry as it is stored
    --- exit code 1
    ");
    let new = ["append", "new.jsonl", "--create", "-n"];
    assert_snapshot!(home.run_with_input(&new, input.as_bytes()), @"
    --- words
    would append 2 entries to the new session [home]/project/new.jsonl
    ");
    assert_eq!(files(&home.path("")), before);
}

#[test]
fn a_session_is_made_if_that_is_asked_for() {
    let home = Home::new();
    assert_snapshot!(home.run_with_input(&["append", "new.jsonl"], b""), @"
    --- words
    error: no session new.jsonl
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
    assert_snapshot!(home.run_with_input(&["append", "new", "--create"], b""), @"
    --- words
    error: new does not look like the path of a session
    hint: use `./new` or `new.jsonl` to make a file of that name
    --- exit code 1
    ");
    let new = ["append", "new.jsonl", "--create", "--cwd", "/w"];
    assert_snapshot!(home.run_with_input(&new, prompt("hi").as_bytes()), @"
    000000f1
    --- words
    appended 1 entry to the new session [home]/project/new.jsonl
    undo: rm [home]/project/new.jsonl
    ");
    home.run_with_input(&new, prompt("again").as_bytes()).ok();
    assert_snapshot!(fs::read_to_string(home.path("project/new.jsonl")).unwrap(), @r#"
    {"type":"session","version":3,"id":"session-241","timestamp":"2025-01-01T02:00:00.000Z","cwd":"/w"}
    {"type":"message","id":"000000f1","parentId":null,"timestamp":"2025-01-01T02:00:00.000Z","message":{"role":"user","content":"hi","timestamp":1}}
    {"type":"message","id":"000000f2","parentId":"000000f1","timestamp":"2025-01-01T02:00:00.000Z","message":{"role":"user","content":"again","timestamp":1}}
    "#);
}

#[test]
fn an_old_session_is_migrated_and_its_original_kept() {
    let home = Home::new();
    let v1 = include_str!("v1.jsonl");
    let file = home.file("project/old.jsonl", v1);
    home.run_with_input(&["append", &file, "-n"], prompt("hi").as_bytes()).ok();
    home.run_with_input(&["append", &file], b"").ok();
    assert_eq!(fs::read_to_string(&file).unwrap(), v1, "nothing was appended, so nothing is migrated");
    assert_snapshot!(home.run_with_input(&["append", &file], prompt("hi").as_bytes()), @"
    000000f1
    --- words
    brought version 1 to version 3; the original is [home]/project/old.jsonl.bak-v1
    appended 1 entry to [home]/project/old.jsonl
    undo: offshoot switch --exact [home]/project/old.jsonl 2660ef59
    ");
    assert_eq!(fs::read_to_string(home.path("project/old.jsonl.bak-v1")).unwrap(), v1);
}

#[test]
fn a_script_may_wait_for_each_id_before_the_next_draft() {
    let home = Home::new();
    let file = home.session(TREE);
    for policy in ["always", "barrier", "os"] {
        let mut child = home.command(&["append", &file, "--sync", policy]).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut parent = "a4".to_owned();
        for step in 0..5 {
            let draft = prompt(&format!("step {step}"));
            let draft = draft.replace("\"type\"", &format!("\"parentId\":\"{parent}\",\"type\""));
            input.write_all(draft.as_bytes()).unwrap();
            let mut id = String::new();
            output.read_line(&mut id).unwrap();
            let id = id.trim().to_owned();
            let session = Session::open_read_only(&file).unwrap();
            let node = session.node(&id).expect("an id that was told is in the file");
            assert_eq!(
                session.tree().parent(node).map(|node| session.tree().id(node).to_string()).unwrap(),
                parent
            );
            parent = id;
        }
        drop(input);
        assert!(child.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn two_processes_at_once_lose_nothing() {
    let home = Home::new();
    let file = home.session(TREE);
    let drafts: String = (0..200).map(|step| prompt(&format!("step {step}"))).collect();
    let told: Vec<Vec<String>> = std::thread::scope(|scope| {
        let runs = [0, 1].map(|_| {
            scope.spawn(|| {
                let run = home.run_with_input(&["append", &file, "--sync", "os"], drafts.as_bytes());
                run.ok().lines().map(str::to_owned).collect()
            })
        });
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let session = Session::open_read_only(&file).unwrap();
    assert_eq!(session.tree().len(), 4 + 400);
    assert!(session.check().unwrap().is_clean());
    for ids in told {
        let last = session.node(ids.last().unwrap()).unwrap();
        let path: Vec<_> =
            session.tree().path(last).iter().map(|node| session.tree().id(*node).to_string()).collect();
        assert!(path.ends_with(&ids), "each writer sees its own entries one below the other");
    }
}

#[test]
fn drafts_are_appended_even_if_their_ids_are_not_read() {
    let home = Home::new();
    let file = home.session(TREE);
    let mut child = home.command(&["append", &file]).spawn().unwrap();
    drop(child.stdout.take());
    let drafts: String = (0..50).map(|step| prompt(&format!("step {step}"))).collect();
    child.stdin.take().unwrap().write_all(drafts.as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(Session::open_read_only(&file).unwrap().tree().len(), 54);
}

#[test]
fn edits_of_the_context_and_compactions_are_checked_against_the_path() {
    let home = Home::new();
    let file = home.session(TREE);
    let input = concat!(
        r#"{"type":"context_edit","targetId":"leaf","replacement":{"content":"short"}}"#,
        "\n",
        r#"{"type":"compaction","summary":"a CLI","firstKeptEntryId":"u3","tokensBefore":100}"#,
    );
    home.run_with_input(&["append", &file], input.as_bytes()).ok();
    assert_snapshot!(home.run(&["context", &file]), @"
    entry                 tokens  role               text
    000000f2  summarised       2  compactionSummary  a CLI
    u3        kept             2  user               Use Node
    a4        edited           2  assistant          short
    --- words
    3 messages, about 6 tokens; model prov/mod, thinking off
    ");
}
