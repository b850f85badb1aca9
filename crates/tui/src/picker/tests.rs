//! The picker without files: rows in, what shows and what is wanted out.

use session_tree::{Session, Timestamp};
use testkit::drawing::session_text;

use super::*;
use crate::keys::Action;
use crate::screen;
use crate::theme::Theme;
use crate::time::Local;

const NOW: &str = "2025-11-16T12:00:00Z";

/// A row as a catalog would give it: only files give rows, so one is read and changed.
fn row(path: &str, name: Option<&str>, first: &str, parent: Option<&str>, time: &str) -> SessionSummary {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("s.jsonl");
    std::fs::write(&file, session_text("u user x\na<u assistant y")).unwrap();
    let catalog = session_tree::Catalog::new(directory.path()).flat();
    let mut row = catalog.list_all().rows().remove(0);
    row.path = path.into();
    row.id = path.trim_start_matches('/').into();
    row.name = name.map(str::to_owned);
    row.first_message = Some(first.to_owned());
    row.parent_session = parent.map(str::to_owned);
    row.modified = Timestamp::parse(time).unwrap();
    row
}

fn rows() -> Vec<SessionSummary> {
    let mut rows = vec![
        row("/greeter", Some("Greeter CLI"), "Build a CLI", None, "2025-11-10T12:00:00Z"),
        row("/zig", None, "Fork: zig port", Some("/greeter"), "2025-11-11T12:00:00Z"),
        row("/rust", None, "Fork: rust port of greeter", Some("greeter"), "2025-11-12T12:00:00Z"),
        row("/async", Some("Rust port, async"), "go on", Some("/rust"), "2025-11-16T11:00:00Z"),
        row("/tar", None, "Unrelated question about tar flags", Some("/gone"), "2025-11-15T12:00:00Z"),
    ];
    rows[0].tip_count = 4;
    rows
}

fn picker() -> SessionPicker {
    let mut picker = SessionPicker::new(Some("/greeter".into()));
    picker.add_rows(Scope::Folder, rows());
    picker.set_progress(Scope::Folder, 5, 5);
    picker.freshen();
    picker
}

fn shown(picker: &mut SessionPicker, width: u16, height: u16) -> String {
    let local = Local::utc(Timestamp::parse(NOW).unwrap());
    screen::text(width, height, |area, buf| picker.draw(Theme::plain(), &Keymap::default(), local, area, buf))
}

fn act(picker: &mut SessionPicker, action: Action) -> Option<Outcome> {
    picker.update(&Input::Action(action))
}

fn type_text(picker: &mut SessionPicker, text: &str) {
    for c in text.chars() {
        assert_eq!(picker.update(&Input::Char(c)), None);
    }
}

/// The files of the rows, in order.
fn order(picker: &mut SessionPicker) -> String {
    picker.freshen();
    let name = |place: &Place| picker.rows[&place.path].id.clone();
    picker.places.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn threads_hang_together_the_latest_first() {
    let mut picker = picker();
    assert_eq!(order(&mut picker), "greeter rust async zig tar");
    insta::assert_snapshot!(shown(&mut picker, 80, 24), @r#"
     Resume Session  this folder                                      sort: threads
     ⌕ type to search · "phrase" · re:pattern · cwd: before: has:branch
    ────────────────────────────────────────────────────────────────────────────────
    › Greeter CLI ← open here                                          ⎇4    2   6d
      ├─ Fork: rust port of greeter                                          2   4d
      │  └─ Rust port, async                                                 2   1h
      └─ Fork: zig port                                                      2   5d
      Unrelated question about tar flags                                     2   1d














      (1/5)
     Enter open · ? all keys · Esc back · Tab scope · Ctrl+S sort · Ctrl+N named
    "#);
}

#[test]
fn a_large_screen_has_a_preview() {
    let mut picker = picker();
    shown(&mut picker, 120, 40);
    assert_eq!(picker.wants_preview(), Some(Path::new("/greeter")));
    let session = Session::from_bytes(session_text(
        "a user Build a CLI
         b<a assistant Done.
         c<a assistant Done differently.",
    ))
    .unwrap();
    picker.set_preview(Path::new("/greeter"), SessionPreview::of(&session).unwrap());
    assert_eq!(picker.wants_preview(), None);
    insta::assert_snapshot!(shown(&mut picker, 120, 16), @r#"
     Resume Session  this folder                                                                              sort: threads
     ⌕ type to search · "phrase" · re:pattern · cwd: before: has:branch
    ────────────────────────────────────────────────────────────────────────┬───────────────────────────────────────────────
    › Greeter CLI ← open here                                  ⎇4    2   6d │ Greeter CLI
      ├─ Fork: rust port of greeter                                  2   4d │ /w
      │  └─ Rust port, async                                         2   1h │ created 1/1 00:00, last used 11/10 12:00
      └─ Fork: zig port                                              2   5d │ 2 branches, 20 tok, $0.00
      Unrelated question about tar flags                             2   1d │ ⎇ Done differently.
                                                                            │ ⎇ Done.
                                                                            │
                                                                            │ ▌ Build a CLI
                                                                            │
                                                                            │ Done differently.
                                                                            │
      (1/5)
     Enter open · ? all keys · Esc back · Tab scope · Ctrl+S sort · Ctrl+N named · Ctrl+R rename · Ctrl+D delete
    "#);
}

#[test]
fn first_rows_show_while_the_rest_is_read() {
    let mut picker = SessionPicker::new(None);
    assert!(shown(&mut picker, 80, 8).contains("reading sessions…"));
    picker.add_rows(Scope::Folder, rows().into_iter().take(1));
    picker.set_progress(Scope::Folder, 1, 5);
    assert!(shown(&mut picker, 80, 8).contains("reading 1/5"));
    picker.add_rows(Scope::Folder, rows());
    assert_eq!(order(&mut picker).split_whitespace().count(), 5);
}

#[test]
fn the_cursor_stays_on_its_session_once_it_was_moved() {
    let mut picker = SessionPicker::new(None);
    picker.add_rows(Scope::Folder, rows().into_iter().skip(1));
    picker.freshen();
    assert_eq!(picker.selected().unwrap().id, "rust");
    picker.add_rows(Scope::Folder, rows());
    picker.freshen();
    assert_eq!(picker.selected().unwrap().id, "greeter");
    act(&mut picker, Action::SelectDown);
    assert_eq!(picker.selected().unwrap().id, "rust");
    act(&mut picker, Action::PickerSort);
    assert_eq!(
        (order(&mut picker).as_str(), picker.selected().unwrap().id.as_str()),
        ("async tar rust zig greeter", "rust")
    );
}

#[test]
fn the_ends_of_the_list_are_ends() {
    let mut picker = picker();
    act(&mut picker, Action::SelectUp);
    assert_eq!(picker.selected().unwrap().id, "greeter");
    act(&mut picker, Action::SelectLast);
    act(&mut picker, Action::SelectDown);
    assert_eq!(picker.selected().unwrap().id, "tar");
    assert_eq!(act(&mut picker, Action::SelectConfirm), Some(Outcome::Open("/tar".into())));
    assert_eq!(act(&mut picker, Action::PickerBranches), Some(Outcome::Branches("/tar".into())));
}

#[test]
fn a_query_finds_exactly_before_it_finds_scattered_letters() {
    let mut picker = picker();
    act(&mut picker, Action::PickerSort);
    act(&mut picker, Action::PickerSort);
    type_text(&mut picker, "greeter");
    assert_eq!(order(&mut picker), "greeter rust");
    act(&mut picker, Action::SelectCancel);
    type_text(&mut picker, "rpa");
    assert_eq!(order(&mut picker), "async");
    act(&mut picker, Action::SelectCancel);
    type_text(&mut picker, "re:tar|zig");
    assert_eq!(order(&mut picker), "tar zig");
    act(&mut picker, Action::SelectCancel);
    type_text(&mut picker, "re:(");
    assert_eq!(order(&mut picker), "");
    assert!(shown(&mut picker, 80, 10).contains("nothing found here · Tab searches all"));
}

#[test]
fn what_was_said_is_searched_when_it_is_told() {
    let mut picker = picker();
    type_text(&mut picker, "goroutine");
    assert_eq!((order(&mut picker).as_str(), picker.unsearched().count()), ("", 5));
    picker.search_text(Path::new("/tar"), "use a goroutine here");
    picker.search_text(Path::new("/zig"), "nothing of that kind");
    assert_eq!((order(&mut picker).as_str(), picker.unsearched().count()), ("tar", 3));
    act(&mut picker, Action::DeleteBackward);
    assert_eq!(picker.unsearched().count(), 5);
}

#[test]
fn only_named_sessions_can_be_listed() {
    let mut picker = picker();
    act(&mut picker, Action::PickerNamed);
    assert_eq!(order(&mut picker), "async greeter");
}

#[test]
fn the_other_scope_is_loaded_once() {
    let mut picker = picker();
    assert_eq!(act(&mut picker, Action::PickerScope), Some(Outcome::Load(Scope::All)));
    assert_eq!(act(&mut picker, Action::PickerScope), None);
    picker.add_rows(Scope::All, rows());
    assert_eq!(picker.scope, Scope::Folder);
    assert_eq!(act(&mut picker, Action::PickerScope), None);
    assert!(shown(&mut picker, 80, 10).contains("all folders"));
}

#[test]
fn a_session_is_renamed_at_once() {
    let mut picker = picker();
    act(&mut picker, Action::SelectLast);
    act(&mut picker, Action::PickerRename);
    type_text(&mut picker, "Tar ");
    insta::assert_snapshot!(shown(&mut picker, 60, 10), @r#"
     Resume Session  this folder                  sort: threads
     ⌕ type to search · "phrase" · re:pattern · cwd: before: ha…
    ────────────────────────────────────────────────────────────
      ├─ Fork: rust port of greeter                      2   4d
      │  └─ Rust port, async                             2   1h
      └─ Fork: zig port                                  2   5d
    › Unrelated question about tar flags                 2   1d
    ── Rename session ──────────────────────────────────────────
     › Tar
     Enter save · Esc back
    "#);
    assert_eq!(act(&mut picker, Action::SelectConfirm), Some(Outcome::Rename("/tar".into(), "Tar".into())));
    assert_eq!(picker.selected().unwrap().title(), "Tar");
    act(&mut picker, Action::PickerRename);
    act(&mut picker, Action::DeleteToLineStart);
    assert_eq!(act(&mut picker, Action::SelectConfirm), None);
}

#[test]
fn a_deleted_session_can_be_taken_back() {
    let mut picker = picker();
    act(&mut picker, Action::SelectDown);
    assert_eq!(act(&mut picker, Action::PickerDelete), None);
    insta::assert_snapshot!(shown(&mut picker, 60, 10), @r#"
     Resume Session  this folder                  sort: threads
     ⌕ type to search · "phrase" · re:pattern · cwd: before: ha…
    ────────────────────────────────────────────────────────────
      Greeter CLI ← open here                      ⎇4    2   6d
    › ├─ Fork: rust port of greeter                      2   4d
      │  └─ Rust port, async                             2   1h
    ── Move "Fork: rust port of greeter" to the trash? ─────────
    › 1 Yes  it can be taken back until you quit
      2 No
     Enter choose · Esc back · ↓ move
    "#);
    assert_eq!(picker.update(&Input::Char('q')), None);
    assert_eq!(act(&mut picker, Action::SelectConfirm), Some(Outcome::Delete("/rust".into())));
    assert_eq!(
        (order(&mut picker).as_str(), picker.selected().unwrap().id.as_str()),
        ("async tar greeter zig", "tar")
    );
    picker.add_rows(Scope::Folder, rows());
    assert_eq!(order(&mut picker).split_whitespace().count(), 4);
    assert_eq!(act(&mut picker, Action::PickerUndo), Some(Outcome::Restore("/rust".into())));
    assert_eq!(
        (order(&mut picker).as_str(), picker.selected().unwrap().id.as_str()),
        ("greeter rust async zig tar", "rust")
    );
    assert_eq!(act(&mut picker, Action::PickerUndo), None);
}

#[test]
fn the_open_session_is_not_deleted() {
    let mut picker = picker();
    assert_eq!(act(&mut picker, Action::PickerDelete), None);
    assert!(shown(&mut picker, 80, 10).contains("the session that is open cannot be deleted"));
    picker.add_open_elsewhere([PathBuf::from("/tar")].into());
    assert!(shown(&mut picker, 80, 10).contains("(open elsewhere)"));
}

#[test]
fn a_circle_of_parents_has_no_end_and_still_shows() {
    let mut picker = SessionPicker::new(None);
    let one = row("/a", None, "a", Some("/b"), "2025-11-10T12:00:00Z");
    let other = row("/b", None, "b", Some("/a"), "2025-11-11T12:00:00Z");
    let own = row("/c", None, "c", Some("/c"), "2025-11-12T12:00:00Z");
    picker.add_rows(Scope::Folder, [one, other, own]);
    assert_eq!(order(&mut picker).split_whitespace().count(), 3);
}

#[test]
fn empty_lists_explain_how_to_see_more() {
    let mut picker = SessionPicker::new(None);
    picker.set_progress(Scope::Folder, 0, 0);
    assert!(shown(&mut picker, 80, 10).contains("no sessions in this folder · Tab lists all"));
    act(&mut picker, Action::PickerNamed);
    assert!(shown(&mut picker, 80, 10).contains("Ctrl+N shows all"));
    assert_eq!(act(&mut picker, Action::SelectConfirm), None);
    assert_eq!(act(&mut picker, Action::SelectCancel), Some(Outcome::Cancel));
}

#[test]
fn keys_are_explained() {
    let mut picker = picker();
    act(&mut picker, Action::Help);
    insta::assert_snapshot!(shown(&mut picker, 60, 24), @"
    ── Keys of the session picker ──────────────────────────────
      Move
      ↑               move up
      ↓               move down
      PgUp            one page up
      PgDn            one page down
      Home            go to the first row
      End             go to the last row

      Choose
      Enter           choose
      Esc, Ctrl+C     go back
      ?, F1           show all keys

      Sessions
      Tab             this folder or all
      Ctrl+S          change the order
      Ctrl+N          only sessions with a name
      Ctrl+P          show paths
      Ctrl+O, F3      show or hide the preview
      Ctrl+B          choose a branch of it
      Ctrl+R          rename
      Ctrl+D          move to the trash
     ↓ scroll · Esc close                         2 more below
    ");
}

#[test]
fn five_thousand_rows_that_come_one_by_one_are_arranged_once() {
    let mut picker = SessionPicker::new(None);
    let model = rows().remove(1);
    for number in 0..5_000 {
        let mut row = model.clone();
        row.path = format!("/{number}").into();
        row.id = format!("{number}");
        picker.add_rows(Scope::Folder, [row]);
        assert!(picker.is_stale && picker.places.is_empty());
    }
    assert!(shown(&mut picker, 80, 24).contains("(1/5000)"));
}

/// The name of a state, and how it comes about.
type State = (&'static str, fn(&mut SessionPicker));

#[test]
fn every_state_at_every_size() {
    let states: [State; 9] = [
        ("threads", |_| {}),
        ("recent", |picker| {
            act(picker, Action::PickerSort);
        }),
        ("paths", |picker| {
            act(picker, Action::PickerPath);
        }),
        ("searched", |picker| type_text(picker, "port")),
        ("nothing_found", |picker| type_text(picker, "zzz")),
        ("renamed", |picker| {
            act(picker, Action::SelectLast);
            act(picker, Action::PickerRename);
        }),
        ("deleted", |picker| {
            act(picker, Action::SelectDown);
            act(picker, Action::PickerDelete);
        }),
        ("open_elsewhere", |picker| picker.add_open_elsewhere([PathBuf::from("/tar")].into())),
        ("help", |picker| {
            act(picker, Action::Help);
        }),
    ];
    for (name, steps) in states {
        let shown = screen::at_all_sizes(|width, height| {
            let mut picker = picker();
            steps(&mut picker);
            shown(&mut picker, width, height.min(18))
        });
        insta::assert_snapshot!(name, shown);
    }
}
