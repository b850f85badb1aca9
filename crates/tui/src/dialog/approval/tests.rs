//! The question whether a tool call may run.

use super::*;
use crate::keys::Action;
use crate::screen;

fn approval() -> Approval {
    let mut diff: String = (1..=9).map(|n| format!(" {n:>2} line {n}\n")).collect();
    diff.push_str(
        "-10     let old = true;\n+10     let new = false;\n+11     // the last line of the change",
    );
    let answers = vec![
        Item::new("Yes", "this time"),
        Item::new("Always", "write(src/**), until you leave"),
        Item::new("No", ""),
    ];
    let no = Item::new("No, and", "tell the model why");
    Approval::new("May edit do this?", "it changes /project/src/main.rs", &diff, answers, no)
}

#[test]
fn a_change_is_shown_in_full_at_every_size() {
    for (columns, rows) in screen::SIZES {
        let mut approval = approval();
        let height = approval.height(columns).min(rows);
        let mut shown = || {
            let text = screen::text(columns, height, |area, buf| {
                approval.draw(Theme::dark(), &Keymap::default(), area, buf);
            });
            assert_eq!(approval.update(&Input::Action(Action::SelectPageDown)), None);
            text
        };
        let first = shown();
        assert!(first.contains("1 Yes") && first.contains("it changes /project"), "{first}");
        let pages: String = std::iter::repeat_with(shown).take(12).collect::<String>() + &first;
        for line in ["  -10     let old = true;", "+10     let new = false;", "the last line of the change"] {
            assert!(pages.contains(line), "{columns}x{rows}: {line}: {pages}");
        }
    }
}

#[test]
fn screens_of_a_change() {
    let screens = screen::at_all_sizes(|columns, rows| {
        let mut approval = approval();
        let height = approval.height(columns).min(rows);
        screen::text(columns, height, |area, buf| {
            approval.draw(Theme::dark(), &Keymap::default(), area, buf);
        })
    });
    insta::assert_snapshot!("approval", screens);
}

#[test]
fn a_no_can_carry_a_reason() {
    let mut approval = approval();
    assert_eq!(approval.update(&Input::Char('4')), None);
    let reason = screen::text(40, approval.height(40), |area, buf| {
        approval.draw(Theme::dark(), &Keymap::default(), area, buf);
    });
    assert!(reason.contains("Tell the model why"), "{reason}");
    assert_eq!(approval.update(&Input::Action(Action::SelectCancel)), None, "Esc goes back to the question");
    approval.update(&Input::Char('4'));
    for c in "use 2 spaces".chars() {
        assert_eq!(approval.update(&Input::Char(c)), None);
    }
    let decided = approval.update(&Input::Action(Action::SelectConfirm));
    let expected = Decided { answer: 3, reason: "use 2 spaces".to_owned() };
    assert_eq!(decided, Some(Answer::Given(expected)));
}

#[test]
fn other_answers_need_no_reason() {
    let expected = Decided { answer: 0, reason: String::new() };
    assert_eq!(approval().update(&Input::Char('1')), Some(Answer::Given(expected)));
    assert_eq!(approval().update(&Input::Action(Action::SelectCancel)), Some(Answer::Cancelled));
}
