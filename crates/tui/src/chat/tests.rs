use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::completion::Candidate;
use super::item::{Item, ItemStyle, ShellItem, Tone, ToolItem, ToolState};
use super::working::{Activity, Queued};
use super::*;
use crate::chat::footer::BranchPlace;
use crate::screen;

struct TestSources;

impl Sources for TestSources {
    fn candidates(&self, kind: Completes, _: &str) -> Vec<Candidate> {
        let texts: &[&str] = match kind {
            Completes::Entries => &["@baseline", "leaf"],
            Completes::Files => &["src/main.rs", "docs/some notes.md"],
            _ => &[],
        };
        texts.iter().map(|text| Candidate { text: (*text).into(), what: "an entry".into() }).collect()
    }
}

fn chat() -> Chat {
    chat_in(Theme::dark())
}

fn chat_in(theme: Theme) -> Chat {
    let mut chat = Chat::new(Transcript::new(ItemStyle::new(theme)), Keymap::default());
    let command = |name: &str, arguments: &str, completes| CommandSpec {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        what: format!("do {name}"),
        completes,
    };
    chat.commands = vec![
        command("branch-here", "[REF]", Completes::Entries),
        command("branches", "", Completes::Nothing),
        command("back", "", Completes::Nothing),
        command("switch", "REF", Completes::Entries),
        command("label", "[REF] NAME", Completes::Entries),
        command("export-branch", "REF [FILE]", Completes::Entries),
    ];
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
    chat.update(&Event::Key(KeyEvent::new(code, modifiers)), &TestSources, Duration::from_millis(at))
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

fn tool(name: &str, arguments: serde_json::Value, output: &str, state: ToolState) -> ToolItem {
    ToolItem { name: name.into(), arguments, output: output.into(), state, ..ToolItem::default() }
}

/// One of each thing that a conversation may hold.
fn everything(theme: Theme) -> Chat {
    let mut chat = chat_in(theme);
    let long =
        "It greets people by name, in as many languages as there are files in the folder, and says so.";
    let numbers = (1..=20).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let diff = " 1 fn main() {\n-2     println!(\"hello\");\n+2     println!(\"hello, {name}\");\n 3 }";
    let edited = tool("edit", json!({"path": "src/main.rs"}), "", ToolState::Done);
    let shell = ShellItem {
        command: "git status -sb".into(),
        output: "## main\n M src/main.rs".into(),
        exit_code: Some(0),
        ..ShellItem::default()
    };
    let items = [
        Item::Setting("model: anthropic/claude-sonnet-4-5".into()),
        Item::Prompt { text: "Build a CLI that greets people, see @notes.md".into(), images: 1 },
        Item::Thinking("The person wants a greeting. I should look at the file first.".into()),
        Item::Tool(tool("read", json!({"path": "notes.md"}), &numbers, ToolState::Done)),
        Item::Tool(tool(
            "bash",
            json!({"command": "cargo test --workspace"}),
            "error: 1 failed",
            ToolState::Failed,
        )),
        Item::Tool(ToolItem { diff: Some(diff.into()), ..edited }),
        Item::Text(format!("## Done\n\n{long}\n\n- one\n- two\n\n```rust\nfn main() {{}}\n```")),
        Item::Shell(shell.clone()),
        Item::Shell(ShellItem { is_private: true, exit_code: Some(1), ..shell }),
        Item::Custom { kind: "git-checkpoint".into(), text: "Checkpoint abc123 saved".into() },
        Item::Summary { title: "summary of the branch that was left".into(), text: long.into() },
        Item::Summary { title: "summary of older messages".into(), text: "The story so far".into() },
        Item::Notice(Tone::Warning, "stopped".into()),
        Item::Notice(Tone::Error, "529 overloaded_error: Overloaded, please try again later".into()),
        Item::Notice(Tone::Success, "Navigated to selected point · /back returns".into()),
        Item::Notice(Tone::Warning, "this session is also open elsewhere".into()),
        Item::Divider("branch 2/4 · go-attempt".into()),
    ];
    items.into_iter().for_each(|item| chat.transcript.push(item));
    chat
}

/// The name of a state, and how it comes about.
type State = (&'static str, fn() -> Chat);

#[test]
fn every_state_at_every_size() {
    let states: [State; 7] = [
        ("everything", || everything(Theme::dark())),
        ("retrying", || {
            let mut chat = busy();
            chat.working.retry(2, Duration::from_secs(7), "529 overloaded".into());
            chat
        }),
        ("queued", || {
            let mut chat = busy();
            let queued = |text: &str, is_follow_up| Queued { text: text.into(), is_follow_up };
            let texts =
                ["then look at the second of the three files, which is the one that matters", "commit"];
            chat.working.queue.extend(texts.map(|text| queued(text, true)));
            chat
        }),
        ("told", || {
            let mut chat = chat();
            let text =
                "Moved to \"Use Go instead\" without a summary · /back returns · /undo takes back the prompt";
            chat.working.tell(Tone::Success, text, Duration::from_secs(2));
            chat
        }),
        ("shell", || {
            let mut chat = chat();
            type_text(&mut chat, "!cargo test");
            chat
        }),
        ("draft_of_many_lines", || {
            let mut chat = chat();
            let text: String = (1..=20).map(|n| format!("line {n} of what I want to say\n")).collect();
            chat.editor.set_text(&text);
            chat
        }),
        ("folded_paste", || {
            let mut chat = chat();
            let pasted = Event::Paste("x\n".repeat(1_000));
            chat.update(&pasted, &TestSources, Duration::ZERO);
            chat
        }),
    ];
    for (name, made) in states {
        insta::assert_snapshot!(
            name,
            screen::at_all_sizes(|columns, rows| shown(&mut made(), columns, rows))
        );
    }
}

#[test]
fn a_terminal_without_colours_and_letters_shows_the_same_in_ascii() {
    let ascii = Theme::plain().with_charset(session_view::Charset::Ascii);
    let shown = screen::at_all_sizes(|columns, rows| shown(&mut everything(ascii), columns, rows));
    assert!(shown.is_ascii(), "{}", shown.chars().filter(|c| !c.is_ascii()).collect::<String>());
    insta::assert_snapshot!("ascii", shown);
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
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), None, "Enter accepts what is highlighted");
    assert_eq!(chat.editor.text(), "/switch @baseline ");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), Some(Intent::Submit("/switch @baseline ".into())));
    type_text(&mut chat, "/label base");
    assert_eq!(
        key(&mut chat, KeyCode::Enter, 0),
        Some(Intent::Submit("/label base".into())),
        "the name of a label may be new"
    );
}

#[test]
fn a_file_is_completed_in_the_middle_of_a_prompt() {
    let mut chat = chat();
    type_text(&mut chat, "look at @ma");
    key(&mut chat, KeyCode::Tab, 0);
    assert_eq!(chat.editor.text(), "look at @src/main.rs ");
    chat.editor.set_text("");
    type_text(&mut chat, "see @some n");
    assert_eq!(key(&mut chat, KeyCode::Tab, 0), None, "a blank ends a path without quotes");
    chat.editor.set_text("");
    type_text(&mut chat, "see @notes");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), None);
    assert_eq!(chat.editor.text(), "see @\"docs/some notes.md\" ");
    chat.editor.set_text("");
    type_text(&mut chat, "see @\"docs/some no");
    key(&mut chat, KeyCode::Tab, 0);
    assert_eq!(chat.editor.text(), "see @\"docs/some notes.md\" ");
}

#[test]
fn a_command_typed_behind_a_restored_prompt_replaces_it() {
    let mut chat = chat();
    chat.editor.set_text_with_images("Use Node", Vec::new());
    type_text(&mut chat, "/undo");
    assert_eq!(key(&mut chat, KeyCode::Enter, 0), Some(Intent::Submit("/undo".into())));
    key(&mut chat, KeyCode::Up, 0);
    key(&mut chat, KeyCode::Up, 0);
    assert_eq!(chat.editor.text(), "Use Node", "the history keeps it");
    // The user may have edited it.
    chat.editor.set_text_with_images("Use Node", Vec::new());
    type_text(&mut chat, " and/or Rust");
    assert_eq!(chat.editor.text(), "Use Node and/or Rust");
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
