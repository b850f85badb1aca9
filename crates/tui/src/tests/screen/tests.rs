//! Screens as text.

use super::*;

#[test]
fn wide_letters_take_two_columns_and_are_written_once() {
    let shown = text(6, 1, |_, buffer| {
        buffer.set_string(0, 0, "漢a字", Style::new());
    });
    assert_eq!(shown, "漢a字\n");
}
