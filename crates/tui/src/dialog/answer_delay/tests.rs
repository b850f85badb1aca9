//! A question that opens by itself.

use super::*;
use crate::screen;

#[test]
fn a_key_answers_only_after_half_a_second_without_one() {
    let at = Duration::from_millis;
    let mut answer_delay = AnswerDelay::new(at(1_000));
    assert!(!answer_delay.is_over(at(1_499)) && !answer_delay.takes_key(at(1_499)));
    assert!(!answer_delay.takes_key(at(1_998)) && !answer_delay.is_over(at(2_497)));
    assert!(
        answer_delay.is_over(at(2_498))
            && answer_delay.takes_key(at(2_498))
            && answer_delay.takes_key(at(2_499))
    );
}

#[test]
fn until_then_the_keys_are_not_offered() {
    let shown = screen::text(60, 3, |area, buf| {
        let answer_delay = AnswerDelay::new(Duration::ZERO);
        paint::line(&Line::raw(" Enter choose"), Rect { y: 2, height: 1, ..area }, buf);
        answer_delay.draw(Theme::dark(), &Keymap::default(), area, buf);
    });
    assert_eq!(shown, "\n\n Esc back                           keys answer in a moment\n");
}
