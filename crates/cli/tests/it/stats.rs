//! `stats` and `diff`: what a session holds in numbers, and what two branches did.

use std::fs;

use insta::assert_snapshot;

use crate::support::{Home, files};

const TREE: &str = "
    u1 user Build a CLI
    a2<u1 assistant Which language?
    u3<a2 user Use Node
    c4<u3 call write greet.js
    t5<c4 tool write wrote 12 lines
    a6<t5 assistant Done, 60 ms
    s7<a2 summary from=a6 Node is slow
    u8<s7 user Use Rust
    c9<u8 call bash cargo new
    e10<c9 tool bash created
    b11<e10 bash cargo run
    a12<b11 assistant Done, 1 ms
    l13<a12 label u8 rust
";

#[test]
fn numbers_are_those_of_this_branch_and_of_the_whole_file() {
    let home = Home::new();
    let file = home.session(TREE);
    assert_snapshot!(home.run(&["stats", &file]), @"
    file     [home]/project/s.jsonl, 3.7 kB
    session  ses, version 3
    time     2025-01-01T00:00:01.000Z to 2025-01-01T00:00:13.000Z

                      this branch  whole file
    branches                                2
    entries                     9          13
    prompts                     2           3
    answers                     3           5
    tool calls                  1           2
    branch summaries            1           1
    bytes                  2.3 kB      3.6 kB
    tokens sent                27          45
    tokens received             3           5
    tokens                     30          50
    cost                    $0.00       $0.00

    model     this branch         whole file
    prov/mod           30  $0.00          50  $0.00

    tool   this branch  whole file  failed
    bash             1           1       0
    write            0           1       0
    ");
}

#[test]
fn numbers_as_json_have_the_same_parts() {
    let home = Home::new();
    let file = home.session("a user hi\nb<a call bash ls\nc<a user ho");
    let before = files(&home.path(""));
    assert_snapshot!(home.run(&["stats", &file, "--json"]), @r#"{"file":"[home]/project/s.jsonl","size":846,"id":"ses","version":3,"name":null,"parentSession":null,"branches":2,"thisBranch":{"entries":2,"bytes":297,"answers":0,"turns":2,"failed":0,"aborted":0,"tools":{},"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":0.0},"models":{},"lastModel":null,"compactions":0,"branchSummaries":0,"merges":0,"earliest":"2025-01-01T00:00:01.000Z","latest":"2025-01-01T00:00:03.000Z"},"wholeFile":{"entries":3,"bytes":751,"answers":1,"turns":2,"failed":0,"aborted":0,"tools":{"bash":{"calls":1,"results":0,"errors":0}},"usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":0.0},"models":{"prov/mod":{"answers":1,"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10,"cost":0.0}},"lastModel":{"provider":"prov","modelId":"mod"},"compactions":0,"branchSummaries":0,"merges":0,"earliest":"2025-01-01T00:00:01.000Z","latest":"2025-01-01T00:00:03.000Z"}}"#);
    assert_eq!(files(&home.path("")), before);
}

#[test]
fn several_sessions_are_counted_one_after_the_other() {
    let home = Home::new();
    let file = home.file("project/old.jsonl", include_str!("v1.jsonl"));
    home.session("a user hi");
    assert_snapshot!(home.run_with_input(&["stats", "--batch"], b"old.jsonl\ns.jsonl\nnone\n"), @"
    ==> old.jsonl <==
    file     [home]/project/old.jsonl, 590 B
    session  old, version 1
    time     2025-01-01T00:00:01.000Z to 2025-01-01T00:00:02.000Z

                     this branch  whole file
    branches                               1
    entries                    2           2
    prompts                    1           1
    answers                    1           1
    bytes                  444 B       444 B
    tokens sent              100         100
    tokens received            5           5
    tokens                   105         105
    cost                   $0.01       $0.01

    model             this branch         whole file
    anthropic/sonnet          105  $0.01         105  $0.01

    ==> s.jsonl <==
    file     [home]/project/s.jsonl, 242 B
    session  ses, version 3
    time     2025-01-01T00:00:01.000Z to 2025-01-01T00:00:01.000Z

              this branch  whole file
    branches                        1
    entries             1           1
    prompts             1           1
    bytes           149 B       149 B

    ==> none <==
    --- words
    error: no session none
    hint: `offshoot sessions --all` lists the sessions
    --- exit code 1
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), include_str!("v1.jsonl"));
}

#[test]
fn two_branches_are_compared_since_they_parted() {
    let home = Home::new();
    let file = home.session(TREE);
    let before = files(&home.path("project"));
    assert_snapshot!(home.run(&["diff", &file, "a6", "@rust"]), @"
    common ancestor a2  assistant: Which language?

    a6 (Use Node): 4 entries, 1 prompt, 20 tokens, $0.00
      prompt       Use Node
      ok           write {}
      ends with    Done, 60 ms

    u8 (rust): 2 entries, 1 prompt, 0 tokens, $0.00
      prompt       Use Rust
    ");
    assert_snapshot!(home.run(&["diff", &file, "a6"]), @"
    common ancestor a2  assistant: Which language?

    a6 (Use Node): 4 entries, 1 prompt, 20 tokens, $0.00
      prompt       Use Node
      ok           write {}
      ends with    Done, 60 ms

    l13 (rust): 7 entries, 1 prompt, 20 tokens, $0.00
      prompt       Use Rust
      ok           bash {}
      ok           ! bash cargo run
      ends with    Done, 1 ms
    ");
    assert_snapshot!(home.run(&["diff", &file, "a6", "leaf", "--json"]), @r#"{"base":"a2","sides":[{"at":"a6","entries":["u3","c4","t5","a6"],"prompts":[{"id":"u3","text":"Use Node"}],"readFiles":[],"modifiedFiles":[],"commands":[{"id":"c4","tool":"write","argument":"{}","outcome":"ok","byPerson":false}],"usage":{"input":18,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":20,"cost":0.0},"endsWith":"Done, 60 ms"},{"at":"l13","entries":["s7","u8","c9","e10","b11","a12","l13"],"prompts":[{"id":"u8","text":"Use Rust"}],"readFiles":[],"modifiedFiles":[],"commands":[{"id":"c9","tool":"bash","argument":"{}","outcome":"ok","byPerson":false},{"id":"b11","tool":"bash","argument":"cargo run","outcome":"ok","exitCode":0,"byPerson":true}],"usage":{"input":18,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":20,"cost":0.0},"endsWith":"Done, 1 ms"}],"filesInBoth":[],"contestedFiles":[]}"#);
    assert_eq!(files(&home.path("project")), before);
}

#[test]
fn files_that_both_branches_changed_are_listed() {
    let call = |id: &str, parent: &str, tool: &str, path: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:05.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"{tool}","arguments":{{"path":"{path}"}}}}]}}}}"#
        )
    };
    let drawing = [
        "a user go".to_owned(),
        call("b1", "a", "edit", "src/main.rs"),
        call("b2", "b1", "read", "README.md"),
        call("c1", "a", "write", "src/main.rs"),
        call("c2", "c1", "write", "README.md"),
        call("c3", "c2", "read", "Cargo.toml"),
    ];
    let home = Home::new();
    let file = home.session(&drawing.join("\n"));
    assert_snapshot!(home.run(&["diff", &file, "b2", "c3"]), @"
    common ancestor a  user: go

    b2 ([message]): 2 entries, 0 prompts, 0 tokens, $0.00
      changed      src/main.rs
      read         README.md
      open         edit src/main.rs
      open         read README.md

    c3 ([message]): 3 entries, 0 prompts, 0 tokens, $0.00
      changed      README.md
      changed      src/main.rs
      read         Cargo.toml
      open         write src/main.rs
      open         write README.md
      open         read Cargo.toml

    in both
      both changed src/main.rs
      both touched README.md
    ");
}

#[test]
fn a_failed_edit_is_not_listed_as_a_change() {
    let home = Home::new();
    let call = |id: &str, parent: &str, path: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:05.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"edit","arguments":{{"path":"{path}"}}}}]}}}}"#
        )
    };
    let result = |id: &str, call: &str, failed: bool| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{call}","timestamp":"2025-01-01T00:00:06.000Z","message":{{"role":"toolResult","toolCallId":"{call}","toolName":"edit","isError":{failed},"content":[]}}}}"#
        )
    };
    let drawing = [
        "a user go".to_owned(),
        call("b1", "a", "missing.rs"),
        result("b2", "b1", true),
        call("b3", "b2", "main.rs"),
        result("b4", "b3", false),
        "c<a user stop".to_owned(),
    ];
    let file = home.session(&drawing.join("\n"));
    let side = home.run(&["diff", &file, "b4", "c", "--json"]).json()["sides"][0].clone();
    assert_eq!(side["modifiedFiles"], serde_json::json!(["main.rs"]));
    assert_eq!(side["commands"].as_array().unwrap().len(), 2);
}

#[test]
fn branches_without_a_common_ancestor_are_compared_as_a_whole() {
    let home = Home::new();
    let file = home.session("a user one\nb user two");
    assert_snapshot!(home.run(&["diff", &file, "a", "b"]), @"
    no common ancestor

    a (one): 1 entry, 1 prompt, 0 tokens, $0.00
      prompt       one

    b (two): 1 entry, 1 prompt, 0 tokens, $0.00
      prompt       two
    ");
    assert_snapshot!(home.run(&["diff", &file, "a", "nobody"]), @"
    --- words
    error: Entry nobody not found
    hint: `offshoot tree --flat SESSION` lists the ids of all entries
    --- exit code 1
    ");
}

#[test]
fn a_long_list_of_commands_is_cut_unless_all_are_asked_for() {
    let home = Home::new();
    let mut drawing = String::from("root user go\nother<root user stay\n");
    let mut parent = "root".to_owned();
    for at in 0..25 {
        drawing.push_str(&format!("b{at}<{parent} bash command {at}\n"));
        parent = format!("b{at}");
    }
    let file = home.session(&drawing);
    let run = home.run(&["diff", &file, "other", "b24"]);
    assert_eq!(run.ok().matches("bash command").count(), 20, "{run}");
    assert!(run.ok().contains("and 5 more; --all shows them"), "{run}");
    assert_eq!(home.run(&["diff", &file, "other", "b24", "--all"]).ok().matches("bash command").count(), 25);
}
