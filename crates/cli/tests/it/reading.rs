//! Commands that look at a session: what they show, and that they leave everything as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use insta::assert_snapshot;
use session_tree::encode_cwd;
use testkit::drawing::session_text;

use crate::support::{Home, files};

const TREE: &str = r#"
    m0 model anthropic/sonnet
    u1<m0 user Build a CLI that greets people
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    c4<u3 call write I write it
    t5<c4 tool write wrote 12 lines
    a6<t5 assistant Done, but it takes 60 ms
    s7<a2 summary from=a6 Node is slow
    u8<s7 user Use Rust
    a9<u8 assistant Done, 1 ms
    k10<a9 compaction keep=u8 A greeter in Rust
    u11<k10 user Add a flag
    a12<u11 assistant HELLO
    e13<a12 edit a9 Done
    l14<e13 label u8 rust
"#;

/// A session of version 1: no ids, a compaction that counts.
const OLD: &str = concat!(
    r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w","provider":"p","modelId":"m","thinkingLevel":"off"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"first","timestamp":1}}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":2}}"#,
    "\n",
);

/// An entry for `append`.
const PROMPT: &[u8] =
    b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"hi\",\"timestamp\":1}}\n";

#[test]
fn the_tree_shows_branches_labels_and_the_position() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["tree", &file]), @"
    • user: Build a CLI that greets people
    • assistant: Which language?
    ├⊟ • [branch summary]: Node is slow
    │     • [rust] user: Use Rust
    │     • assistant: Done, 1 ms
    │     • [compaction: 1k tokens]
    │     • user: Add a flag
    │     • assistant: HELLO ← active
    └⊟ user: Use Node
          assistant: I write it
          [write: ]
          assistant: Done, but it takes 60 ms
    ");
    assert_snapshot!(home.run(&["tree", &file, "--filter", "all", "--ids", "--ascii"]), @"
    m0       * [model: sonnet]
    u1       * user: Build a CLI that greets people
    a2       * assistant: Which language?
    s7       |= * [branch summary]: Node is slow
    u8       |     * [rust] user: Use Rust
    a9       |     * assistant: Done, 1 ms
    k10      |     * [compaction: 1k tokens]
    u11      |     * user: Add a flag
    a12      |     * assistant: HELLO
    e13      |     * [context replace: a9]
    l14      |     * [label: rust] <- active
    u3       `= user: Use Node
    c4             assistant: I write it
    t5             [write: ]
    a6             assistant: Done, but it takes 60 ms
    ");
    assert_snapshot!(home.run(&["tree", &file, "--turns"]), @"
    • user: Build a CLI that greets people  (10 tokens)
    ├⊟ • [rust] user: Use Rust  (10 tokens, compacted)
    │     • user: Add a flag  (10 tokens) ← active
    └─ user: Use Node  (1 tool, 20 tokens)
    ");
    assert_snapshot!(home.run(&["tree", &file, "--branches"]), @"
    • assistant: Which language?
    ├─ • [context replace: a9] ← active
    └─ assistant: Done, but it takes 60 ms
    ");
    assert_snapshot!(home.run(&["tree", &file, "--search", "tool:write"]), @"
    assistant: I write it
    [write: ]
    ");
    assert_snapshot!(home.run(&["tree", &file, "--search", "no such words"]), @"
    --- words
    no entries found
    ");
}

#[test]
fn the_tree_is_a_flat_list_for_scripts_and_nested_as_pi_gives_it() {
    let home = Home::new();
    let file = home
        .session("u1 user one\na2<u1 assistant two\nu3<a2 user left\nu4<a2 user right\nl5<u4 label u1 start");
    assert_snapshot!(home.run(&["tree", &file, "--json"]), @r#"[{"id":"u1","parentId":null,"type":"message","role":"user","depth":0,"indent":0,"onPath":true,"isLeaf":false,"leafBelow":false,"label":"start","labelTimestamp":"2025-01-01T00:00:05.000Z","timestamp":"2025-01-01T00:00:01.000Z","text":"user: one","isError":false},{"id":"a2","parentId":"u1","type":"message","role":"assistant","depth":1,"indent":0,"onPath":true,"isLeaf":false,"leafBelow":false,"timestamp":"2025-01-01T00:00:02.000Z","text":"assistant: two","isError":false},{"id":"u4","parentId":"a2","type":"message","role":"user","depth":2,"indent":1,"onPath":true,"isLeaf":false,"leafBelow":true,"timestamp":"2025-01-01T00:00:04.000Z","text":"user: right","isError":false},{"id":"u3","parentId":"a2","type":"message","role":"user","depth":2,"indent":1,"onPath":false,"isLeaf":false,"leafBelow":false,"timestamp":"2025-01-01T00:00:03.000Z","text":"user: left","isError":false}]"#);
    assert_snapshot!(home.run(&["tree", &file, "--nested"]), @r#"[{"entry":{"type":"message","id":"u1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1735689601000}},"label":"start","labelTimestamp":"2025-01-01T00:00:05.000Z","children":[{"entry":{"type":"message","id":"a2","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689602000}},"children":[{"entry":{"type":"message","id":"u3","parentId":"a2","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"left","timestamp":1735689603000}},"children":[]},{"entry":{"type":"message","id":"u4","parentId":"a2","timestamp":"2025-01-01T00:00:04.000Z","message":{"role":"user","content":"right","timestamp":1735689604000}},"children":[{"entry":{"type":"label","id":"l5","parentId":"u4","timestamp":"2025-01-01T00:00:05.000Z","targetId":"u1","label":"start"},"children":[]}]}]}]}]"#);
}

#[test]
fn entries_are_listed_in_the_order_of_the_file_and_a_path_from_its_root() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["tree", "--flat", &file]), @"
    line  entry  parent  age  text
       2  m0             1h   [model: sonnet]
       3  u1     m0      1h   user: Build a CLI that greets people
       4  a2     u1      1h   assistant: Which language?
       5  u3     a2      1h   user: Use Node
       6  c4     u3      1h   assistant: I write it
       7  t5     c4      1h   [write: ]
       8  a6     t5      1h   assistant: Done, but it takes 60 ms
       9  s7     a2      1h   [branch summary]: Node is slow
      10  u8     s7      1h   [rust] user: Use Rust
      11  a9     u8      1h   assistant: Done, 1 ms
      12  k10    a9      1h   [compaction: 1k tokens]
      13  u11    k10     1h   user: Add a flag
      14  a12    u11     1h   assistant: HELLO
      15  e13    a12     1h   [context replace: a9]
      16  l14    e13     1h   [label: rust]
    ");
    assert_snapshot!(home.run(&["path", &file, "u3"]), @"
    line  entry  parent  age  text
       2  m0             1h   [model: sonnet]
       3  u1     m0      1h   user: Build a CLI that greets people
       4  a2     u1      1h   assistant: Which language?
       5  u3     a2      1h   user: Use Node
    ");
    assert_snapshot!(home.run(&["path", &file, "@rust", "--json"]), @r#"[{"line":2,"id":"m0","parentId":null,"entry":{"type":"model_change","id":"m0","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","provider":"anthropic","modelId":"sonnet"}},{"line":3,"id":"u1","parentId":"m0","entry":{"type":"message","id":"u1","parentId":"m0","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"Build a CLI that greets people","timestamp":1735689602000}}},{"line":4,"id":"a2","parentId":"u1","entry":{"type":"message","id":"a2","parentId":"u1","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Which language?"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689603000}}},{"line":9,"id":"s7","parentId":"a2","entry":{"type":"branch_summary","id":"s7","parentId":"a2","timestamp":"2025-01-01T00:00:08.000Z","fromId":"a6","summary":"Node is slow"}},{"line":10,"id":"u8","parentId":"s7","label":"rust","labelTimestamp":"2025-01-01T00:00:15.000Z","entry":{"type":"message","id":"u8","parentId":"s7","timestamp":"2025-01-01T00:00:09.000Z","message":{"role":"user","content":"Use Rust","timestamp":1735689609000}}}]"#);
}

#[test]
fn an_entry_is_shown_in_full() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["show", &file, "c4"]), @"
    entry   c4 (message, assistant)
    parent   u3
    children t5
    time     2025-01-01T00:00:05.000Z
    line     6, 466 B

    I write it
    call of write
    ");
    assert_snapshot!(home.run(&["show", &file, "t5"]), @"
    entry   t5 (message, toolResult)
    parent   c4
    children a6
    time     2025-01-01T00:00:06.000Z
    line     7, 251 B

    result of write: ok
    wrote 12 lines
    ");
    assert_snapshot!(home.run(&["show", &file, "@rust"]), @"
    entry   u8 (message, user)
    parent   s7
    children a9
    time     2025-01-01T00:00:09.000Z
    line     10, 156 B
    label    rust

    Use Rust
    ");
    assert_snapshot!(home.run(&["show", &file, "k10"]), @"
    entry   k10 (compaction)
    parent   a9
    children u11
    time     2025-01-01T00:00:11.000Z
    line     12, 161 B

    keeps from u8
    A greeter in Rust
    ");
    assert_snapshot!(home.run(&["show", &file, "u1", "--json"]), @r#"{"line":3,"depth":1,"children":["a2"],"onPath":true,"isLeaf":false,"entry":{"type":"message","id":"u1","parentId":"m0","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"Build a CLI that greets people","timestamp":1735689602000}}}"#);
}

#[test]
fn an_edit_is_shown_as_a_diff() {
    let home = Home::new();
    let call = concat!(
        r#"! {"type":"message","id":"c2","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","#,
        r#""content":[{"type":"thinking","thinking":"rename it"},{"type":"toolCall","id":"x","name":"edit","arguments":"#,
        r#"{"path":"a.rs","oldText":"fn a() {\n\tone();\n}","newText":"fn b() {\n\tone();\n}"}}]}}"#,
    );
    let file = home.session(&format!("u1 user rename a\n{call}"));
    assert_snapshot!(home.run(&["show", &file]), @"
    entry   c2 (message, assistant)
    parent   u1
    time     2025-01-01T00:00:02.000Z
    line     3, 308 B

    thinking:
      rename it
    call of edit
      path: a.rs
      - fn a() {
      + fn b() {
            one();
        }
    ");
}

#[test]
fn raw_gives_the_exact_bytes_of_the_line() {
    let home = Home::new();
    let odd = r#"{"type":"message","id":"c2",  "parentId":"u1","n":1.0e+2,"n":2,"x":"\ud800","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"hi"}}"#;
    let file = home.session(&format!("u1 user one\n! {odd}"));
    let raw = home.run(&["show", &file, "c2", "--raw"]);
    assert_eq!(raw.ok(), format!("{odd}\n"));
    let json = home.run(&["show", &file, "c2", "--json"]);
    assert!(json.ok().contains(odd), "{json}");
}

#[test]
fn the_context_is_what_a_model_would_get() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["context", &file]), @"
    entry              tokens  role               text
    k10    summarised       5  compactionSummary  A greeter in Rust
    u8     kept             2  user               Use Rust
    a9     edited           1  assistant          Done
    u11                     3  user               Add a flag
    a12                     2  assistant          HELLO
    --- words
    5 messages, about 13 tokens; model prov/mod, thinking off
    ");
    assert_snapshot!(home.run(&["context", &file, "u3", "--json"]), @r#"{"messages":[{"role":"user","content":"Build a CLI that greets people","timestamp":1735689602000},{"role":"assistant","content":[{"type":"text","text":"Which language?"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689603000},{"role":"user","content":"Use Node","timestamp":1735689604000}],"thinkingLevel":"off","model":{"provider":"prov","modelId":"mod"}}"#);
    assert_snapshot!(home.run(&["context", &file, "s7", "--llm", "--json"]), @r#"{"messages":[{"role":"user","content":"Build a CLI that greets people","timestamp":1735689602000},{"role":"assistant","content":[{"type":"text","text":"Which language?"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689603000},{"role":"user","content":[{"type":"text","text":"The following is a summary of a branch that this conversation came back from:\n\n<summary>\nNode is slow</summary>"}],"timestamp":1735689608000}],"thinkingLevel":"off","model":{"provider":"prov","modelId":"mod"}}"#);
}

#[test]
fn several_sessions_give_a_line_each_and_one_that_fails_does_not_stop_the_others() {
    let home = Home::new();
    let one = home.file("project/one.jsonl", session_text("u1 user one"));
    let none = home.file("project/none.jsonl", "no session\n");
    let two = home.file("project/two.jsonl", session_text("u2 user two"));
    assert_snapshot!(home.run(&["tree", &one, &none, &two]), @"
    ==> [home]/project/one.jsonl <==
    • user: one ← active

    ==> [home]/project/none.jsonl <==

    ==> [home]/project/two.jsonl <==
    • user: two ← active
    --- words
    error: Session file is not a valid pi session: [home]/project/none.jsonl
    hint: it has no session header; the file was not changed
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["tree", "--json", &one, &none, &two]), @r#"
    {"session":"[home]/project/one.jsonl","result":[{"id":"u1","parentId":null,"type":"message","role":"user","depth":0,"indent":0,"onPath":true,"isLeaf":true,"leafBelow":false,"timestamp":"2025-01-01T00:00:01.000Z","text":"user: one","isError":false}]}
    {"session":"[home]/project/none.jsonl","error":{"message":"Session file is not a valid pi session: [home]/project/none.jsonl","hints":["it has no session header; the file was not changed"]}}
    {"session":"[home]/project/two.jsonl","result":[{"id":"u2","parentId":null,"type":"message","role":"user","depth":0,"indent":0,"onPath":true,"isLeaf":true,"leafBelow":false,"timestamp":"2025-01-01T00:00:01.000Z","text":"user: two","isError":false}]}
    --- exit code 1
    "#);
    let list = format!("{one}\n\n{none}\n{two}\n");
    assert_snapshot!(home.run_with_input(&["context", "--batch", "--json"], list.as_bytes()), @r#"
    {"session":"[home]/project/one.jsonl","result":{"messages":[{"role":"user","content":"one","timestamp":1735689601000}],"thinkingLevel":"off","model":null}}
    {"session":"[home]/project/none.jsonl","error":{"message":"Session file is not a valid pi session: [home]/project/none.jsonl","hints":["it has no session header; the file was not changed"]}}
    {"session":"[home]/project/two.jsonl","result":{"messages":[{"role":"user","content":"two","timestamp":1735689601000}],"thinkingLevel":"off","model":null}}
    --- exit code 1
    "#);
    assert_snapshot!(home.run_with_input(&["path", "--batch", "root"], list.as_bytes()), @"
    ==> [home]/project/one.jsonl <==
    line  entry  age  text
       2  u1     1h   user: one

    ==> [home]/project/none.jsonl <==

    ==> [home]/project/two.jsonl <==
    line  entry  age  text
       2  u2     1h   user: two
    --- words
    error: Session file is not a valid pi session: [home]/project/none.jsonl
    hint: it has no session header; the file was not changed
    --- exit code 1
    ");
}

#[test]
fn all_lists_are_arrays_in_one_line_of_json() {
    let home = Home::new();
    let file = home.session(TREE);
    home.file("offshoot/sessions/one.jsonl", session_text(TREE));
    home.file("project/.offshoot/settings.json", "{}");
    home.run(&["trust", "--yes"]).ok();
    home.run(&["extension", "new", "hello"]).ok();
    let lists: [&[&str]; 10] = [
        &["sessions", "--all"],
        &["tree", &file],
        &["tree", &file, "--flat"],
        &["path", &file],
        &["branches", &file],
        &["labels", &file],
        &["models"],
        &["settings"],
        &["login", "--list"],
        &["extension", "list"],
    ];
    for list in lists.into_iter().chain([&["trust", "--list"][..]]) {
        let run = home.run(&[list, &["--json"]].concat());
        assert_eq!(run.ok().lines().count(), 1, "{list:?}: {run}");
        let rows = run.json();
        let rows = rows.as_array().unwrap_or_else(|| panic!("{list:?}: {run}"));
        assert!(!rows.is_empty() && rows.iter().all(serde_json::Value::is_object), "{list:?}: {run}");
    }
}

#[test]
fn a_session_can_come_from_a_pipe() {
    let home = Home::new();
    let text = session_text(TREE);
    let file = home.session(TREE);
    for command in [&["tree"][..], &["path"], &["show"], &["context"], &["branches"], &["tree", "--flat"]] {
        let piped = home.run_with_input(&[command, &["/dev/stdin"]].concat(), &text);
        assert_eq!(piped.ok(), home.run(&[command, &[&file]].concat()).ok(), "{command:?}");
    }
    home.run_with_input(&["stats", "/dev/stdin"], &text).ok();
    home.run_with_input(&["check", "/dev/stdin"], &text).ok();
    home.run_with_input(&["export", "/dev/stdin", "-o", "-"], &text).ok();
    let run = home.run_with_input(&["tree", "/dev/stdin"], b"no session\n");
    assert_eq!(run.code, 1, "{run}");
    assert_ne!(home.run_with_input(&["label", "/dev/stdin", "u1", "x"], &text).code, 0);
}

#[test]
fn rows_of_a_path_have_ids_in_files_of_version_1_too() {
    let home = Home::new();
    let file = home.file("project/old.jsonl", OLD);
    let rows = home.run(&["path", &file, "--json"]).json();
    assert!(rows[0]["id"].is_string() && !OLD.contains(rows[0]["id"].as_str().unwrap()), "{rows}");
    assert_eq!(rows[1]["parentId"], rows[0]["id"]);
    let shown = home.run(&["show", &file, rows[1]["id"].as_str().unwrap(), "--json"]).json();
    assert_eq!(shown["entry"], rows[1]["entry"]);
}

#[test]
fn reading_writes_nothing_whatever_the_version() {
    let home = Home::new();
    let new = home.session(TREE);
    let old = home.file("project/old.jsonl", OLD);
    let newer = String::from_utf8(session_text(TREE)).unwrap().replace(r#""version":3"#, r#""version":9"#);
    let newer = home.file("project/newer.jsonl", newer);
    let whole = session_text(TREE);
    let torn = home.file("project/torn.jsonl", &whole[..whole.len() - 30]);
    let before = states(&home.path("project"));
    for file in [&new, &old, &newer, &torn] {
        for command in ["tree", "tree --flat", "show", "path", "context", "check", "branches", "stats"] {
            for form in [format!("{command} {file}"), format!("{command} {file} --json")] {
                let run = home.run(&form.split(' ').collect::<Vec<_>>());
                // A check reports damage with its exit code.
                let code = if command == "check" && file == &torn { 4 } else { 0 };
                assert_eq!(run.code, code, "{form:?}: {run}");
            }
        }
        home.run(&["tree", file, "--nested"]).ok();
        home.run(&["show", file, "root", "--raw"]).ok();
        home.run(&["diff", file, "root"]).ok();
        home.run(&["export", file, "-o", "-"]).ok();
        home.run(&["follow", file, "--from-start", "--until-idle", "0"]).ok();
    }
    home.run(&["sessions", "--all", "--session-dir", "."]).ok();
    assert_eq!(states(&home.path("project")), before);
}

/// Every file below a directory with its bytes and the time of its last change.
fn states(dir: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let changed = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    files(dir).into_iter().map(|(path, bytes)| (path.clone(), bytes, changed(&path))).collect()
}

#[test]
fn a_file_that_is_no_session_stays_as_it_is_whatever_is_asked_for() {
    let home = Home::new();
    let notes = home.file("project/notes.txt", "my notes of many days\n".repeat(100));
    let blank = home.file("project/blank.jsonl", "\n \n\n");
    let before = states(&home.path("project"));
    for file in [notes.as_str(), &blank] {
        for arguments in [
            &["export", file][..],
            &["--session", file, "-p", "hi"],
            &["--fork", file, "-p", "hi"],
            &["append", file],
            &["append", file, "--create"],
            &["label", file, "leaf", "here"],
            &["name", file, "mine"],
            &["switch", file, "root"],
            &["fork", file],
            &["clone", file],
            &["import", file],
            &["stats", file],
            &["migrate", file],
            &["repair", file],
            &["repair", file, "--copy", "copy.jsonl"],
        ] {
            let run = home.run_with_input(arguments, PROMPT);
            assert_ne!(run.code, 0, "{arguments:?}: {run}");
            assert!(run.err().contains("error: "), "{arguments:?}: {run}");
        }
    }
    assert_eq!(states(&home.path("project")), before);
    assert!(!home.path("offshoot/sessions").exists() || files(&home.path("offshoot/sessions")).is_empty());
}

#[test]
fn a_session_is_found_by_path_id_beginning_name_or_as_the_latest() {
    let home = Home::new();
    let text = |id: &str, words: &str| {
        let project = home.path("project").to_str().unwrap().to_owned();
        let text = String::from_utf8(session_text(&format!("u1 user {words}\nn2<u1 info {words}"))).unwrap();
        let (_, entries) = text.split_once('\n').unwrap();
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"{project}\"}}\n{entries}"
        )
    };
    let dir = format!("offshoot/sessions/{}", encode_cwd(home.path("project").to_str().unwrap()));
    let apple = home.file(&format!("{dir}/a.jsonl"), text("0198aaaa-1", "apple pie"));
    fs::File::open(apple).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    home.file(&format!("{dir}/b.jsonl"), text("0198bbbb-2", "banana"));
    let pi = dir.replace("offshoot/", "pi/");
    home.file(&format!("{pi}/c.jsonl"), text("0198cccc-3", "cherry"));
    for (wanted, words) in [
        ("0198aaaa-1", "apple pie"),
        ("0198b", "banana"),
        ("apple pie", "apple pie"),
        ("a.jsonl", "apple pie"),
        ("cherry", "cherry"),
    ] {
        let tree = home.run(&["tree", wanted]);
        assert!(tree.ok().contains(&format!("user: {words}")), "{wanted}: {tree}");
    }
    assert!(home.run(&["tree", "-"]).ok().contains("user: "));
    assert!(home.run(&["tree", "-", "--pi"]).ok().contains("user: cherry"));
    assert_snapshot!(home.run(&["tree", "0198"]), @"
    --- words
    error: `0198` is ambiguous: 2 sessions fit
    hint: [home]/offshoot/sessions/--[home]-project--/b.jsonl
    hint: [home]/offshoot/sessions/--[home]-project--/a.jsonl
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["tree", "banana", "--pi"]), @"
    --- words
    error: no session banana
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["tree", "nothing.jsonl"]), @"
    --- words
    error: no session nothing.jsonl
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
}

#[test]
fn impossible_requests_are_reported_with_a_hint() {
    let home = Home::new();
    let file = home.session("aaaa1 user one\naaaa2<aaaa1 assistant two");
    let notes = home.file("project/notes.txt", "my notes\n");
    assert_snapshot!(home.run(&["tree", &notes]), @"
    --- words
    error: Session file is not a valid pi session: [home]/project/notes.txt
    hint: it has no session header; the file was not changed
    --- exit code 1
    ");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes\n");
    assert_snapshot!(home.run(&["path", &file, "aaaa"]), @"
    --- words
    error: `aaaa` is ambiguous: 2 entries begin with it
    hint: one of: aaaa1, aaaa2
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["path", &file, "zzzz"]), @"
    --- words
    error: Entry zzzz not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["path", &file, "-"]), @"
    --- words
    error: cannot resolve the reference `-`: there is no previous leaf here
    hint: an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["tree", "-"]), @"
    --- words
    error: no session was made in [home]/project yet
    hint: `offshoot sessions --all` lists the sessions of all projects
    --- exit code 1
    ");
    assert_snapshot!(home.run(&["tree", &file, "--filter", "no"]), @"
    --- words
    error: invalid value 'no' for '--filter <MODE>'
      [possible values: default, no-tools, user-only, labeled-only, all, turns, branches, errors, files]

      tip: a similar value exists: 'no-tools'

    For more information, try '--help'.
    --- exit code 2
    ");
}
