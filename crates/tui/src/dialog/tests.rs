//! Dialogs without a terminal: what is answered, and how they look.

use super::*;
use crate::keys::Input;
use crate::screen;

fn draw(width: u16, height: u16, paint: impl FnOnce(Theme, &Keymap, Rect, &mut Buffer)) -> String {
    screen::text(width, height, |area, buf| paint(Theme::plain(), &Keymap::default(), area, buf))
}

fn fruit() -> Vec<Item> {
    vec![Item::new("apple", "red"), Item::new("banana", "yellow"), Item::new("cherry", "red, small")]
}

fn type_into(text: &str, mut take: impl FnMut(&Input)) {
    text.chars().for_each(|c| take(&Input::Char(c)));
}

fn review(kind: ReviewKind, text: ReviewText) -> Review {
    Review::new(kind, Vec::new(), Vec::new(), text)
}

fn merge() -> Review {
    let text = "## Goal\nUse channels.\n\n## Conflicts with the current branch\nConcurrency model.";
    let facts = vec!["6 entries · summary · about 640 tokens".into()];
    let warnings = vec!["changed on both branches: main.go".into()];
    Review::new(ReviewKind::Merge, facts, warnings, ReviewText::Ready(text.into()))
}

#[test]
fn a_short_list_is_chosen_from_by_number_or_cursor() {
    let mut list = SelectList::new("Which fruit?", fruit());
    assert_eq!(list.update(&Input::Char('3')), Some(Answer::Given(2)));
    assert_eq!(list.update(&Input::Char('7')), None);
    assert_eq!(list.update(&Input::Action(Action::SelectDown)), None);
    assert_eq!(list.update(&Input::Action(Action::SelectConfirm)), Some(Answer::Given(0)));
    assert_eq!(list.update(&Input::Action(Action::SelectCancel)), Some(Answer::Cancelled));
    insta::assert_snapshot!(draw(40, 6, |t, k, a, b| list.draw(t, k, a, b)), @"
    ── Which fruit? ────────────────────────
    › 1 apple   red
      2 banana  yellow
      3 cherry  red, small

     Enter choose · Esc back · ↓ move
    ");
}

#[test]
fn a_long_list_is_searched_and_escape_clears_the_search_first() {
    let mut list = SelectList::searchable("Which fruit?", fruit());
    type_into("red", |input| assert_eq!(list.update(input), None));
    insta::assert_snapshot!(draw(40, 6, |t, k, a, b| list.draw(t, k, a, b)), @"
    ── Which fruit? ────────────────────────
     ⌕ red▏
    › apple   red
      cherry  red, small

     Enter choose · Esc back · ↓ move
    ");
    list.update(&Input::Action(Action::SelectDown));
    assert_eq!(list.update(&Input::Action(Action::SelectConfirm)), Some(Answer::Given(2)));
    type_into("zz", |input| assert_eq!(list.update(input), None));
    assert_eq!(list.update(&Input::Action(Action::SelectConfirm)), None);
    assert!(draw(40, 6, |t, k, a, b| list.draw(t, k, a, b)).contains("nothing found"));
    assert_eq!(list.update(&Input::Action(Action::SelectCancel)), None);
    assert_eq!(list.update(&Input::Action(Action::SelectCancel)), Some(Answer::Cancelled));
}

#[test]
fn one_backspace_takes_one_letter_however_many_parts_it_has() {
    for letter in ["a", "漢", "e\u{301}", "👩\u{200d}👧", "🇩🇪"] {
        let mut prompt = Prompt::new("Name", &format!("x{letter}"));
        prompt.update(&Input::Action(Action::DeleteBackward));
        assert_eq!(prompt.text(), "x");
    }
}

#[test]
fn pasted_lines_become_one_and_escape_codes_lose_their_teeth() {
    let mut prompt = Prompt::new("Name", "");
    prompt.update(&Input::Paste("a\r\nb\x1b[2J".into()));
    assert_eq!(prompt.text(), "a b[2J");
    prompt.update(&Input::Paste("x".repeat(5_000)));
    assert_eq!(prompt.text(), "a b[2J");
}

#[test]
fn a_long_line_shows_the_place_of_the_cursor() {
    let mut prompt = Prompt::new("Name", "0123456789abc漢字");
    let shown = draw(12, 3, |t, k, a, b| prompt.draw(t, k, a, b));
    assert!(shown.contains("漢字"), "{shown}");
}

#[test]
fn a_line_is_trimmed() {
    let mut prompt = Prompt::new("Rename session", "old");
    type_into(" name ", |input| assert_eq!(prompt.update(input), None));
    insta::assert_snapshot!(draw(40, 3, |t, k, a, b| prompt.draw(t, k, a, b)), @"
    ── Rename session ──────────────────────
     › old name
     Enter save · Esc back
    ");
    assert_eq!(prompt.update(&Input::Action(Action::SelectConfirm)), Some(Answer::Given("old name".into())));
}

#[test]
fn a_text_has_many_lines() {
    let mut dialog = TextDialog::new("Summarize, focus on", "what matters", "");
    assert!(draw(40, 6, |t, k, a, b| dialog.draw(t, k, a, b)).contains("what matters"));
    type_into("one", |input| assert_eq!(dialog.update(input), None));
    dialog.update(&Input::Action(Action::NewLine));
    type_into("two", |input| assert_eq!(dialog.update(input), None));
    insta::assert_snapshot!(draw(40, 6, |t, k, a, b| dialog.draw(t, k, a, b)), @"
    ── Summarize, focus on ─────────────────
     one
     two


     Enter done · Esc back
    ");
    assert_eq!(
        dialog.update(&Input::Action(Action::ExternalEditor)),
        Some(Typed::External("one\ntwo".into()))
    );
    assert_eq!(
        dialog.update(&Input::Action(Action::SelectCancel)),
        Some(Typed::Cancelled("one\ntwo".into()))
    );
    assert_eq!(dialog.update(&Input::Action(Action::Submit)), Some(Typed::Done("one\ntwo".into())));
}

#[test]
fn a_merge_is_reviewed_edited_and_applied() {
    let mut review = merge();
    insta::assert_snapshot!(draw(80, 14, |t, k, a, b| review.draw(t, k, 0, a, b)), @"
    ── Merge into this branch ──────────────────────────────────────────────────────
     6 entries · summary · about 640 tokens
     ⚠ changed on both branches: main.go
    ── text that will enter the context ────────────────────────────────────────────
     ## Goal
     Use channels.

     ## Conflicts with the current branch
     Concurrency model.




     Enter merge · e edit · m mode · f focus · d full diff · Esc cancel
    ");
    assert_eq!(review.update(&Input::Action(Action::ReviewEdit)), None);
    type_into("!", |input| assert_eq!(review.update(input), None));
    assert_eq!(review.update(&Input::Action(Action::Submit)), None);
    assert!(draw(80, 14, |t, k, a, b| review.draw(t, k, 0, a, b)).contains("(edited)"));
    let Some(Reviewed::Apply(Some(text))) = review.update(&Input::Action(Action::SelectConfirm)) else {
        panic!("not applied")
    };
    assert!(text.ends_with("Concurrency model.!"), "{text}");
}

#[test]
fn a_merge_can_get_another_mode_and_a_focus() {
    let mut review = merge();
    assert_eq!(review.update(&Input::Action(Action::SelectConfirm)), Some(Reviewed::Apply(None)));
    assert_eq!(review.update(&Input::Action(Action::ReviewMode)), Some(Reviewed::NextMode));
    assert_eq!(review.update(&Input::Action(Action::ReviewDiff)), Some(Reviewed::FullDiff));
    assert_eq!(review.update(&Input::Action(Action::ReviewFocus)), None);
    type_into("tests", |input| assert_eq!(review.update(input), None));
    assert_eq!(review.update(&Input::Action(Action::SelectConfirm)), Some(Reviewed::Focus("tests".into())));
    assert_eq!(review.update(&Input::Action(Action::SelectCancel)), Some(Reviewed::Cancel));
}

#[test]
fn nothing_is_applied_before_there_is_a_text() {
    let mut waiting = review(ReviewKind::Merge, ReviewText::Waiting);
    assert_eq!(waiting.update(&Input::Action(Action::SelectConfirm)), None);
    assert_eq!(waiting.update(&Input::Action(Action::ReviewEdit)), None);
    assert_eq!(waiting.update(&Input::Action(Action::ReviewMode)), None);
    assert!(draw(40, 6, |t, k, a, b| waiting.draw(t, k, 3, a, b)).contains("⠸ the model is writing"));
    let mut failed = review(ReviewKind::Merge, ReviewText::Failed("no key".into()));
    assert_eq!(failed.update(&Input::Action(Action::SelectConfirm)), None);
    assert!(draw(40, 6, |t, k, a, b| failed.draw(t, k, 3, a, b)).contains("no key"));
    assert_eq!(failed.update(&Input::Action(Action::ReviewMode)), Some(Reviewed::NextMode));
}

fn key(c: char) -> crossterm::event::Event {
    let (code, modifiers) = (crossterm::event::KeyCode::Char(c), crossterm::event::KeyModifiers::NONE);
    crossterm::event::Event::Key(crossterm::event::KeyEvent::new(code, modifiers))
}

#[test]
fn every_key_below_a_merge_works() {
    let merge = merge();
    let input = |c: char| merge.input(&Keymap::default(), &key(c));
    assert_eq!(input('d'), Some(Input::Action(Action::ReviewDiff)));
    assert_eq!(input('f'), Some(Input::Action(Action::ReviewFocus)));
    assert_eq!(input('m'), Some(Input::Action(Action::ReviewMode)));
    assert_eq!(input('e'), Some(Input::Action(Action::ReviewEdit)));
    let pick = pick();
    assert_ne!(pick.input(&Keymap::default(), &key('d')), Some(Input::Action(Action::ReviewDiff)));
}

#[test]
fn a_pick_has_neither_focus_nor_difference() {
    let mut review = review(ReviewKind::Pick, ReviewText::Ready("x".into()));
    assert_eq!(review.update(&Input::Action(Action::ReviewFocus)), None);
    assert_eq!(review.update(&Input::Action(Action::ReviewDiff)), None);
    assert_eq!(review.update(&Input::Action(Action::SelectConfirm)), Some(Reviewed::Apply(None)));
    insta::assert_snapshot!(draw(60, 6, |t, k, a, b| review.draw(t, k, 0, a, b)), @"
    ── Copy here ───────────────────────────────────────────────
    ── text that will enter the context ────────────────────────
     x


     Enter pick · e edit · m mode · Esc cancel
    ");
}

fn pick() -> Review {
    let text = "Copied from branch No, channels, entry a1b2, 2025-01-01. File changes mentioned here were not applied \
                on this branch unless noted.\n\nUse a channel per worker.";
    let facts = vec!["1 entry · quote · about 120 tokens".into()];
    Review::new(ReviewKind::Pick, facts, Vec::new(), ReviewText::Ready(text.into()))
}

/// The name of a state, and how it comes about.
type State = (&'static str, fn() -> Review);

#[test]
fn every_state_of_a_review_at_every_size() {
    let states: [State; 6] = [
        ("merge", merge),
        ("merge_waiting", || review(ReviewKind::Merge, ReviewText::Waiting)),
        ("merge_failed", || {
            let reason = "no key for haiku: set ANTHROPIC_API_KEY, or choose another model with /model";
            review(ReviewKind::Merge, ReviewText::Failed(reason.into()))
        }),
        ("merge_edited", || {
            let mut review = merge();
            review.update(&Input::Action(Action::ReviewEdit));
            review
        }),
        ("merge_focus", || {
            let mut review = merge();
            review.update(&Input::Action(Action::ReviewFocus));
            review
        }),
        ("pick", pick),
    ];
    for (name, made) in states {
        let shown = screen::at_all_sizes(|width, height| {
            draw(width, height.min(16), |t, k, a, b| made().draw(t, k, 0, a, b))
        });
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn every_small_dialog_at_every_size() {
    let models = || {
        vec![
            Item::new("anthropic/claude-sonnet-4-5", "200k context, thinks, sees images"),
            Item::new("openai/gpt-5-codex", "400k context"),
            Item::new("offshoot/offline", "answers without a network"),
        ]
    };
    let shown = screen::at_all_sizes(|width, height| {
        let height = height.min(8);
        let searched = draw(width, height, |t, k, a, b| {
            SelectList::searchable("Which model?", models()).draw(t, k, a, b);
        });
        let prompt = draw(width, 3, |t, k, a, b| Prompt::new("Rename session", "Greeter").draw(t, k, a, b));
        format!("{searched}{prompt}")
    });
    insta::assert_snapshot!("small", shown);
}
