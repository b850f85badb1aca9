//! Roles and colours.

use super::*;

#[test]
fn a_light_background_gets_the_light_theme() {
    assert!(Theme::for_background(255, 250, 240).is_light());
    assert!(!Theme::for_background(30, 30, 46).is_light());
    assert!(Theme::for_colorfgbg("0;15").is_some_and(Theme::is_light));
    assert!(Theme::for_colorfgbg("15;default;0").is_some_and(|theme| !theme.is_light()));
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
