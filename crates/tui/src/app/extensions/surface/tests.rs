use crate::ansi;

use super::*;

fn status(key: &str, text: Option<&str>) -> Notice {
    Notice::Status { key: key.to_owned(), text: text.map(str::to_owned) }
}

fn take(surface: &mut ExtensionRows, notice: Notice) {
    surface.take(notice, |_| unreachable!("no component is shown"));
}

fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| &*span.content).collect()
}

#[test]
fn statuses_stand_in_one_line_in_the_order_of_their_keys() {
    let mut surface = ExtensionRows::new(false);
    take(&mut surface, status("b", Some("two\nlines \x1b[31mred\x1b[2J")));
    take(&mut surface, status("a", Some("first")));
    assert_eq!(surface.extras().status.map(|line| text(&line)).unwrap(), "first  two lines red");
    take(&mut surface, status("a", None));
    take(&mut surface, status("b", None));
    assert_eq!(surface.extras(), Extras::default());
}

#[test]
fn a_widget_has_one_place() {
    let mut surface = ExtensionRows::new(true);
    let widget = |below| Notice::Widget {
        key: "k".to_owned(),
        lines: Some(vec!["row".to_owned()]),
        component: None,
        below,
    };
    take(&mut surface, widget(false));
    take(&mut surface, widget(true));
    let extras = surface.extras();
    assert_eq!((extras.above.len(), extras.below.len()), (0, 1));
    assert_eq!(ansi::line("row"), extras.below[0]);
}
