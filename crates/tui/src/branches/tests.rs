//! The list of branches without a terminal.

use crossterm::event::{Event, KeyCode};
use session_tree::{Session, Timestamp};
use testkit::drawing::session_text;

use super::*;
use crate::screen;
use crate::theme::Theme;
use crate::time::Local;

fn session() -> Session {
    let drawing = "
        a user Build a CLI
        b<a assistant Which language?
        n<b user Use Node
        o<n assistant It works.
        r<b user Use Rust
        s<r assistant It is fast.
        l<s label s rust";
    Session::from_bytes(session_text(drawing)).unwrap()
}

fn list() -> BranchList {
    BranchList::new("Greeter", session_view::branch_table(&session()).unwrap())
}

fn shown(list: &mut BranchList, width: u16, height: u16) -> String {
    let local = Local::utc(Timestamp::from_millis(1_735_689_600_000 + 7_200_000));
    screen::text(width, height, |area, buf| list.draw(Theme::plain(), &Keymap::default(), local, area, buf))
}

fn act(list: &mut BranchList, action: Action) -> Option<Outcome> {
    list.update(&Input::Action(action))
}

fn id(id: &str) -> EntryId {
    let session = session();
    session.tree().id(session.tree().node(id).unwrap())
}

#[test]
fn letters_say_what_is_wanted_with_the_branch_under_the_cursor() {
    let mut list = list();
    assert_eq!(act(&mut list, Action::SelectConfirm), Some(Outcome::Switch(id("s"))));
    act(&mut list, Action::SelectDown);
    let tip = id("o");
    assert_eq!(act(&mut list, Action::BranchSummarize), Some(Outcome::SwitchWithSummary(tip.clone())));
    assert_eq!(act(&mut list, Action::BranchMerge), Some(Outcome::Merge(tip.clone())));
    assert_eq!(act(&mut list, Action::BranchPick), Some(Outcome::Pick(tip.clone())));
    assert_eq!(act(&mut list, Action::BranchExport), Some(Outcome::Export(tip.clone())));
    assert_eq!(act(&mut list, Action::BranchDiff), Some(Outcome::Diff(tip.clone())));
    assert_eq!(act(&mut list, Action::BranchHide), Some(Outcome::Hide(tip, true)));
    assert_eq!(act(&mut list, Action::SelectCancel), Some(Outcome::Cancel));
    assert_eq!(list.update(&Input::Char('2')), Some(Outcome::Switch(id("o"))));
    assert_eq!(list.update(&Input::Char('9')), None);
}

#[test]
fn a_search_is_typed_after_a_slash_and_letters_are_text_then() {
    let mut list = list();
    act(&mut list, Action::BranchSearch);
    for c in "node".chars() {
        assert_eq!(list.update(&Input::Char(c)), None);
    }
    assert_eq!(list.selected().map(|row| row.branch.tip_id.clone()), Some(id("o")));
    assert!(shown(&mut list, 80, 8).contains("⌕ node"));
    assert_eq!(act(&mut list, Action::SelectCancel), None);
    assert_eq!(act(&mut list, Action::SelectCancel), Some(Outcome::Cancel));
}

#[test]
fn a_search_goes_on_after_help_and_after_a_label() {
    for over in [Action::Help, Action::BranchLabel] {
        let mut list = list();
        act(&mut list, Action::BranchSearch);
        list.update(&Input::Char('n'));
        act(&mut list, over);
        act(&mut list, Action::SelectCancel);
        let letter = Event::Key(KeyCode::Char('o').into());
        let input = list.input(&Keymap::default(), &letter).unwrap();
        assert_eq!((list.update(&input), input), (None, Input::Char('o')), "{over:?}");
        assert!(shown(&mut list, 80, 8).contains("⌕ no"));
        act(&mut list, Action::DeleteWordBackward);
        assert_eq!(list.query.as_deref(), Some(""));
    }
}

#[test]
fn a_label_is_typed_below_the_list() {
    let mut list = list();
    act(&mut list, Action::BranchLabel);
    assert!(shown(&mut list, 80, 8).contains("› rust"), "{}", shown(&mut list, 80, 8));
    assert_eq!(act(&mut list, Action::DeleteToLineStart), None);
    assert_eq!(act(&mut list, Action::SelectConfirm), Some(Outcome::SetLabel(id("s"), None)));
}

#[test]
fn no_branches_are_no_trouble() {
    let mut list = BranchList::new("", Vec::new());
    assert!(shown(&mut list, 40, 6).contains("no branches found"));
    for action in Screen::Branches.actions().into_iter().filter(|action| *action != Action::SelectCancel) {
        assert_eq!(act(&mut list, action), None, "{action:?}");
        list.mode = Mode::Browse;
    }
}

/// The name of a state, and how it comes about.
type State = (&'static str, fn(&mut BranchList));

#[test]
fn every_state_at_every_size() {
    let states: [State; 5] = [
        ("listed", |_| {}),
        ("marked", |list| {
            let here = list.rows[0].branch.tip;
            let other = &mut list.rows[1].branch;
            (other.merged_into, other.compacted, other.ends_in_error, other.is_hidden) =
                (Some(here), true, true, true);
        }),
        ("searched", |list| {
            act(list, Action::BranchSearch);
            "no".chars().for_each(|c| {
                list.update(&Input::Char(c));
            });
        }),
        ("labelled", |list| {
            act(list, Action::BranchLabel);
        }),
        ("help", |list| {
            act(list, Action::Help);
        }),
    ];
    for (name, steps) in states {
        let shown = screen::at_all_sizes(|width, height| {
            let mut list = list();
            steps(&mut list);
            shown(&mut list, width, height.min(14))
        });
        insta::assert_snapshot!(name, shown);
    }
}
