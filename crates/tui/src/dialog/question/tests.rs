//! A question at several sizes.

use super::*;
use crate::screen;

fn question() -> Question {
    let answers = vec![
        Item::new("Yes", "this time"),
        Item::new("Always", "bash(cargo *) in this session"),
        Item::new("No", "tell the model"),
    ];
    Question::new("May bash run this?", "cargo build --release", answers)
}

#[test]
fn a_permission_shows_what_would_happen() {
    for (columns, rows) in screen::SIZES {
        let mut question = question();
        let height = question.height(columns).min(rows);
        let shown = screen::text(columns, height, |area, buf| {
            question.draw(Theme::dark(), &Keymap::default(), area, buf);
        });
        insta::assert_snapshot!(format!("permission_{columns}x{rows}"), shown);
    }
}

#[test]
fn a_digit_answers_and_a_paste_does_not() {
    assert_eq!(question().update(&Input::Char('2')), Some(Answer::Given(1)));
    assert_eq!(question().update(&Input::Paste("1".into())), None);
}

#[test]
fn all_of_what_is_asked_about_can_be_seen_and_a_row_says_what_is_missing() {
    let mut command: Vec<String> = (1..30).map(|n| format!("echo {n}")).collect();
    command.push("rm -rf ~".to_owned());
    for (columns, rows) in screen::SIZES {
        for rows in [rows, 6, 5] {
            let mut question = question();
            question.about = command.join("\n");
            let height = question.height(columns).min(rows);
            let mut shown = || {
                let shown = screen::text(columns, height, |area, buf| {
                    question.draw(Theme::dark(), &Keymap::default(), area, buf);
                });
                assert_eq!(question.update(&Input::Action(Action::SelectPageDown)), None);
                shown
            };
            let first = shown();
            assert!(first.contains("  echo 1\n") && first.contains("more rows below · PgDn"), "{first}");
            assert!(first.contains("1 Yes") && !first.contains("rm -rf"), "{first}");
            let pages: String = std::iter::repeat_with(shown).take(40).collect();
            assert!(command.iter().all(|line| (first.clone() + &pages).contains(&format!("  {line}\n"))));
        }
    }
}

#[test]
fn page_keys_move_the_cursor_where_nothing_is_missing() {
    let mut question = question();
    screen::text(80, 24, |area, buf| question.draw(Theme::dark(), &Keymap::default(), area, buf));
    assert_eq!(question.update(&Input::Action(Action::SelectPageDown)), None);
    assert_eq!(question.update(&Input::Action(Action::SelectConfirm)), Some(Answer::Given(2)));
}
