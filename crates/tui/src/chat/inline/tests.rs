use super::*;

/// A terminal of 20 columns and 8 rows, with the frames that were written to it.
struct Screen {
    inline: Inline,
    terminal: vt100::Parser,
}

const EDITOR: &[&str] = &["> ", "foot"];

fn lines(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("line {n}")).collect()
}

impl Screen {
    fn new() -> Self {
        Screen { inline: Inline::default(), terminal: vt100::Parser::new(8, 20, 4_000) }
    }

    fn frame(&mut self, printed: &[&str], live: &[&str]) -> String {
        let (rows, columns) = self.terminal.screen().size();
        let printed: Vec<Line<'static>> = printed.iter().map(|text| Line::raw((*text).to_owned())).collect();
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, live.len() as u16));
        for (y, text) in live.iter().enumerate() {
            buffer.set_string(0, y as u16, text, Style::new());
        }
        let bytes = self.inline.frame(&printed, &buffer, Some(Position::new(2, 0)), rows);
        self.terminal.process(bytes.as_bytes());
        bytes
    }

    /// Prints numbered lines below a live part of two rows.
    fn talk(&mut self, lines: std::ops::Range<usize>) {
        for n in lines {
            self.frame(&[&format!("line {n}")], EDITOR);
        }
    }

    /// A live part of this many rows.
    fn view(&mut self, rows: usize) {
        let view: Vec<String> = (0..rows).map(|n| format!("view {n}")).collect();
        self.frame(&[], &view.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The rows above the screen, oldest first.
    fn scrollback(&mut self) -> Vec<String> {
        let height = usize::from(self.terminal.screen().size().0);
        let mut rows = Vec::new();
        self.terminal.screen_mut().set_scrollback(usize::MAX);
        let mut above = self.terminal.screen().scrollback();
        while above > 0 {
            self.terminal.screen_mut().set_scrollback(above);
            rows.extend(self.shown().lines().take(above.min(height)).map(str::to_owned));
            above = above.saturating_sub(height);
        }
        self.terminal.screen_mut().set_scrollback(0);
        rows
    }

    /// Makes the screen lower as most terminals do: rows below the cursor go, then rows at the top move up.
    fn lower(&mut self, by: u16) {
        let (rows, columns) = self.terminal.screen().size();
        let below = rows - 1 - self.terminal.screen().cursor_position().0;
        let moved = by.saturating_sub(below);
        let bytes = format!("\x1b[{rows};1H{}", "\n".repeat(moved.into()));
        self.terminal.process(bytes.as_bytes());
        self.resize(columns, rows - by);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.screen_mut().set_size(rows, columns);
        self.inline.resized(columns);
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
    let line = Line::raw("hi").style(Style::new().bg(Color::Indexed(1)));
    let row = line_row(&line, 20);
    assert_eq!(row.bytes, "\x1b[0;41mhi\x1b[K\x1b[0m");
    assert_eq!(row.columns, 2);
}

#[test]
fn no_control_character_of_a_cell_is_written() {
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

#[test]
fn closing_a_view_shows_the_last_screenful_again() {
    for height in 3..=8 {
        let mut screen = Screen::new();
        screen.talk(0..30);
        screen.view(height);
        screen.frame(&[], EDITOR);
        assert_eq!(
            screen.shown(),
            format!("{}\n>\nfoot", lines(24..30).join("\n")),
            "a view of {height} rows"
        );
        assert_eq!(screen.terminal.screen().cursor_position(), (6, 2));
    }
}

#[test]
fn whatever_opens_and_closes_each_row_is_in_the_scrollback_once_and_in_order() {
    // Any fixed sequence of steps that looks like none.
    let mut seed = 1_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    let mut screen = Screen::new();
    let mut said = 0;
    for step in 0..400 {
        let view = if next(3) == 0 { 2 } else { 2 + next(7) as usize };
        let new: Vec<String> = lines(said..said + next(4) as usize * (next(12) as usize / 4));
        said += new.len();
        let live: Vec<String> = (0..view).map(|n| format!("view {n}")).collect();
        let texts = |rows: &[String]| rows.to_vec();
        let (new, live) = (texts(&new), texts(&live));
        screen.frame(
            &new.iter().map(String::as_str).collect::<Vec<_>>(),
            &live.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let shown = screen.shown();
        let shown: Vec<&str> = shown.lines().collect();
        let above = shown.len() - view;
        assert_eq!(shown[above..], live, "step {step}");
        assert_eq!(shown[..above], lines(said - above..said), "step {step}");
        let scrollback = screen.scrollback();
        assert_eq!(scrollback, lines(0..scrollback.len()), "step {step}");
        assert!(scrollback.len() + above >= said, "step {step}: {} of {said}", scrollback.len());
        if said > 20 {
            assert_eq!(shown.len(), 8, "no part of the screen stays empty, step {step}");
        }
    }
    assert!(said > 100);
}

#[test]
fn a_short_conversation_is_not_shown_twice() {
    let mut screen = Screen::new();
    screen.talk(0..3);
    screen.view(4);
    screen.frame(&[], EDITOR);
    assert_eq!(screen.shown(), "line 0\nline 1\nline 2\n>\nfoot");
    screen.view(8);
    screen.frame(&[], EDITOR);
    assert_eq!(screen.shown(), "line 0\nline 1\nline 2\n>\nfoot");
    screen.talk(3..9);
    assert_eq!(screen.shown(), format!("{}\n>\nfoot", lines(3..9).join("\n")));
    assert_eq!(screen.scrollback(), lines(0..3));
}

#[test]
fn after_a_change_of_size_closing_a_view_fills_the_screen_too() {
    for (columns, rows) in [(20, 5), (20, 12), (6, 8), (40, 8), (6, 12)] {
        for is_open in [true, false] {
            let mut screen = Screen::new();
            screen.talk(0..30);
            screen.view(7);
            if !is_open {
                screen.frame(&[], EDITOR);
            }
            screen.resize(columns, rows);
            screen.view(usize::from(rows.min(7)));
            screen.frame(&[], EDITOR);
            let shown = screen.shown();
            let before = lines(0..30).join("\n").replace(' ', if columns < 7 { "\n" } else { " " });
            let wanted: Vec<&str> = before.lines().rev().take(usize::from(rows) - 2).collect();
            let wanted = wanted.into_iter().rev().collect::<Vec<_>>().join("\n");
            assert_eq!(shown, format!("{wanted}\n>\nfoot"), "{columns}x{rows}, open: {is_open}");
        }
    }
}

#[test]
fn a_lower_screen_repeats_no_row_that_was_not_repeated_before() {
    for by in 1..=4 {
        // After two more rows one is repeated, after three none, and the region flows again.
        for said in [0, 2, 3] {
            let mut screen = Screen::new();
            screen.talk(0..30);
            screen.view(5);
            screen.frame(&[], EDITOR);
            let repeated = 3_usize.saturating_sub(said);
            screen.talk(30..30 + said);
            screen.lower(by);
            screen.frame(&[], EDITOR);
            screen.talk(40..60);
            let mut all = screen.scrollback();
            all.extend(screen.shown().lines().map(str::to_owned));
            let wanted: Vec<String> = lines(0..30 + said).into_iter().chain(lines(40..60)).collect();
            assert!(wanted.iter().all(|line| all.contains(line)), "{by}, {said}: {all:?}");
            let surplus = all.len() - wanted.len() - EDITOR.len();
            assert!(surplus <= repeated.min(usize::from(by)), "{by}, {said}: {all:?}");
        }
    }
}

#[test]
fn rows_of_others_are_never_drawn_over() {
    let mut screen = Screen::new();
    screen.terminal.process(b"$ offshoot\r\n");
    screen.resize(20, 8);
    screen.frame(&["line 0"], EDITOR);
    assert_eq!(screen.shown(), "$ offshoot\nline 0\n>\nfoot");
    let bytes = screen.inline.leave();
    screen.terminal.process(bytes.as_bytes());
    screen.terminal.process(b"$ fg\r\n");
    screen.inline.forget();
    screen.resize(20, 8);
    screen.frame(&[], EDITOR);
    assert_eq!(screen.shown(), "$ offshoot\nline 0\n$ fg\n>\nfoot");
}

#[test]
fn nothing_is_erased_from_the_first_row_on() {
    // tmux copies the screen into its scrollback then.
    let mut screen = Screen::new();
    screen.talk(0..30);
    screen.view(8);
    let view: Vec<String> = (0..8).map(|n| format!("other {n}")).collect();
    let bytes = screen.frame(&["said"], &view.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!bytes.contains("\x1b[H\x1b[J") && !bytes.contains("A\r\x1b[J"), "{bytes:?}");
    let bytes = screen.inline.leave();
    assert!(!bytes.contains("\r\x1b[J\x1b[") && !bytes.contains("H\x1b[J"), "{bytes:?}");
}

#[test]
fn leaving_after_a_view_was_closed_keeps_the_conversation_on_the_screen() {
    let mut screen = Screen::new();
    screen.talk(0..30);
    screen.view(8);
    screen.frame(&[], EDITOR);
    let bytes = screen.inline.leave();
    screen.terminal.process(bytes.as_bytes());
    assert_eq!(screen.shown().trim_end(), lines(24..30).join("\n"));
    assert_eq!(screen.terminal.screen().cursor_position(), (6, 0));
}
