//! The first minute with the program: `offshoot demo`, piped and in a terminal.

use std::fs;

use insta::assert_snapshot;

use crate::interactive::screen::Screen;
use crate::support::Home;

#[test]
fn the_demo_makes_a_session_and_shows_its_tree() {
    let home = Home::new();
    let dir = home.path("demo");
    let run = home.run(&["demo", dir.to_str().unwrap()]);
    assert_snapshot!(run.ok(), @"
    • user: Build a CLI that greets people
    ├⊟ • assistant: Which language do you have in mind?
    │  ├⊟ • [branch summary]: ## Goal A CLI that greets people  ## Progress - greet.js works  ## Critical Context - Node needs 60 ms to start
    │  │     • [rust] user: Too slow. Use Rust instead
    │  │     • [bash: cargo new greeter] ✗
    │  │     • [bash: ~/.cargo/bin/cargo new greeter]
    │  │     • [edit: src/main.rs]
    │  │     • assistant: It starts in one millisecond.
    │  │     • [compaction: 4k tokens]
    │  │     • user: Add a --shout flag
    │  │     • [edit: src/main.rs]
    │  │     • assistant: HELLO, ANN!
    │  │     • [merge ⇠ No CLI after all: a web page that looks like this]: The web page of the other branch greets with a smiling face; its markup is in index.html.
    │  │     • user: Print that face below the greeting
    │  │     • assistant: Done: the greeter smiles now. ← active
    │  └⊟ user: Use Node
    │        [write: greet.js]
    │        [bash: time node greet.js Ann]
    │        assistant: It works, but needs 60 ms to say hello: that is how long Node takes to start.
    └⊟ user: No CLI after all: a web page that looks like this
          [write: index.html]
          assistant: A page that greets with a face.
    ");
    let file = fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let file = file.to_str().unwrap();
    assert_eq!(home.run(&["tree", file]).ok(), run.ok());
    assert_snapshot!(home.run(&["context", file]), @"
    entry                 tokens  role               text
    00000105  summarised      17  compactionSummary  A greeter in Rust, after a try with Node that was too slow to start.
    000000fc  kept             7  user               Too slow. Use Rust instead
    000000fd  kept             9  assistant          [bash]
    000000fe  kept             6  toolResult         error: `cargo` not found
    000000ff  kept            12  assistant          [bash]
    00000100  kept             6  toolResult         Created binary `greeter`
    00000101  kept            46  assistant          [edit]
    00000102  kept             5  toolResult         edited src/main.rs
    00000103  kept             8  assistant          It starts in one millisecond.
    00000106                   5  user               Add a --shout flag
    00000107                  18  assistant          [edit]
    00000108                   2  toolResult         edited
    00000109                   3  assistant          HELLO, ANN!
    0000010e                  23  branchSummary      The web page of the other branch greets with a smiling face; its markup is in index.html.
    0000010f                   9  user               Print that face below the greeting
    00000110                   8  assistant          Done: the greeter smiles now.
    --- words
    16 messages, about 184 tokens; model demo/sonnet, thinking off
    ");
    assert_snapshot!(home.run(&["check", file]), @"[home]/demo/greeter.jsonl: clean (33 lines, 32 entries, 11.2 kB)");
}

#[test]
fn every_command_that_the_demo_proposes_works() {
    let home = Home::new();
    let run = home.run(&["demo", home.path("demo").to_str().unwrap()]);
    let program = env!("CARGO_BIN_EXE_offshoot");
    let proposed: Vec<&str> =
        run.err().lines().filter_map(|line| line.trim().strip_prefix(program)).collect();
    assert!(proposed.len() > 3, "{run}");
    for command in proposed {
        let words: Vec<String> =
            command.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        home.run(&words).ok();
    }
}

#[test]
fn in_a_terminal_the_demo_opens_the_chat_with_the_tree_and_answers_offline() {
    let home = Home::new();
    let dir = home.path("demo");
    let mut screen = Screen::start(&home.command(&["demo", dir.to_str().unwrap()]), 80, 30);
    let seen = screen.wait_for("Session Tree");
    for line in ["one task, tried in three ways", "Enter goes to an entry", "/tree, /help, /quit"] {
        assert!(seen.contains(line), "{line}:\n{seen}");
    }
    assert!(seen.contains("← active"), "{seen}");
    screen.send("\x1b");
    screen.wait_without("Session Tree");
    screen.say("Greet in French");
    screen.wait_for("No model is configured");
    screen.say("/quit");
    let (code, bytes) = screen.end();
    assert_eq!(code, 0);
    let file = dir.join("greeter.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("Greet in French"), "{text}");
    let left = String::from_utf8_lossy(&bytes);
    assert!(left.contains("the sample session is kept"), "{left}");
}
