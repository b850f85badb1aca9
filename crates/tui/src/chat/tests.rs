use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::completion::Candidate;
use super::highlight::Plain;
use super::item::{Item, Look, ToolItem, ToolState};
use super::working::{Activity, Queued};
use super::*;
use crate::chat::footer::BranchPlace;
use crate::screen;

struct Known;

impl Sources for Known {
    fn candidates(&self, kind: Completes, _: &str) -> Vec<Candidate> {
        let texts: &[&str] = match kind {
            Completes::Entries => &["@baseline", "leaf"],
            Completes::Files => &["src/main.rs"],
            _ => &[],
        };
        texts.iter().map(|text| Candidate { text: (*text).into(), what: "an entry".into() }).collect()
    }
}

fn chat() -> Chat {
    let mut chat = Chat::new(Transcript::new(Look::new(Theme::dark()), Plain), Keymap::default());
    chat.footer = Footer {
        cwd: "~/greeter".into(),
        git_branch: Some("main".into()),
        branch: Some(BranchPlace { name: "go-attempt".into(), number: 2, count: 4 }),
        window: 200_000,
        context: Some(1_000),
        provider: "offshoot".into(),
        model: Some("offline".into()),
        ..Footer::default()
    };
    chat
}

fn key(chat: &mut Chat, code: KeyCode, at: u64) -> Option<Intent> {
    press(chat, code, KeyModifiers::NONE, at)
}

fn press(chat: &mut Chat, code: KeyCode, modifiers: KeyModifiers, at: u64) -> Option<Intent> {
    chat.update(&Event::Key(KeyEvent::new(code, modifiers)), &Known, Duration::from_millis(at))
}

fn type_text(chat: &mut Chat, text: &str) {
    for c in text.chars() {
        key(chat, KeyCode::Char(c), 0);
    }
}

fn shown(chat: &mut Chat, columns: u16, rows: u16) -> String {
    let frame = chat.frame(columns, rows, Duration::from_secs(3), None);
    let printed: Vec<String> = frame.printed.iter().map(ToString::to_string).collect();
    format!("{}\n==== live\n{}", printed.join("\n"), screen::lines(&frame.live))
}

/// A turn in the middle: something was said, a tool runs, something waits.
fn busy() -> Chat {
    let mut chat = chat();
    chat.transcript.push(Item::Prompt { text: "Build a CLI that greets people".into(), images: 0 });
    chat.transcript.push(Item::Text("I will look **first**.\n\n1. read\n2. build".into()));
    chat.transcript.begin(Item::Tool(ToolItem {
        name: "bash".into(),
        arguments: json!({"command": "cargo build"}),
        output: "   Compiling greeter v0.1.0\n    Finished".into(),
        state: ToolState::Running,
        ..ToolItem::default()
    }));
    chat.working.begin(Activity::Turn, Duration::ZERO);
    chat.working.queue.push(Queued { text: "and test it".into(), is_follow_up: false });
    type_text(&mut chat, "then");
    chat
}

#[test]
fn the_chat_fits_every_size() {
    for (columns, rows) in screen::SIZES {
        insta::assert_snapshot!(format!("empty_{columns}x{rows}"), shown(&mut chat(), columns, rows));
        insta::assert_snapshot!(format!("busy_{columns}x{rows}"), shown(&mut busy(), columns, rows));
        let mut completing = chat();
        type_text(&mut completing, "/bra");
        insta::assert_snapshot!(
            format!("completing_{columns}x{rows}"),
            shown(&mut completing, columns, rows)
        );
    }
}

#[test]
fn no_size_is_too_small() {
    for columns in 1..30 {
        for rows in 1..10 {
            let frame = busy().frame(columns, rows, Duration::ZERO, None);
            assert!(frame.live.area.height <= rows);
        }
    }
}

#[test]
fn enter_sends_and_alt_enter_waits() {
    let mut chat = chat();
    type_text(&mut chat, "hello");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), Some(Intent::Submit("hello".into())));
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), None);
    type_text(&mut chat, "later");
    assert_eq!(
        press(&mut chat, KeyCode::Enter, KeyModifiers::ALT, 0),
        Some(Intent::FollowUp("later".into()))
    );
}

#[test]
fn escape_stops_what_runs_and_twice_opens_the_tree() {
    let mut chat = busy();
    assert_eq!(key(&mut chat, KeyCode::Esc, 0), Some(Intent::Interrupt));
    chat.working.end();
    chat.editor.set_text("");
    assert_eq!(key(&mut chat, KeyCode::Esc, 1_000), None);
    assert_eq!(key(&mut chat, KeyCode::Esc, 1_300), Some(Intent::Escaped(DoubleEscape::Tree)));
    assert_eq!(key(&mut chat, KeyCode::Esc, 1_400), None);
    assert_eq!(key(&mut chat, KeyCode::Esc, 2_400), None);
    chat.editor.set_text("! ls");
    assert_eq!(key(&mut chat, KeyCode::Esc, 9_000), None);
    assert!(chat.editor.is_blank());
}

#[test]
fn ctrl_c_clears_and_twice_leaves_and_ctrl_d_leaves_when_nothing_is_typed() {
    let mut chat = chat();
    type_text(&mut chat, "draft");
    let ctrl = |chat: &mut Chat, c, at| press(chat, KeyCode::Char(c), KeyModifiers::CONTROL, at);
    assert_eq!(ctrl(&mut chat, 'd', 0), None);
    assert_eq!(ctrl(&mut chat, 'c', 1_000), None);
    assert!(chat.editor.is_blank());
    assert_eq!(ctrl(&mut chat, 'c', 1_200), Some(Intent::Quit));
    assert_eq!(ctrl(&mut chat, 'd', 9_000), Some(Intent::Quit));
}

#[test]
fn a_command_without_arguments_is_done_when_it_is_chosen() {
    let mut chat = chat();
    type_text(&mut chat, "/bac");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), Some(Intent::Submit("/back ".into())));
    type_text(&mut chat, "/swi");
    assert_eq!(key(&mut chat, KeyCode::Tab, 0), None);
    assert_eq!(chat.editor.text(), "/switch ");
    type_text(&mut chat, "ba");
    key(&mut chat, KeyCode::Down, 0);
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), None);
    assert_eq!(chat.editor.text(), "/switch @baseline ");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), Some(Intent::Submit("/switch @baseline ".into())));
    type_text(&mut chat, "/label base");
    assert_eq!(
        key(&mut chat, KeyCode::Enter, 0),
        Some(Intent::Submit("/label base".into())),
        "an offer is no answer"
    );
}

#[test]
fn a_file_is_completed_in_the_middle_of_a_prompt() {
    let mut chat = chat();
    type_text(&mut chat, "look at @ma");
    key(&mut chat, KeyCode::Tab, 0);
    assert_eq!(chat.editor.text(), "look at @src/main.rs ");
}

#[test]
fn what_was_printed_is_not_printed_again() {
    let mut chat = busy();
    assert!(!chat.frame(80, 24, Duration::ZERO, None).printed.is_empty());
    assert!(chat.frame(80, 24, Duration::ZERO, None).printed.is_empty());
}

#[test]
fn an_overlay_takes_the_place_of_the_editor() {
    let mut chat = busy();
    let mut draw = |area: Rect, buf: &mut Buffer| {
        buf.set_string(area.x, area.y, "the tree", ratatui::style::Style::new());
    };
    let frame = chat.frame(60, 20, Duration::ZERO, Some(Overlay { height: 5, draw: &mut draw }));
    let shown = screen::lines(&frame.live);
    assert!(shown.contains("the tree") && !shown.contains("~/greeter"), "{shown}");
    assert_eq!(frame.cursor, None);
}
