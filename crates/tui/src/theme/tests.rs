//! Roles and colours.

use super::*;

#[test]
fn a_light_background_gets_the_light_theme() {
    assert_eq!(Theme::for_background(255, 250, 240), Theme::light());
    assert_eq!(Theme::for_background(30, 30, 46), Theme::dark());
    assert_eq!(Theme::for_colorfgbg("0;15"), Some(Theme::light()));
    assert_eq!(Theme::for_colorfgbg("15;default;0"), Some(Theme::dark()));
    assert_eq!(Theme::for_colorfgbg("default"), None);
}

#[test]
fn the_plain_theme_has_no_colour_in_any_role() {
    for role in [Role::Accent, Role::Error, Role::Selection, Role::Match, Role::CustomMessage, Role::Dim] {
        let style = Theme::plain().style(role);
        assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
    }
}

#[test]
fn messages_of_extensions_are_purple() {
    let theme = Theme::dark();
    assert_eq!(theme.style(Role::CustomMessage).bg, Some(Color::Indexed(53)));
    assert_eq!(theme.style(Role::CustomText).fg, Some(Color::Indexed(183)));
}
