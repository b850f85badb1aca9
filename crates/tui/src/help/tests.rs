//! The overlay of keys.

use super::*;
use crate::screen;

#[test]
fn the_way_up_begins_where_the_way_down_ended() {
    let groups: &[Group] = &[("All", Action::ALL)];
    let mut help = Help::default();
    let mut press = |action| {
        assert!(!help.update(&Input::Action(action)));
        screen::text(60, 12, |area, buf| {
            help.draw(Theme::plain(), &Keymap::default(), "Keys", groups, area, buf);
        })
    };
    let end = (0..100).map(|_| press(Action::SelectPageDown)).last();
    assert_ne!(Some(press(Action::SelectUp)), end);
}
