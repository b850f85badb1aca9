//! Lines on a screen.

use super::*;

#[test]
fn the_keys_to_leave_are_shown_on_any_width() {
    let keys = [
        (Action::SelectConfirm, "merge"),
        (Action::ReviewEdit, "edit"),
        (Action::ReviewMode, "mode"),
        (Action::SelectCancel, "cancel"),
    ];
    let line = |columns| keys_line(Theme::plain(), &Keymap::default(), &keys, columns).to_string();
    assert_eq!(line(80), " Enter merge · e edit · m mode · Esc cancel");
    assert_eq!(line(43), " Enter merge · e edit · m mode · Esc cancel");
    assert_eq!(line(42), " Enter merge · e edit · Esc cancel");
    assert_eq!(line(30), " Enter merge · Esc cancel");
    assert_eq!(line(20), " Esc cancel");
    assert_eq!(line(5), " ");
}

#[test]
fn plain_text_and_any_other_are_written_the_same_way() {
    let area = Rect::new(1, 0, 6, 1);
    for text in [
        "hello",
        "hello world",
        "h漢llo world",
        "",
        "é",
        "e\u{301}e\u{301}e",
        "│ ├─ e\u{301}",
        "├─ • hello",
        "漢字漢字漢字",
    ] {
        let style = Style::new().bold();
        let spans = Line::from(vec![Span::styled(text, style), Span::raw("!?")]);
        let (mut ours, mut theirs) =
            (Buffer::empty(Rect::new(0, 0, 9, 2)), Buffer::empty(Rect::new(0, 0, 9, 2)));
        line(&spans, area, &mut ours);
        theirs.set_line(area.x, area.y, &spans, area.width);
        assert_eq!(ours, theirs, "{text}");
        wipe(Rect::new(0, 0, 50, 50), &mut ours);
        assert_eq!(ours, Buffer::empty(ours.area));
    }
}

#[test]
fn a_shortened_line_says_that_something_is_missing() {
    let line = || Line::from(vec![Span::raw("hello "), Span::raw("world")]);
    assert_eq!(shorten(line(), 11).to_string(), "hello world");
    assert_eq!(shorten(line(), 9).to_string(), "hello wo…");
    assert_eq!(shorten(line(), 6).to_string(), "hello…");
    assert_eq!(shorten(line(), 0).to_string(), "");
}
