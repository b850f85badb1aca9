//! Patterns of commands, compared word by word.

use super::rule::Match;

/// One word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// What it says, without quotes.
    pub(super) text: String,
    /// Whether it becomes something else when it runs: a variable, a substitution, a wildcard.
    pub(super) is_dynamic: bool,
}

/// A pattern of words. `*` stands for any number of words, and inside a word for any characters.
#[derive(Debug, Clone)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn parse(text: &str) -> Self {
        Words(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Compares with a text that is no command.
    pub(super) fn matches_text(&self, text: &str) -> Match {
        let words: Vec<Word> =
            text.split_whitespace().map(|word| Word { text: word.to_owned(), is_dynamic: false }).collect();
        self.matches(&words)
    }

    /// Compares all words, from the last to the first: `row[j]` tells whether the rest of the pattern fits the words
    /// from `j` on.
    pub(super) fn matches(&self, words: &[Word]) -> Match {
        let count = words.len();
        let mut row: Vec<Match> = (0..=count).map(|at| end_of_pattern(&words[at..])).collect();
        for (index, part) in self.0.iter().enumerate().rev() {
            let is_last = index + 1 == self.0.len();
            let mut next = vec![Match::No; count + 1];
            for at in (0..=count).rev() {
                next[at] = match (part.as_str(), words.get(at)) {
                    ("*", _) if is_last => Match::Yes,
                    // No word, or one word and the rest again.
                    ("*", Some(_)) => row[at].max(next[at + 1]),
                    ("*", None) => row[at],
                    (_, Some(word)) if word.is_dynamic => Match::Maybe,
                    (part, Some(word)) if is_like(part, &word.text) => row[at + 1],
                    (_, Some(_) | None) => Match::No,
                };
            }
            row = next;
        }
        row[0]
    }
}

/// Words behind the end of a pattern do not fit, unless they may become nothing.
fn end_of_pattern(rest: &[Word]) -> Match {
    match rest {
        [] => Match::Yes,
        rest if rest.iter().all(|word| word.is_dynamic) => Match::Maybe,
        _ => Match::No,
    }
}

/// Compares a word with a pattern in which `*` stands for any characters and `?` for one.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last `*` was, and how far it reaches.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, reach)) = star else { return false };
                star = Some((at, reach + 1));
                p = at + 1;
                t = reach + 1;
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
