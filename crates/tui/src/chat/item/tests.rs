use super::*;
use crate::chat::highlight::CodeCache;
use crate::theme::Theme;
use serde_json::json;
use session_tree::{Position, Session};
use testkit::drawing::session_text;
use testkit::rng::Rng;

fn item_style() -> ItemStyle {
    ItemStyle::new(Theme::dark())
}

fn shown(item: &Item, columns: usize, item_style: &ItemStyle) -> String {
    let rows = rows(item, columns, item_style, &mut CodeCache::plain());
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Draws the whole path of a drawing.
fn path_of(drawing: &str, columns: usize) -> String {
    let session = Session::from_bytes(session_text(drawing)).unwrap();
    let path = session.branch_path(Position::Leaf);
    let items = (0..path.len()).flat_map(|at| items_at(&session, &path, at));
    items.map(|item| shown(&item, columns, &item_style())).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_path_becomes_a_conversation() {
    let drawing = "
        m model anthropic/claude
        a<m user Build a CLI
        b<a assistant I will item_style first.
        c<b call bash ls -la
        d<c tool bash total 0
        e<d assistant Done: it **greets** people.
        f<e custom_message git Checkpoint saved
        g<f bash git status
        l<g label e done
    ";
    insta::assert_snapshot!(path_of(drawing, 60), @"
    model: anthropic/claude

    ▌ Build a CLI

    I will item_style first.

    ls -la

    ● bash
    │ total 0

    Done: it greets people.

     [git]
     Checkpoint saved

    ! git status
    ");
}

#[test]
fn summaries_and_compactions_say_what_they_are() {
    let drawing = "
        a user one
        b<a assistant two
        s<b summary from=z Tried Node, too slow
        c<s compaction keep=b The story so far
        d<c user go on
    ";
    insta::assert_snapshot!(path_of(drawing, 60), @"
    ▌ one

    two

    ◆ summary of the branch that was left
    │ Tried Node, too slow

    ◆ summary of older messages (1.0k tokens before)
    │ The story so far

    ▌ go on
    ");
}

#[test]
fn a_call_without_a_result_was_interrupted() {
    let drawing = "
        a user one
        c<a call bash sleep 100
        d<c user never mind
    ";
    insta::assert_snapshot!(path_of(drawing, 60), @"
    ▌ one

    sleep 100

    ○ bash
      interrupted: no result

    ▌ never mind
    ");
}

#[test]
fn long_output_is_folded_and_unfolds() {
    let output = (1..=20).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let tool = |name: &str| {
        Item::Tool(ToolItem {
            name: name.into(),
            arguments: json!({"command": "seq 20", "path": "a.txt"}),
            output: output.clone(),
            state: ToolState::Done,
            ..ToolItem::default()
        })
    };
    insta::assert_snapshot!(shown(&tool("bash"), 40, &item_style()), @r"
    ● bash seq 20
    │ … 14 rows above · Ctrl+O
    │ line 15
    │ line 16
    │ line 17
    │ line 18
    │ line 19
    │ line 20
    ");
    insta::assert_snapshot!(shown(&tool("read"), 40, &item_style()), @r"
    ● read a.txt
    │ 20 lines · Ctrl+O
    ");
    let expanded = ItemStyle { is_expanded: true, ..item_style() };
    assert_eq!(shown(&tool("bash"), 40, &expanded).lines().count(), 21);
    assert_eq!(shown(&tool("read"), 40, &expanded).lines().count(), 21);
}

#[test]
fn an_edit_shows_what_it_changed() {
    let item = Item::Tool(ToolItem {
        name: "edit".into(),
        arguments: json!({"path": "src/main.rs"}),
        output: "Changed 1 place in src/main.rs.".into(),
        diff: Some(" 1 fn main() {\n-2     old();\n+2     new();\n 3 }".into()),
        state: ToolState::Done,
        ..ToolItem::default()
    });
    let rows = rows(&item, 40, &item_style(), &mut CodeCache::plain());
    let added = rows.iter().find(|row| row.to_string().contains("new()")).unwrap();
    assert_eq!(added.spans[1].style, Theme::dark().style(crate::theme::Role::DiffAdded));
    insta::assert_snapshot!(shown(&item, 40, &item_style()), @r"
    ● edit src/main.rs
    │  1 fn main() {
    │ -2     old();
    │ +2     new();
    │  3 }
    ");
}

#[test]
fn messages_of_extensions_are_purple_and_hidden_ones_do_not_show() {
    let item = Item::Custom { kind: "git".into(), text: "saved".into() };
    let rows = rows(&item, 40, &item_style(), &mut CodeCache::plain());
    let theme = Theme::dark();
    assert_eq!(rows[0].style.bg, theme.style(crate::theme::Role::CustomMessage).bg);
    assert_eq!(rows[0].spans[1].style, theme.style(crate::theme::Role::CustomLabel));
    assert_eq!(rows[1].spans[1].style.fg, theme.style(crate::theme::Role::CustomText).fg);
    let line = r#"{"type":"custom_message","id":"c","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","customType":"x","content":"secret","display":false}"#;
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;
    let session = Session::from_bytes(format!("{header}\n{line}\n").into_bytes()).unwrap();
    assert_eq!(items_at(&session, &session.branch_path(Position::Leaf), 0), Vec::new());
}

#[test]
fn of_a_file_that_a_prompt_names_only_the_name_shows() {
    let drawing = r#"u user see @notes.md
        ! {"type":"custom_message","id":"f","parentId":"u","timestamp":"2025-01-01T00:00:00.000Z","customType":"file","content":"<file name=\"/p/notes.md\">\nsecret\n</file>","display":false,"details":{"path":"notes.md","bytes":7}}"#;
    assert_eq!(path_of(drawing, 40), "▌ see @notes.md\n\nattached: notes.md");
}

#[test]
fn answers_that_did_not_end_well_say_so() {
    let failed = Item::Notice(Tone::Error, "overloaded".into());
    assert_eq!(shown(&failed, 40, &item_style()), "✗ overloaded");
}

#[test]
fn thoughts_can_be_hidden() {
    let item = Item::Thinking("Let me see.\nYes.".into());
    assert_eq!(shown(&item, 40, &item_style()), "  Let me see.\n  Yes.");
    let hidden = ItemStyle { shows_thinking: false, ..item_style() };
    assert_eq!(shown(&item, 40, &hidden), "Thinking…");
}

#[test]
fn nothing_that_others_wrote_steers_the_terminal() {
    let mut rng = Rng::new(7);
    let drawn = (0..60).map(|_| testkit::hostile::text(&mut rng));
    for hostile in drawn.chain(["a\x1b]52;c;eA==\x07\u{9b}2J\u{202e}b\x00\r".to_owned()]) {
        for item in items_saying(&hostile) {
            for columns in [1, 8, 40] {
                for row in rows(&item, columns, &item_style(), &mut CodeCache::plain()) {
                    let row = row.to_string();
                    assert!(crate::clean::clean(&row) == row && !row.contains('\n'), "{hostile:?}: {row:?}");
                }
            }
        }
    }
}

/// One item of every kind, each of which says a text wherever it can.
fn items_saying(hostile: &str) -> Vec<Item> {
    let text = || hostile.to_owned();
    vec![
        Item::Prompt { text: text(), images: 1 },
        Item::Text(text()),
        Item::Thinking(text()),
        Item::Tool(ToolItem {
            name: text(),
            arguments: json!({"x": hostile, "y": hostile}),
            output: text(),
            diff: Some(text()),
            images: 1,
            state: ToolState::Done,
            partial: text(),
        }),
        Item::Shell(ShellItem { command: text(), output: text(), ..ShellItem::default() }),
        Item::Custom { kind: text(), text: text() },
        Item::Summary { title: text(), text: text() },
        Item::Notice(Tone::Error, text()),
        Item::Setting(text()),
        Item::Notice(Tone::Info, text()),
        Item::Divider(text()),
    ]
}

#[test]
fn a_result_shows_the_call_of_its_own_turn_and_no_older_one() {
    let message = |id: &str, parent: &str, message: &str| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:02.000Z","message":{message}}}"#
        )
    };
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"call_0","name":"bash","arguments":{"command":"rm old"}}]}"#;
    let result = r#"{"role":"toolResult","toolCallId":"call_0","toolName":"read","content":[{"type":"text","text":"out"}]}"#;
    let drawing = [
        "u user first".to_owned(),
        message("c", "u", call),
        message("r", "c", result),
        "v<r user second".to_owned(),
        message("s", "v", result),
    ];
    let session = Session::from_bytes(session_text(&drawing.join("\n"))).unwrap();
    let path = session.branch_path(Position::Leaf);
    let title = |at: usize| {
        shown(&items_at(&session, &path, at)[0], 60, &item_style()).lines().next().unwrap().to_owned()
    };
    assert_eq!(title(2), "● bash rm old");
    assert_eq!(title(4), "● read");
}
