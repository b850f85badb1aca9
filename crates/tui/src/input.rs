//! Queries and cursor steps of all lists.

use unicode_segmentation::UnicodeSegmentation;

use crate::keys::{Action, Input};
use crate::width::width;

/// The longest query.
const MAX_QUERY: usize = 1000;

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

/// Returns a query after an input; `None` if that changes nothing. A query has no cursor: it changes at its end.
pub(crate) fn changed_query(query: &str, input: &Input) -> Option<String> {
    let typed = |text: &str| {
        let query = [query, &one_line(text)].concat();
        (query.len() <= MAX_QUERY && !query.trim().is_empty()).then_some(query)
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

/// Returns true if a text has all words of a query, in any case.
pub(crate) fn has_words(text: &str, query: &str) -> bool {
    let text = text.to_lowercase();
    query.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Returns the next row of a cursor; up and down wrap around at the ends.
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

/// Puts a text on one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.replace("\r\n", " ");
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests;
