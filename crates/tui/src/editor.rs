//! The editor of prompts: many lines, a history, and large pastes folded into a mark.
//!
//! Wraps a text area that edits code points; here Backspace, Delete and the arrows take whole letters.

mod history;
mod images;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use session_tree::Image;
use unicode_segmentation::UnicodeSegmentation;

use crate::keys::{Action, Input};
use crate::theme::{Role, Theme};
use history::History;
use images::Images;

/// A paste of more lines than this is folded into a mark.
const MOST_PASTED_LINES: usize = 10;
/// A paste of more bytes than this is folded into a mark.
const MOST_PASTED_BYTES: usize = 1_000;

/// The editor of prompts.
#[derive(Debug)]
pub struct Editor {
    area: TextArea<'static>,
    history: History,
    /// Pastes that are folded: the mark, and what it stands for.
    pastes: Vec<(String, String)>,
    images: Images,
    /// True while a text that was put here for the user to send again is untouched.
    is_restored: bool,
    /// How wide the text area knows to be.
    fitted: Option<u16>,
}

/// The most rows that are counted.
const MOST_ROWS: u16 = 200;

impl Default for Editor {
    fn default() -> Self {
        Editor {
            area: area(""),
            history: History::default(),
            pastes: Vec::new(),
            images: Images::default(),
            is_restored: false,
            fitted: None,
        }
    }
}

fn area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    // The terminal draws its own cursor.
    area.set_cursor_style(Style::new());
    area.set_max_histories(200);
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

impl Editor {
    /// Returns the text as it is shown, with folded pastes as marks.
    pub fn shown_text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Returns the text as it is sent, with pastes in full.
    pub fn text(&self) -> String {
        let mut text = self.shown_text();
        for (mark, paste) in &self.pastes {
            text = text.replace(mark, paste);
        }
        text
    }

    /// Returns true if the text is empty or blank.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Puts a text in place of what is there, with the cursor at its end.
    pub fn set_text(&mut self, text: &str) {
        self.is_restored = false;
        self.pastes.clear();
        self.replace(&without_controls(text));
        self.history.rest();
    }

    fn replace(&mut self, text: &str) {
        self.area = area(text);
        self.fitted = None;
    }

    /// Puts a text with images in place of what is there: marks that stand for images in the text stay in their places.
    pub fn set_text_with_images(&mut self, text: &str, images: Vec<Image>) {
        let text = self.images.put(text, images);
        self.set_text(&text);
        self.is_restored = true;
    }

    /// Attaches an image; a mark stands for it where the cursor is.
    pub fn attach(&mut self, image: Image) {
        let mark = self.images.add(image);
        self.area.insert_str(format!("{mark} "));
        self.history.rest();
    }

    /// Returns the images that marks in a text stand for, in their order.
    pub fn images_in(&self, text: &str) -> Vec<Image> {
        self.images.of(text)
    }

    /// Takes the text out and remembers it.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.history.add(&text);
        self.set_text("");
        text
    }

    /// Adds a text to the history without sending it.
    pub fn remember(&mut self, text: &str) {
        self.history.add(text);
    }

    /// Puts other texts in place of the history, oldest first.
    pub fn set_history(&mut self, texts: Vec<String>) {
        self.history = History::new(texts);
    }

    /// Returns the text before the cursor, of its line, and the number of that line.
    pub(crate) fn before_cursor(&self) -> (usize, String) {
        let cursor = self.area.cursor();
        let line = self.area.lines().get(cursor.0).map(String::as_str).unwrap_or_default();
        (cursor.0, line.chars().take(cursor.1).collect())
    }

    /// Puts a text in place of the last `letters` characters before the cursor.
    pub(crate) fn replace_before(&mut self, letters: usize, text: &str) {
        for _ in 0..letters {
            self.area.delete_char();
        }
        self.area.insert_str(without_controls(text));
    }

    /// Takes one input. Returns true if the text is submitted.
    pub fn update(&mut self, input: &Input) -> bool {
        if std::mem::take(&mut self.is_restored) && *input == Input::Char('/') && !self.is_blank() {
            // A command, not more of the text; the history keeps the text.
            self.take();
        }
        match input {
            Input::Char(c) => {
                if !c.is_control() {
                    self.area.insert_char(*c);
                }
                self.history.rest();
            }
            Input::Paste(text) => self.paste(text),
            Input::Action(Action::Submit) => return self.submit(),
            Input::Action(action) => self.act(*action),
        }
        false
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::NewLine => self.area.insert_newline(),
            Action::CursorUp => self.step(CursorMove::Up),
            Action::CursorDown => self.step(CursorMove::Down),
            Action::CursorLeft => {
                self.letter(self.letter_before(), |area| area.move_cursor(CursorMove::Back));
            }
            Action::CursorRight => {
                self.letter(self.letter_after(), |area| area.move_cursor(CursorMove::Forward));
            }
            Action::CursorWordLeft => self.area.move_cursor(CursorMove::WordBack),
            Action::CursorWordRight => self.area.move_cursor(CursorMove::WordForward),
            Action::CursorLineStart => self.area.move_cursor(CursorMove::Head),
            Action::CursorLineEnd => self.area.move_cursor(CursorMove::End),
            Action::EditorPageUp => self.area.move_cursor(CursorMove::Top),
            Action::EditorPageDown => self.area.move_cursor(CursorMove::Bottom),
            Action::DeleteBackward => self.letter(self.letter_before(), TextArea::delete_char),
            Action::DeleteForward => self.letter(self.letter_after(), TextArea::delete_next_char),
            Action::DeleteWordBackward => drop(self.area.delete_word()),
            Action::DeleteWordForward => drop(self.area.delete_next_word()),
            Action::DeleteToLineStart => drop(self.area.delete_line_by_head()),
            Action::DeleteToLineEnd => drop(self.area.delete_line_by_end()),
            Action::Yank => drop(self.area.paste()),
            Action::Undo => drop(self.area.undo()),
            _ => {}
        }
    }

    /// A backslash before Enter makes a new line, for terminals that know no other way.
    fn submit(&mut self) -> bool {
        let (_, before) = self.before_cursor();
        let is_continued = before.ends_with('\\');
        if is_continued {
            self.area.delete_char();
            self.area.insert_newline();
        }
        !is_continued
    }

    /// Moves to another line; from the first or the last one to another text of the history.
    fn step(&mut self, step: CursorMove) {
        let before = self.area.cursor();
        self.area.move_cursor(step);
        if self.area.cursor() != before {
            return;
        }
        let text = match step {
            CursorMove::Up => self.history.older(&self.shown_text()),
            _ => self.history.newer(),
        };
        if let Some(text) = text {
            self.replace(&text);
        }
    }

    /// Calls `one` for each character of a letter, at least once.
    fn letter<T>(&mut self, characters: usize, one: impl Fn(&mut TextArea<'static>) -> T) {
        for _ in 0..characters.max(1) {
            one(&mut self.area);
        }
    }

    /// How many characters the letter before the cursor has; zero at the start of a line.
    fn letter_before(&self) -> usize {
        let (_, before) = self.before_cursor();
        let mut marks = self.pastes.iter().map(|(mark, _)| mark.as_str()).chain(self.images.marks());
        if let Some(mark) = marks.find(|mark| before.ends_with(mark)) {
            return mark.chars().count();
        }
        before.graphemes(true).next_back().map_or(0, |letter| letter.chars().count())
    }

    fn letter_after(&self) -> usize {
        let cursor = self.area.cursor();
        let line = self.area.lines().get(cursor.0).map(String::as_str).unwrap_or_default();
        let after: String = line.chars().skip(cursor.1).collect();
        after.graphemes(true).next().map_or(0, |letter| letter.chars().count())
    }

    fn paste(&mut self, text: &str) {
        let text = without_controls(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let lines = text.split('\n').count();
        if lines <= MOST_PASTED_LINES && text.len() <= MOST_PASTED_BYTES {
            self.area.insert_str(&text);
            return;
        }
        let number = self.pastes.len() + 1;
        let mark = match lines {
            1 => format!("[paste #{number}: {} characters]", text.chars().count()),
            lines => format!("[paste #{number}: {lines} lines]"),
        };
        self.area.insert_str(&mark);
        self.pastes.push((mark, text));
    }

    /// Returns how many rows the text takes at this width.
    pub fn height(&mut self, columns: u16) -> u16 {
        self.fit(columns);
        let row = |row: usize| self.area.screen_to_data(row, 0);
        let mut rows: u16 = 1;
        while rows < MOST_ROWS && row(usize::from(rows)) != row(usize::from(rows) - 1) {
            rows += 1;
        }
        rows
    }

    /// Lets the text area know how wide it is; it learns so only by being drawn. So that it does not begin somewhere in
    /// the middle of the text, there is room for all of it.
    fn fit(&mut self, columns: u16) {
        let columns = columns.max(1);
        if self.fitted.replace(columns) == Some(columns) {
            return;
        }
        let scratch = Rect::new(0, 0, columns, MOST_ROWS);
        (&self.area).render(scratch, &mut Buffer::empty(scratch));
    }

    /// Draws the text and returns where the cursor is.
    pub fn draw(&mut self, theme: Theme, hint: &str, area: Rect, buf: &mut Buffer) -> Position {
        if self.area.lines().iter().all(String::is_empty) && self.area.lines().len() == 1 {
            crate::paint::line(
                &ratatui::text::Line::styled(hint.to_owned(), theme.style(Role::Dim)),
                area,
                buf,
            );
            return area.as_position();
        }
        self.area.set_style(theme.style(Role::Text));
        self.fit(area.width);
        (&self.area).render(area, buf);
        let (top, left) = self.area.scroll_offset();
        let cursor = self.area.screen_cursor();
        let (row, column) = (cursor.row as u16, cursor.col as u16);
        let x = area.x + column.saturating_sub(left).min(area.width.saturating_sub(1));
        Position::new(x, area.y + row.saturating_sub(top).min(area.height.saturating_sub(1)))
    }
}

/// Nothing that is typed or pasted steers a terminal.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| *c == '\n' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests;
