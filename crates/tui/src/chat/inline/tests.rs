use super::*;
use ratatui::style::Stylize;

/// A terminal of 20 columns and 8 rows, with the frames that were written to it.
struct Screen {
    inline: Inline,
    terminal: vt100::Parser,
}

impl Screen {
    fn new() -> Self {
        Screen { inline: Inline::default(), terminal: vt100::Parser::new(8, 20, 100) }
    }

    fn frame(&mut self, printed: &[&str], live: &[&str]) -> String {
        let columns = self.terminal.screen().size().1;
        let printed: Vec<Line<'_>> = printed.iter().map(|text| Line::raw(*text)).collect();
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, live.len() as u16));
        for (y, text) in live.iter().enumerate() {
            buffer.set_string(0, y as u16, text, Style::new());
        }
        let bytes = self.inline.frame(&printed, &buffer, Some(Position::new(2, 0)));
        self.terminal.process(bytes.as_bytes());
        bytes
    }

    fn shown(&self) -> String {
        self.terminal.screen().contents()
    }
}

#[test]
fn printed_rows_go_above_the_live_part() {
    let mut screen = Screen::new();
    screen.frame(&[], &["> one", "foot"]);
    screen.frame(&["said a", "said b"], &["> two", "foot"]);
    assert_eq!(screen.shown(), "said a\nsaid b\n> two\nfoot");
    assert_eq!(screen.terminal.screen().cursor_position(), (2, 2));
}

#[test]
fn a_live_part_that_shrinks_leaves_nothing_behind() {
    let mut screen = Screen::new();
    screen.frame(&["top"], &["1", "2", "3", "4"]);
    screen.frame(&[], &["a", "b"]);
    assert_eq!(screen.shown(), "top\na\nb");
    screen.frame(&[], &["a", "b", "c"]);
    assert_eq!(screen.shown(), "top\na\nb\nc");
}

#[test]
fn what_was_printed_stays_in_the_scrollback() {
    let mut screen = Screen::new();
    screen.frame(&[], &["> ", "foot"]);
    for n in 0..30 {
        screen.frame(&[&format!("line {n}")], &["> ", "foot"]);
    }
    assert_eq!(screen.shown(), "line 24\nline 25\nline 26\nline 27\nline 28\nline 29\n>\nfoot");
    screen.terminal.screen_mut().set_scrollback(24);
    assert!(screen.shown().starts_with("line 0\nline 1\n"), "{}", screen.shown());
}

#[test]
fn a_row_that_did_not_change_is_not_written_again() {
    let mut screen = Screen::new();
    screen.frame(&[], &["> hello", "the footer"]);
    let bytes = screen.frame(&[], &["> hello!", "the footer"]);
    assert!(bytes.contains("> hello!") && !bytes.contains("the footer"), "{bytes:?}");
}

#[test]
fn a_full_row_keeps_its_last_letter() {
    let mut screen = Screen::new();
    let full = "abcdefghijklmnopqrst";
    screen.frame(&[full], &[full, "x"]);
    assert_eq!(screen.shown(), format!("{full}\n{full}\nx"));
    screen.frame(&[], &[full]);
    assert_eq!(screen.shown(), format!("{full}\n{full}"));
}

#[test]
fn a_background_reaches_the_edge() {
    let line = Line::raw("hi").on_red();
    let row = line_row(&line, 20);
    assert_eq!(row.bytes, "\x1b[0;41mhi\x1b[K\x1b[0m");
    assert_eq!(row.columns, 2);
}

#[test]
fn whatever_stands_in_a_cell_no_control_character_is_written() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
    buffer[(0, 0)].set_symbol("\x1b[2J");
    assert_eq!(buffer_row(&buffer, 0).bytes, "[2J");
    let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
    buffer[(0, 0)].set_symbol("x\u{202e}");
    assert_eq!(buffer_row(&buffer, 0).bytes, "x");
}

#[test]
fn leaving_wipes_the_live_part_only() {
    let mut screen = Screen::new();
    screen.frame(&["said"], &["> ", "foot"]);
    let bytes = screen.inline.leave();
    screen.terminal.process(bytes.as_bytes());
    assert_eq!(screen.shown().trim_end(), "said");
}
