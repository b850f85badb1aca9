//! Breaks text into rows that fit, between words where that is possible.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::clean::clean_lines;
use crate::width::{first_columns, width};

/// The margins of a text: one before its first row, one before all others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Margin {
    /// Before the first row.
    pub(crate) first: Vec<Span<'static>>,
    /// Before all rows after it.
    pub(crate) rest: Vec<Span<'static>>,
}

impl Margin {
    /// Makes a margin of the same columns before all rows.
    pub(crate) fn same(span: Span<'static>) -> Self {
        Margin { first: vec![span.clone()], rest: vec![span] }
    }

    /// Makes a margin with a mark before the first row and blanks below it.
    pub(crate) fn mark(mark: Span<'static>) -> Self {
        let blanks = Span::raw(" ".repeat(mark.width()));
        Margin { first: vec![mark], rest: vec![blanks] }
    }

    fn row(&self, is_first: bool) -> Vec<Span<'static>> {
        if is_first { self.first.clone() } else { self.rest.clone() }
    }
}

/// Breaks one line of cleaned text into rows of at most `columns`, margins included.
pub(crate) fn wrap(spans: &[Span<'static>], columns: usize, margin: &Margin, out: &mut Vec<Line<'static>>) {
    wrap_until(usize::MAX, spans, columns, margin, out);
}

/// Breaks a text of many lines, which may hold anything, into rows of at most `columns`.
///
/// Stops after `most` rows; the result may therefore lack the end of the text.
pub(crate) fn rows(text: &str, style: Style, columns: usize, most: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for line in clean_lines(text) {
        if rows.len() >= most {
            break;
        }
        let line = Span::styled(line.into_owned(), style);
        wrap_until(most, &[line], columns, &Margin::default(), &mut rows);
    }
    rows.truncate(most);
    rows
}

/// Breaks a text like [`rows`]; the last row says if something is missing.
pub(crate) fn short_rows(text: &str, style: Style, columns: usize, most: usize) -> Vec<Line<'static>> {
    let mut rows = rows(text, style, columns, most + 1);
    if rows.len() > most {
        let rest: Vec<String> = rows.drain(most.saturating_sub(1)..).map(|row| row.to_string()).collect();
        let rest = rest.join(" ");
        let text = format!("{}…", first_columns(&rest, columns.saturating_sub(1)).trim_end());
        rows.push(Line::from(Span::styled(text, style)));
    }
    rows
}

/// Breaks one line of cleaned text; stops soon after `out` holds `most` rows.
fn wrap_until(
    most: usize,
    spans: &[Span<'static>],
    columns: usize,
    margin: &Margin,
    out: &mut Vec<Line<'static>>,
) {
    let mut rows = Rows { columns: columns.max(2), margin, out, row: margin.row(true), used: 0, start: 0 };
    rows.open();
    let mut word = Word::new();
    for span in spans {
        // Only blanks part words: a comma belongs to the word before it, whatever its style.
        for part in span.content.split_inclusive(is_blank) {
            let text = part.trim_end_matches(is_blank);
            word.push((text, span.style));
            if text.len() < part.len() {
                rows.word(&mut word);
                rows.blank(&part[text.len()..], span.style);
            }
            if rows.out.len() >= most {
                return;
            }
        }
    }
    rows.word(&mut word);
    rows.close();
}

fn is_blank(c: char) -> bool {
    c == ' '
}

/// The pieces of a word, each in one style.
type Word<'s> = Vec<(&'s str, Style)>;

/// The rows of one text while they are filled.
struct Rows<'a> {
    columns: usize,
    margin: &'a Margin,
    out: &'a mut Vec<Line<'static>>,
    row: Vec<Span<'static>>,
    used: usize,
    /// How many columns the margin of this row takes.
    start: usize,
}

impl Rows<'_> {
    fn open(&mut self) {
        self.start = self.row.iter().map(Span::width).sum::<usize>().min(self.columns - 1);
        self.used = self.start;
    }

    fn next(&mut self) {
        let row = std::mem::replace(&mut self.row, self.margin.row(false));
        self.out.push(Line::from(without_end_blanks(row)));
        self.open();
    }

    /// Adds a word, in the next row if it does not fit into this one.
    fn word(&mut self, word: &mut Word<'_>) {
        let columns: usize = word.iter().map(|(text, _)| width(text)).sum();
        let fits_below = self.start + columns <= self.columns;
        if self.used + columns > self.columns && self.used > self.start && fits_below {
            self.next();
        }
        let fits = self.used + columns <= self.columns;
        for (text, style) in word.drain(..).filter(|(text, _)| !text.is_empty()) {
            if fits {
                self.put(text, width(text), style);
                continue;
            }
            // A word that is longer than a row is broken between letters.
            for letter in text.graphemes(true) {
                let wide = width(letter);
                if self.used + wide > self.columns && self.used > self.start {
                    self.next();
                }
                self.put(letter, wide, style);
            }
        }
    }

    /// Blanks at the end of a row go nowhere; those that begin a text stay.
    fn blank(&mut self, blanks: &str, style: Style) {
        let wide = width(blanks);
        if self.used + wide <= self.columns {
            self.put(blanks, wide, style);
        } else if self.used > self.start {
            // The next word begins a row, if there is one.
            self.used = self.columns;
        }
    }

    fn put(&mut self, text: &str, wide: usize, style: Style) {
        self.used += wide;
        match self.row.last_mut() {
            Some(last) if last.style == style && self.used > self.start + wide => {
                last.content.to_mut().push_str(text);
            }
            _ => self.row.push(Span::styled(text.to_owned(), style)),
        }
    }

    fn close(self) {
        self.out.push(Line::from(without_end_blanks(self.row)));
    }
}

/// Blanks at the end of a row say nothing, and come apart when a terminal is made narrower.
pub(crate) fn without_end_blanks(mut row: Vec<Span<'static>>) -> Vec<Span<'static>> {
    while let Some(last) = row.last_mut() {
        if last.style.bg.is_some() {
            break;
        }
        let kept = last.content.trim_end().len();
        last.content.to_mut().truncate(kept);
        if kept > 0 {
            break;
        }
        row.pop();
    }
    row
}

#[cfg(test)]
mod tests;
