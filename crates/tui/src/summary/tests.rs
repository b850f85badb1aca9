//! Every edge of the flow, without a terminal; and how its questions look.

use session_tree::{BranchSummarySettings, Session};
use testkit::drawing::session_text;

use super::*;
use crate::screen;
use crate::theme::Theme;

fn target() -> EntryId {
    let session = Session::from_bytes(session_text("t user go")).unwrap();
    session.leaf_id().unwrap()
}

fn leaving() -> LeftBranch {
    LeftBranch {
        branch: "No, channels".into(),
        turns: 2,
        tool_calls: 6,
        tokens: 4_100,
        edited: vec!["main.go".into()],
        model: Some("haiku".into()),
    }
}

fn chosen() -> Chosen {
    Chosen { target: target(), is_noop: false, leaving: Some(leaving()), always: None }
}

fn asking() -> SummaryFlow {
    let (flow, effects) = SummaryFlow::start(chosen());
    assert_eq!(effects, None);
    flow
}

fn act(flow: &mut SummaryFlow, action: Action) -> Option<Effect> {
    flow.update(&Input::Action(action))
}

fn type_text(flow: &mut SummaryFlow, text: &str) {
    for c in text.chars() {
        assert_eq!(flow.update(&Input::Char(c)), None);
    }
}

fn press(flow: &mut SummaryFlow, c: char) -> Option<Effect> {
    flow.update(&Input::Char(c))
}

fn run(choice: Choice) -> Option<Effect> {
    Some(Effect::Run { choice, label: None, remember: false })
}

fn shown(flow: &mut SummaryFlow, width: u16, height: u16) -> String {
    screen::text(width, height, |area, buf| flow.draw(Theme::plain(), &Keymap::default(), 0, area, buf))
}

#[test]
fn choosing_the_leaf_does_nothing_but_say_so() {
    let (flow, effects) = SummaryFlow::start(Chosen { is_noop: true, ..chosen() });
    assert_eq!(effects, Some(Effect::Status("Already at this point")));
    assert!(!flow.is_open());
}

#[test]
fn nothing_to_summarise_is_not_asked_about() {
    let (flow, effects) = SummaryFlow::start(Chosen { leaving: None, ..chosen() });
    assert_eq!(effects, run(Choice::Skip));
    assert!(flow.is_running());
    let always = Chosen { leaving: None, always: Some(Choice::Standard), ..chosen() };
    assert_eq!(SummaryFlow::start(always).1, run(Choice::Skip));
}

#[test]
fn what_was_chosen_once_and_for_all_is_not_asked_again() {
    for choice in [Choice::Skip, Choice::Standard, Choice::Focus("tests".into())] {
        let (_, effects) = SummaryFlow::start(Chosen { always: Some(choice.clone()), ..chosen() });
        assert_eq!(effects, run(choice));
    }
}

#[test]
fn escape_at_the_question_opens_the_tree_again() {
    let mut flow = asking();
    assert_eq!(act(&mut flow, Action::SelectCancel), Some(Effect::ReopenTree(target(), None)));
    assert!(!flow.is_open());
}

#[test]
fn the_first_option_is_preselected_and_arrows_reach_the_others() {
    assert_eq!(act(&mut asking(), Action::SelectConfirm), run(Choice::Skip));
    let mut flow = asking();
    act(&mut flow, Action::SelectDown);
    assert_eq!(act(&mut flow, Action::SelectConfirm), run(Choice::Standard));
}

#[test]
fn digits_choose_at_once() {
    assert_eq!(press(&mut asking(), '1'), run(Choice::Skip));
    assert_eq!(press(&mut asking(), '2'), run(Choice::Standard));
    assert_eq!(press(&mut asking(), '5'), Some(Effect::Merge(target())));
    assert_eq!(press(&mut asking(), '9'), None);
}

#[test]
fn a_focus_is_typed_and_survives_escape() {
    let mut flow = asking();
    assert_eq!(press(&mut flow, '3'), None);
    type_text(&mut flow, "the parser");
    assert_eq!(act(&mut flow, Action::SelectCancel), None);
    assert!(shown(&mut flow, 80, 10).contains("Leaving branch"));
    press(&mut flow, '3');
    assert!(shown(&mut flow, 80, 10).contains("the parser"));
    assert_eq!(act(&mut flow, Action::Submit), run(Choice::Focus("the parser".into())));
}

#[test]
fn an_empty_focus_is_an_ordinary_summary() {
    let mut flow = asking();
    press(&mut flow, '3');
    assert_eq!(act(&mut flow, Action::Submit), run(Choice::Standard));
}

#[test]
fn a_focus_can_be_written_in_an_external_editor() {
    let mut flow = asking();
    press(&mut flow, '3');
    type_text(&mut flow, "a");
    assert_eq!(act(&mut flow, Action::ExternalEditor), Some(Effect::EditExternally("a".into())));
    flow.set_text("a\nb");
    assert_eq!(act(&mut flow, Action::Submit), run(Choice::Focus("a\nb".into())));
}

#[test]
fn a_note_needs_no_model_survives_escape_and_says_something() {
    let mut flow = asking();
    press(&mut flow, '4');
    type_text(&mut flow, "too slow");
    assert_eq!(act(&mut flow, Action::SelectCancel), None);
    press(&mut flow, '4');
    assert_eq!(act(&mut flow, Action::SelectConfirm), run(Choice::Note("too slow".into())));
    let mut flow = asking();
    press(&mut flow, '4');
    assert_eq!(act(&mut flow, Action::SelectConfirm), None);
    assert!(shown(&mut flow, 80, 10).contains("Keep a note"));
}

#[test]
fn a_label_goes_with_the_move_and_escape_drops_it() {
    let mut flow = asking();
    act(&mut flow, Action::SummaryLabel);
    type_text(&mut flow, " go1 ");
    act(&mut flow, Action::SelectConfirm);
    let label = Some("go1".to_owned());
    let labelled = Effect::Run { choice: Choice::Skip, label, remember: false };
    assert_eq!(press(&mut flow, '1'), Some(labelled));
    let mut flow = asking();
    act(&mut flow, Action::SummaryLabel);
    type_text(&mut flow, "x");
    act(&mut flow, Action::SelectCancel);
    assert_eq!(press(&mut flow, '1'), run(Choice::Skip));
}

#[test]
fn a_choice_can_be_remembered_but_not_a_note() {
    let mut flow = asking();
    act(&mut flow, Action::SummaryRemember);
    assert!(shown(&mut flow, 80, 10).contains("[x] do the same"));
    let remembered = Effect::Run { choice: Choice::Standard, label: None, remember: true };
    assert_eq!(press(&mut flow, '2'), Some(remembered));
    let mut flow = asking();
    act(&mut flow, Action::SummaryRemember);
    press(&mut flow, '4');
    type_text(&mut flow, "n");
    assert_eq!(act(&mut flow, Action::SelectConfirm), run(Choice::Note("n".into())));
}

#[test]
fn a_move_without_summary_ends_there_and_can_be_cancelled_during_the_hooks() {
    let mut flow = asking();
    press(&mut flow, '1');
    assert_eq!(act(&mut flow, Action::SelectCancel), Some(Effect::Abort));
    assert_eq!(act(&mut flow, Action::SelectCancel), None);
    let effects = flow.end(MoveEnd::Done);
    assert_eq!(effects, Some(Effect::Status("Navigated to selected point · /back returns")));
    assert!(!flow.is_open());
}

#[test]
fn escape_stops_a_summary_once_and_the_tree_opens_again() {
    let mut flow = asking();
    press(&mut flow, '2');
    insta::assert_snapshot!(shown(&mut flow, 60, 1), @" ⠋ Summarizing branch... (Esc to cancel)");
    assert_eq!(act(&mut flow, Action::SelectCancel), Some(Effect::Abort));
    assert_eq!(act(&mut flow, Action::SelectCancel), None);
    assert!(shown(&mut flow, 60, 1).contains("Stopping"));
    let effects = flow.end(MoveEnd::Cancelled);
    assert_eq!(effects, Some(Effect::ReopenTree(target(), Some("Branch summarization cancelled"))));
    assert!(!flow.is_open());
}

#[test]
fn a_failure_says_why_and_asks_again() {
    let mut flow = asking();
    press(&mut flow, '2');
    let effects = flow.end(MoveEnd::Failed("no key for haiku".into()));
    assert_eq!(effects, Some(Effect::Error("no key for haiku".into())));
    assert!(shown(&mut flow, 80, 11).contains("✗ no key for haiku"));
    assert_eq!(press(&mut flow, '1'), run(Choice::Skip));
}

#[test]
fn an_extension_that_refuses_ends_it_silently() {
    let mut flow = asking();
    press(&mut flow, '1');
    let told = flow.end(MoveEnd::Refused);
    assert_eq!(told, None);
    assert!(!flow.is_open());
}

#[test]
fn what_comes_too_late_or_as_a_paste_changes_nothing() {
    let mut flow = asking();
    assert_eq!(flow.end(MoveEnd::Done), None);
    flow.set_text("x");
    assert_eq!(flow.update(&Input::Paste("5".into())), None);
    act(&mut flow, Action::SelectCancel);
    assert_eq!(press(&mut flow, '1'), None);
}

/// The name of a state, and how it comes about.
type State = (&'static str, fn(&mut SummaryFlow));

#[test]
fn every_stage_at_every_size() {
    let stages: [State; 7] = [
        ("asked", |_| {}),
        ("remembered", |flow| {
            act(flow, Action::SummaryRemember);
        }),
        ("focus", |flow| {
            press(flow, '3');
            type_text(flow, "what the parser does with blanks");
        }),
        ("note", |flow| {
            press(flow, '4');
            type_text(flow, "too slow");
        }),
        ("label", |flow| {
            act(flow, Action::SummaryLabel);
            type_text(flow, "channels");
        }),
        ("running", |flow| {
            press(flow, '2');
        }),
        ("failed", |flow| {
            press(flow, '2');
            flow.end(MoveEnd::Failed("no key for haiku: set ANTHROPIC_API_KEY".into()));
        }),
    ];
    for (name, steps) in stages {
        let shown = screen::at_all_sizes(|width, height| {
            let mut flow = asking();
            steps(&mut flow);
            let height = flow.height().min(height);
            shown(&mut flow, width, height)
        });
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn figures_come_from_what_is_left() {
    let output = "all tests pass ".repeat(100);
    let session = Session::from_bytes(session_text(&format!(
        "a user hello
         b<a assistant hi
         c<b user try A
         d<c call bash
         e<d tool bash {output}
         f<e assistant tried A",
    )))
    .unwrap();
    let plan = session.plan_navigation("b").unwrap();
    let summary = session
        .plan_branch_summary(session_tree::Position::Leaf, "b", &BranchSummarySettings::default())
        .unwrap();
    let left = LeftBranch::of(&session, &plan, &summary, None).unwrap().unwrap();
    assert_eq!((left.branch.as_str(), left.turns, left.tool_calls), ("hello", 1, 1));
    assert!(left.tokens > 300, "results of tools are counted: {}", left.tokens);
    let back = session.plan_navigation("f").unwrap();
    let nothing = session
        .plan_branch_summary(session_tree::Position::Leaf, "f", &BranchSummarySettings::default())
        .unwrap();
    assert_eq!(LeftBranch::of(&session, &back, &nothing, None).unwrap(), None);
}
