//! The layout of the screen after a view is closed, and the cost of a large answer.

use std::fmt::Write as _;

use super::screen::{DOWN, ESCAPE, Screen};
use super::{answering, session, start_again, talking};
use crate::support::Home;
use crate::talk::set_up;

/// A conversation whose rows are numbered, in a terminal of this size.
fn numbered(columns: u16, rows: u16) -> (Home, Screen) {
    let home = Home::new();
    let text: String = (0..60).fold(String::new(), |mut text, n| {
        let _ = write!(text, "row {n}\n\n");
        text
    });
    let server = answering(&[&text]);
    set_up(&home, &server, "anthropic-messages");
    let mut screen = Screen::start(&home.command(&[]), columns, rows);
    screen.wait_for("Esc Esc tree");
    screen.ask("count", "row 59");
    screen.wait_without("Working");
    (home, screen)
}

/// The conversation on the screen: its numbers, top to bottom.
fn numbers(shown: &str) -> Vec<u32> {
    shown.lines().filter_map(|line| line.trim().strip_prefix("row ")?.parse().ok()).collect()
}

#[test]
fn closing_a_view_restores_the_last_screenful() {
    for (columns, rows) in [(80, 24), (40, 12)] {
        let (_home, mut screen) = numbered(columns, rows);
        let before = numbers(&screen.wait_for("row 59"));
        assert!(before.len() >= 2, "{before:?}");
        for (open, title) in [
            ("/tree", "filter:"),
            ("/hotkeys", "Keys"),
            ("/branches", "1 tip"),
            ("/resume", "Resume"),
            ("/fork", "Fork before"),
        ] {
            screen.send(open);
            screen.send(" ");
            screen.wait_for(&format!("› {open}"));
            screen.send("\r");
            screen.wait_for(title);
            screen.send(DOWN);
            screen.send(ESCAPE);
            screen.wait_until(&format!("the chat after {open} at {columns}x{rows}"), |shown| {
                numbers(shown) == before && !shown.contains(title)
            });
        }
        // Nothing of that is in the scrollback, and nothing is there twice.
        let all = numbers(&screen.everything());
        let first = all.len() - before.len();
        assert_eq!(all[..first], (0..first as u32).collect::<Vec<_>>(), "{columns}x{rows}");
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
    }
}

#[test]
fn closing_a_view_after_a_change_of_size_restores_the_last_screenful() {
    let (_home, mut screen) = numbered(80, 24);
    screen.say("/tree ");
    screen.wait_for("filter:");
    screen.resize(60, 14);
    screen.wait_until("the tree in its new size", |shown| {
        shown.lines().last().is_some_and(|line| line.contains("Esc back"))
    });
    screen.send(ESCAPE);
    let shown =
        screen.wait_until("the chat", |shown| shown.contains("Esc Esc tree") && shown.contains("row 59"));
    let shown = numbers(&shown);
    assert!(shown.len() >= 3 && shown.windows(2).all(|pair| pair[1] == pair[0] + 1), "{shown:?}");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_change_of_size_leaves_no_old_frames() {
    let (_home, mut screen) = numbered(100, 24);
    screen.send("a draft");
    screen.wait_for("› a draft");
    for (columns, rows) in [(60, 24), (100, 24), (70, 12), (120, 30), (40, 24), (100, 24)] {
        screen.resize(columns, rows);
        let shown = screen.wait_until("one frame in the new size", |shown| {
            shown.lines().any(|line| line.starts_with('─') && line.chars().count() == usize::from(columns))
                && shown.matches("› a draft").count() == 1
        });
        assert_eq!(shown.matches("› a draft").count(), 1, "{columns}x{rows}:\n{shown}");
        let shown = numbers(&shown);
        assert!(shown.windows(2).all(|pair| pair[1] == pair[0] + 1), "{columns}x{rows}: {shown:?}");
    }
    screen.send("\x15");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn an_answer_of_very_many_blocks_opens_and_the_program_can_be_left() {
    const BLOCKS: usize = 160_000;
    let (home, _server, mut screen) = talking(&["One."]);
    screen.ask("one", "One.");
    screen.say("/quit");
    screen.end();
    let (path, _) = session(&home);
    let mut text = std::fs::read_to_string(&path).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let blocks = vec![r#"{"type":"text","text":"x"}"#; BLOCKS].join(",");
    let _ = writeln!(
        text,
        r#"{{"type":"message","id":"0000f00d","parentId":{},"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"assistant","content":[{blocks}],"stopReason":"stop"}}}}"#,
        last["id"]
    );
    std::fs::write(&path, text).unwrap();

    for leave in ["-INT", "-TERM"] {
        let mut screen = start_again(&home, 700, &["-c"]);
        screen.wait_for("› Say something");
        let shown = screen.everything();
        assert!(shown.contains("parts of the next one · Ctrl+O shows them"), "{shown}");
        screen.send("typed");
        screen.wait_for("› typed");
        screen.send("\x15");
        screen.say("/tree");
        screen.wait_for("Session Tree");
        let process = screen.process().to_string();
        assert!(std::process::Command::new("kill").args([leave, &process]).status().unwrap().success());
        screen.end();
    }
}
