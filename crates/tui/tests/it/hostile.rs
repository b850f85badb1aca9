//! No text of a session controls the terminal: hostile strings in every part of the screen.
//!
//! The real backend turns each frame into bytes, and a terminal parser reads them.

use std::collections::HashSet;
use std::path::PathBuf;

use offshoot_tui::branches::BranchList;
use offshoot_tui::dialog::{Item, Prompt, Question, Review, ReviewKind, ReviewText, SelectList, TextDialog};
use offshoot_tui::keys::{Action, Input, Keymap};
use offshoot_tui::picker::{Scope, SessionPicker, SessionPreview};
use offshoot_tui::summary::{Chosen, LeftBranch, MoveEnd, SummaryFlow};
use offshoot_tui::theme::Theme;
use offshoot_tui::time::Local;
use offshoot_tui::tree::{Purpose, TreeOptions, TreeSelector};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use session_tree::{Session, Timestamp};
use session_view::Filter;
use testkit::hostile::{Allowed, text as hostile, watch};
use testkit::rng::Rng;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// A session whose every text is hostile: prompts, answers, tools, labels, names, summaries, unknown types.
fn session(rng: &mut Rng, strings: usize) -> Session {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let mut text = format!("{header}\n");
    for number in 0..strings {
        let [one, two] = [hostile(rng), hostile(rng)].map(|text| serde_json::Value::from(text).to_string());
        let parent = match number {
            0 => "null".to_owned(),
            _ => format!("\"e{}\"", number as u64 - 1 - rng.below(number.min(3) as u64)),
        };
        let body = match number % 9 {
            0 => format!(r#""type":"message","message":{{"role":"user","content":{one}}}"#),
            1 => format!(
                r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":{one}}},{{"type":"thinking","thinking":{two}}},{{"type":"toolCall","id":{two},"name":{one},"arguments":{{{two}:{one}}}}}],"stopReason":"error","errorMessage":{two}}}"#
            ),
            2 => format!(
                r#""type":"message","message":{{"role":"toolResult","toolCallId":{two},"toolName":{one},"content":[{{"type":"text","text":{one}}}],"details":{{"diff":{two}}},"isError":true}}"#
            ),
            3 => format!(r#""type":"custom_message","customType":{one},"content":{two},"display":true"#),
            4 => format!(r#""type":"label","targetId":"e0","label":{one}"#),
            5 => format!(
                r#""type":"branch_summary","fromId":{one},"summary":{two},"details":{{"merge":{{"sourceLeafId":{two}}}}}"#
            ),
            6 => format!(r#""type":"session_info","name":{one}"#),
            7 => format!(
                r#""type":"message","message":{{"role":"bashExecution","command":{one},"output":{two},"exitCode":1}}"#
            ),
            _ => format!(r#""type":{one},"data":{two}"#),
        };
        text.push_str(&format!(
            "{{{body},\"id\":\"e{number}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\"}}\n"
        ));
    }
    Session::from_bytes(text.into_bytes()).unwrap()
}

/// Draws into cells and into bytes, and looks at both.
fn check(what: &str, mut draw: impl FnMut(Theme, Rect, &mut Buffer)) {
    for ((width, height), theme) in SIZES.into_iter().zip([Theme::dark(), Theme::plain(), Theme::light()]) {
        let area = Rect::new(0, 0, width, height);
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let mut bytes = Vec::new();
        let mut terminal = Terminal::with_options(CrosstermBackend::new(&mut bytes), options).unwrap();
        terminal
            .draw(|frame| {
                draw(theme, area, frame.buffer_mut());
                look_at_cells(what, frame.buffer_mut());
            })
            .unwrap();
        drop(terminal);
        assert!(!bytes.is_empty());
        look_at_bytes(what, &bytes);
    }
}

fn look_at_cells(what: &str, buffer: &Buffer) {
    for cell in buffer.content() {
        item_style(what, cell.symbol().as_bytes(), |_, _| false);
    }
}

/// Lets through letters, colours and moves of the cursor; everything else was smuggled in.
fn look_at_bytes(what: &str, bytes: &[u8]) {
    item_style(what, bytes, |_, action| matches!(action, 'm' | 'H' | 'J' | 'K' | 'h' | 'l'));
}

fn item_style(what: &str, bytes: &[u8], sequence: fn(&[u16], char) -> bool) {
    let watched = watch(bytes, Allowed { lines: false, sequence });
    assert_eq!(watched.foreign, Vec::<String>::new(), "{what}: {:?}", watched.printed);
}

fn local() -> Local {
    Local::utc(Timestamp::from_millis(1_763_000_000_000))
}

fn check_tree(rng: &mut Rng, session: &Session, keymap: &Keymap) {
    let filter = Filter::ALL[rng.below(Filter::ALL.len() as u64) as usize];
    let purpose = Purpose { title: hostile(rng), confirm: hostile(rng) };
    let options = TreeOptions { filter, purpose: Some(purpose), ..TreeOptions::default() };
    let Some(mut tree) = TreeSelector::open(session, options) else { return };
    let query = hostile(rng);
    let actions = [
        Action::TreeLabelTimes,
        Action::TreePreview,
        Action::SelectUp,
        Action::TreeFold,
        Action::TreeEditLabel,
    ];
    for action in actions {
        tree.update(session, &Input::Action(action));
        tree.set_notice(hostile(rng));
        check("tree", |theme, area, buf| {
            tree.prepare(session, theme, local(), area);
            tree.draw(theme, keymap, area, buf);
        });
    }
    tree.update(session, &Input::Action(Action::SelectCancel));
    tree.update(session, &Input::Paste(query));
    check("tree with a query", |theme, area, buf| {
        tree.prepare(session, theme, local(), area);
        tree.draw(theme, keymap, area, buf);
    });
}

fn check_summary(rng: &mut Rng, session: &Session, keymap: &Keymap) {
    let leaving = LeftBranch {
        branch: hostile(rng),
        edited: vec![hostile(rng), hostile(rng)],
        model: Some(hostile(rng)),
        ..LeftBranch::default()
    };
    let target = session.leaf_id().unwrap();
    let (mut flow, _) =
        SummaryFlow::start(Chosen { target, is_noop: false, leaving: Some(leaving), always: None });
    flow.update(&Input::Char('2'));
    flow.end(MoveEnd::Failed(hostile(rng)));
    let pasted = Input::Paste(hostile(rng));
    for key in [Action::SummaryLabel, Action::SelectConfirm, Action::SelectDown] {
        check("summary", |theme, area, buf| flow.draw(theme, keymap, 0, area, buf));
        flow.update(&Input::Action(key));
        flow.update(&pasted);
    }
    for option in ['3', '4'] {
        flow.update(&Input::Char(option));
        flow.update(&pasted);
        check("summary, typing", |theme, area, buf| flow.draw(theme, keymap, 0, area, buf));
        flow.update(&Input::Action(Action::SelectCancel));
    }
}

fn check_dialogs(rng: &mut Rng, keymap: &Keymap) {
    let items = (0..20).map(|_| Item::new(hostile(rng), hostile(rng))).collect();
    let mut list = SelectList::searchable(hostile(rng), items);
    check("list", |theme, area, buf| list.draw(theme, keymap, area, buf));
    let mut question = Question::new(hostile(rng), hostile(rng), vec![Item::new(hostile(rng), hostile(rng))]);
    check("question", |theme, area, buf| question.draw(theme, keymap, area, buf));
    let mut prompt = Prompt::new(hostile(rng), &hostile(rng));
    check("prompt", |theme, area, buf| prompt.draw(theme, keymap, area, buf));
    let mut text = TextDialog::new(hostile(rng), "hint", &hostile(rng));
    check("text", |theme, area, buf| text.draw(theme, keymap, area, buf));
    let warnings = vec![hostile(rng), hostile(rng)];
    let text = ReviewText::Ready(hostile(rng));
    let mut review = Review::new(ReviewKind::Merge, vec![hostile(rng)], warnings, text);
    check("review", |theme, area, buf| review.draw(theme, keymap, 0, area, buf));
    review.update(&Input::Action(Action::ReviewEdit));
    check("review, editing", |theme, area, buf| review.draw(theme, keymap, 0, area, buf));
    let mut review = Review::new(ReviewKind::Merge, Vec::new(), Vec::new(), ReviewText::Failed(hostile(rng)));
    check("review, failed", |theme, area, buf| review.draw(theme, keymap, 0, area, buf));
}

fn check_branches(rng: &mut Rng, session: &Session, keymap: &Keymap) {
    let mut list = BranchList::new(hostile(rng), session_view::branch_table(session).unwrap());
    check("branches", |theme, area, buf| list.draw(theme, keymap, local(), area, buf));
    list.update(&Input::Action(Action::BranchSearch));
    list.update(&Input::Paste(hostile(rng)));
    check("branches, searching", |theme, area, buf| list.draw(theme, keymap, local(), area, buf));
    list.update(&Input::Action(Action::SelectCancel));
    list.update(&Input::Action(Action::BranchLabel));
    check("branches, labelling", |theme, area, buf| list.draw(theme, keymap, local(), area, buf));
}

fn check_picker(rng: &mut Rng, session: &Session, keymap: &Keymap, model: &session_tree::SessionSummary) {
    let mut rows = Vec::new();
    for number in 0..12 {
        let mut row = model.clone();
        row.path = PathBuf::from(format!("/{number}{}", hostile(rng).replace(['/', '\0'], "")));
        row.id = format!("{number}");
        row.cwd = hostile(rng);
        row.name = (number % 2 == 0).then(|| hostile(rng));
        row.first_message = Some(hostile(rng));
        row.parent_session = (number % 3 > 0).then(|| format!("{}", number - 1));
        rows.push(row);
    }
    let paths: HashSet<PathBuf> = rows.iter().map(|row| row.path.clone()).collect();
    let first = rows[0].path.clone();
    let mut picker = SessionPicker::new(Some(first.clone()));
    picker.add_rows(Scope::Folder, rows);
    picker.add_open_elsewhere(paths);
    picker.set_notice(hostile(rng));
    picker.set_preview(&first, SessionPreview::of(session).unwrap());
    check("picker", |theme, area, buf| picker.draw(theme, keymap, local(), area, buf));
    for action in [
        Action::PickerPath,
        Action::SelectDown,
        Action::PickerDelete,
        Action::SelectConfirm,
        Action::PickerRename,
    ] {
        picker.update(&Input::Action(action));
        check("picker", |theme, area, buf| picker.draw(theme, keymap, local(), area, buf));
    }
    picker.update(&Input::Action(Action::SelectCancel));
    picker.update(&Input::Paste(hostile(rng)));
    check("picker with a query", |theme, area, buf| picker.draw(theme, keymap, local(), area, buf));
}

#[test]
fn nothing_that_others_wrote_steers_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("s.jsonl"), testkit::drawing::session_text("u user x")).unwrap();
    let model = session_tree::Catalog::new(directory.path()).flat().list_all().rows().remove(0);
    let keymap = Keymap::default();
    for seed in 0..600 {
        let mut rng = Rng::new(seed);
        let session = session(&mut rng, 27);
        check_tree(&mut rng, &session, &keymap);
        check_summary(&mut rng, &session, &keymap);
        check_dialogs(&mut rng, &keymap);
        check_branches(&mut rng, &session, &keymap);
        check_picker(&mut rng, &session, &keymap, &model);
    }
}
