//! The screens that pi was seen to draw, entry for entry.

use super::*;

/// A greeter is built, then branched into a flag, a port to Python and a port to Go, which branches again.
fn greeter() -> Session {
    let mut draw = Draw::default();
    let long = "cargo build --release --all-features --message-format=json --target x86_64";
    draw.user("u1", "", "Build a CLI that greets people")
        .call("c1", "u1", "read", r#"{"path":"/home/dev/x/src/main.rs","offset":10,"limit":40}"#)
        .result("r1", "c1", "read", "fn main() {}")
        .call("c2", "r1", "bash", &format!(r#"{{"command":"{long}"}}"#))
        .result("r2", "c2", "bash", "ok")
        .assistant("a1", "r2", "Done: the CLI greets people.\n\n- item one\n- item two")
        .user("u2", "a1", "Add a --verbose flag")
        .entry("k1", "u2", r#""type":"compaction","summary":"s","firstKeptEntryId":"u2","tokensBefore":52100"#)
        .message("a2", "k1", r#""role":"assistant","content":[],"stopReason":"aborted""#)
        .user("u3", "a1", "Actually, use Python instead")
        .message(
            "a3",
            "u3",
            r#""role":"assistant","content":[],"stopReason":"error","errorMessage":"529 overloaded_error: Overloaded, please try again later""#,
        )
        .entry(
            "b1",
            "a1",
            r###""type":"branch_summary","fromId":"a3","summary":"## Goal\nPython port\n## Progress\n- converted main""###,
        )
        .user("u4", "b1", "Use Go instead")
        .assistant("a4", "u4", "Creating Go CLI...")
        .entry(
            "m1",
            "a4",
            r#""type":"custom_message","customType":"git-checkpoint","content":"Checkpoint abc123 saved","display":true"#,
        )
        .message("x1", "m1", r#""role":"bashExecution","command":"git status -sb","output":"","exitCode":0"#)
        .user("u5", "x1", "Now with goroutines")
        .user("u6", "a4", "No, channels")
        .assistant("a6", "u6", "Channels it is.")
        .label("l1", "a6", "a1", "baseline")
        .label("l2", "l1", "u4", "go-attempt")
        .assistant("a5", "u5", "Finished.");
    draw.session()
}

fn at_home(session: &Session, filter: Filter) -> Outline {
    Outline::new(
        session,
        OutlineOptions { filter, home: Some("/home/dev".into()), ..OutlineOptions::default() },
    )
}

#[test]
fn the_default_screen_is_drawn_as_pi_draws_it() {
    let session = greeter();
    let expected = "\
• user: Build a CLI that greets people
• [read: ~/x/src/main.rs:10-49]
• [bash: cargo build --release --all-features --message-for...]
• [baseline] assistant: Done: the CLI greets people.  - item one - item two
├⊟ • [branch summary]: ## Goal Python port ## Progress - converted main
│     • [go-attempt] user: Use Go instead
│     • assistant: Creating Go CLI...
│     ├⊟ • [git-checkpoint]: Checkpoint abc123 saved
│     │     • [bash]: git status -sb
│     │     • user: Now with goroutines
│     │     • assistant: Finished.
│     └⊟ user: No, channels
│           assistant: Channels it is.
├⊟ user: Add a --verbose flag
│     [compaction: 52k tokens]
│     assistant: (aborted)
└⊟ user: Actually, use Python instead
      assistant: 529 overloaded_error: Overloaded, please try again later
";
    assert_eq!(print(&at_home(&session, Filter::Default), &session), expected);
}

#[test]
fn the_user_only_screen_is_drawn_as_pi_draws_it() {
    let mut draw = Draw::default();
    draw.user("u1", "", "Build a CLI that greets people")
        .assistant("a1", "u1", "Done")
        .user("u2", "a1", "Add a --verbose flag")
        .assistant("a2", "u2", "ok")
        .user("u7", "a2", "That worked, now write tests")
        .entry("b1", "a1", r#""type":"branch_summary","fromId":"u7","summary":"s""#)
        .user("u4", "b1", "Use Go instead")
        .assistant("a4", "u4", "Creating")
        .user("u6", "a4", "No, channels")
        .user("u5", "a4", "Now with goroutines")
        .assistant("a5", "u5", "Finished.")
        .user("u8", "a5", "great, finish");
    let session = draw.label("l1", "u8", "u4", "go-attempt").session();
    let expected = "\
• user: Build a CLI that greets people
├⊟ • [go-attempt] user: Use Go instead
│  ├⊟ • user: Now with goroutines
│  │     • user: great, finish
│  └─ user: No, channels
└⊟ user: Add a --verbose flag
      user: That worked, now write tests
";
    assert_eq!(print(&outline(&session, Filter::UserOnly), &session), expected);
}

#[test]
fn several_roots_stand_at_the_left_without_connectors() {
    let mut draw = Draw::default();
    draw.user("a", "", "one").assistant("b", "a", "1").user("c", "", "two").assistant("d", "c", "2");
    let session = draw.user("e", "c", "three").session_at("b");
    let mut outline = outline(&session, Filter::Default);
    let expected = "\
• user: one
   • assistant: 1
user: two
├─ assistant: 2
└─ user: three
";
    assert_eq!(print(&outline, &session), expected);
    outline.fold(&session, session.tree().node("c").unwrap());
    assert!(print(&outline, &session).ends_with("⊞ user: two\n"));
}

#[test]
fn plain_ascii_has_the_same_columns() {
    let session = greeter();
    let mut outline = at_home(&session, Filter::Default);
    outline.fold(&session, session.tree().node("u2").unwrap());
    for row in all_rows(&outline, &session) {
        let (unicode, ascii) = (row.prefix(Charset::Unicode), row.prefix(Charset::Ascii));
        assert!(ascii.is_ascii());
        assert_eq!(unicode.chars().count(), ascii.chars().count());
    }
    let folded = outline.position_of(session.tree().node("u2").unwrap()).unwrap();
    let row = outline.rows(&session, folded..folded + 1).unwrap().remove(0);
    assert_eq!((row.prefix(Charset::Ascii).as_str(), row.prefix(Charset::Unicode).as_str()), ("|+ ", "├⊞ "));
}

#[test]
fn the_turn_view_counts_what_each_prompt_caused() {
    let session = greeter();
    let outline = at_home(&session, Filter::Turns);
    let rows = all_rows(&outline, &session);
    let turn = |id: &str| rows.iter().find(|row| row.id == id).and_then(|row| row.turn).unwrap();
    assert_eq!((turn("u1").number, turn("u1").tools, turn("u1").replies), (1, 2, 3));
    assert_eq!((turn("u2").number, turn("u2").compacted), (2, Some(52_100)));
    assert!(turn("u3").failed && !turn("u6").failed);
    assert_eq!(turn("u6").number, 3);
    assert!(rows.iter().any(|row| row.id == "a1" && row.turn.is_none()), "a labelled entry keeps its row");
}

#[test]
fn the_branch_view_shows_where_the_conversation_parts_and_ends() {
    let session = greeter();
    assert_eq!(ids(&at_home(&session, Filter::Branches), &session), ["a1", "a4", "a5", "a6", "a2", "a3"]);
}
