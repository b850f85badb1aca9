//! One line that is typed: labels, names, a focus, a note. Edits whole letters, never halves of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::clean::clean;
use crate::keys::{Action, Input};
use crate::paint;
use crate::theme::{Role, Theme};
use crate::width::width;

/// The longest text that is taken; a label or a name is no place for a book.
const LONGEST: usize = 4096;
/// The longest query that is taken.
const LONGEST_QUERY: usize = 1000;

/// One line of text with a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LineInput {
    text: String,
    /// The byte before which the cursor stands, always between letters.
    cursor: usize,
}

impl LineInput {
    /// Makes a line that holds a text, with the cursor at its end.
    pub(crate) fn new(text: &str) -> Self {
        let text = one_line(text);
        Self { cursor: text.len(), text }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Takes typed or pasted text, or an action; returns true if it was for the line.
    pub(crate) fn update(&mut self, input: &Input) -> bool {
        match input {
            Input::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Input::Paste(text) => self.insert(text),
            Input::Action(action) => return self.act(*action),
        }
        true
    }

    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::CursorLeft => self.cursor = self.before(),
            Action::CursorRight => self.cursor = self.after(),
            Action::CursorWordLeft => self.cursor = self.word_before(),
            Action::CursorWordRight => self.cursor = self.word_after(),
            Action::CursorLineStart => self.cursor = 0,
            Action::CursorLineEnd => self.cursor = self.text.len(),
            Action::DeleteBackward => self.delete(self.before(), self.cursor),
            Action::DeleteForward => self.delete(self.cursor, self.after()),
            Action::DeleteWordBackward => self.delete(self.word_before(), self.cursor),
            Action::DeleteWordForward => self.delete(self.cursor, self.word_after()),
            Action::DeleteToLineStart => self.delete(0, self.cursor),
            Action::DeleteToLineEnd => self.delete(self.cursor, self.text.len()),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, text: &str) {
        let text = one_line(text);
        if self.text.len() + text.len() <= LONGEST {
            self.text.insert_str(self.cursor, &text);
            self.cursor = self.boundary_at(self.cursor + text.len());
        }
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = self.boundary_at(from);
    }

    /// The nearest place between letters: an accent may have joined the letter before it.
    fn boundary_at(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        match cursor.is_boundary(&self.text, 0) {
            Ok(true) => at,
            _ => cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len()),
        }
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..]
            .graphemes(true)
            .next()
            .map_or(self.cursor, |letter| self.cursor + letter.len())
    }

    fn word_before(&self) -> usize {
        let words = self.text[..self.cursor].split_word_bound_indices();
        words.rev().find(|(_, word)| !word.trim().is_empty()).map_or(0, |(at, _)| at)
    }

    fn word_after(&self) -> usize {
        let mut words = self.text[self.cursor..].split_word_bound_indices();
        let word = words.find(|(_, word)| !word.trim().is_empty());
        word.map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    /// Draws the line; a long one is moved so that the cursor shows.
    pub(crate) fn draw(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let (before, rest) = self.text.split_at(self.cursor);
        let at = rest.graphemes(true).next().unwrap_or(" ");
        let after = &rest[at.len().min(rest.len())..];
        let hidden = (width(&clean(before)) + width(&clean(at))).saturating_sub(usize::from(area.width));
        let cursor = Style::new().add_modifier(Modifier::REVERSED);
        let plain = theme.style(Role::Text);
        let line = Line::from(vec![
            Span::styled(skip_columns(&clean(before), hidden), plain),
            paint::span(at, cursor),
            paint::span(after, plain),
        ]);
        paint::line(&line, area, buf);
    }
}

/// Drops the first columns of a text.
pub(crate) fn skip_columns(text: &str, columns: usize) -> String {
    let mut left = columns;
    let mut letters = text.graphemes(true);
    while left > 0 {
        let Some(letter) = letters.next() else { return String::new() };
        match left.checked_sub(width(letter)) {
            Some(rest) => left = rest,
            // Half of a wide letter is a blank.
            None => return " ".to_owned() + letters.as_str(),
        }
    }
    letters.as_str().to_owned()
}

/// Returns a query after an input; `None` if that is not for a query or changes nothing.
///
/// A query has no cursor: letters go to its end and are taken from there, one by one or in words.
pub(crate) fn changed_query(query: &str, input: &Input) -> Option<String> {
    let typed = |text: &str| {
        let query = [query, &one_line(text)].concat();
        (query.len() <= LONGEST_QUERY && !query.trim().is_empty()).then_some(query)
    };
    let kept = match input {
        Input::Char(c) => return typed(c.encode_utf8(&mut [0; 4])),
        Input::Paste(text) => return typed(text),
        Input::Action(Action::DeleteBackward) => query.grapheme_indices(true).next_back()?.0,
        Input::Action(Action::DeleteWordBackward) => {
            query.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1)
        }
        Input::Action(_) => return None,
    };
    (kept < query.len()).then(|| query[..kept].to_owned())
}

/// Returns where a cursor goes in a list; up and down go round at the ends.
pub(crate) fn stepped(action: Action, at: usize, last: usize, page: usize) -> Option<usize> {
    Some(match action {
        Action::SelectUp => at.checked_sub(1).unwrap_or(last),
        Action::SelectDown if at >= last => 0,
        Action::SelectDown => at + 1,
        Action::SelectPageUp => at.saturating_sub(page),
        Action::SelectPageDown => (at + page).min(last),
        Action::SelectFirst => 0,
        Action::SelectLast => last,
        _ => return None,
    })
}

/// Pasted text may have many lines, and worse.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.replace("\r\n", " ");
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests;
