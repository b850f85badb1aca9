//! A question that opens by itself.

use super::*;
use crate::screen;

#[test]
fn a_key_answers_only_after_half_a_second_without_one() {
    let at = Duration::from_millis;
    let mut unasked = Unasked::new(at(1_000));
    assert!(!unasked.is_over(at(1_499)) && !unasked.takes_key(at(1_499)));
    assert!(!unasked.takes_key(at(1_998)) && !unasked.is_over(at(2_497)));
    assert!(unasked.is_over(at(2_498)) && unasked.takes_key(at(2_498)) && unasked.takes_key(at(2_499)));
}

#[test]
fn until_then_the_keys_are_not_offered() {
    let shown = screen::text(60, 3, |area, buf| {
        let unasked = Unasked::new(Duration::ZERO);
        paint::line(&Line::raw(" Enter choose"), Rect { y: 2, height: 1, ..area }, buf);
        unasked.draw(Theme::dark(), &Keymap::default(), area, buf);
    });
    assert_eq!(shown, "\n\n Esc back                           keys answer in a moment\n");
}
