//! Patterns of commands, compared word by word.

use super::rule::Match;

/// One word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The text without quotes.
    pub(super) text: String,
    /// True if the shell replaces it: a variable, a substitution or a wildcard.
    pub(super) is_dynamic: bool,
}

/// A pattern of words. `*` matches any number of words, and inside a word any characters.
#[derive(Debug, Clone)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn parse(text: &str) -> Self {
        Words(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Compares a text that is not a command.
    pub(super) fn matches_text(&self, text: &str) -> Match {
        let words: Vec<Word> =
            text.split_whitespace().map(|word| Word { text: word.to_owned(), is_dynamic: false }).collect();
        self.matches(&words)
    }

    /// Compares all words.
    pub(super) fn matches(&self, words: &[Word]) -> Match {
        self.rows(words, is_like).first().copied().unwrap_or(Match::No)
    }

    /// Compares the words from each index on, as commands: the first word may be the path of a program. Takes no longer
    /// than one comparison.
    pub(super) fn matches_from_each(&self, words: &[Word]) -> Vec<Match> {
        self.rows(words, |part, word| is_like(part, word) || is_like(part, program(word)))
    }

    /// Compares from the last word to the first: `row[j]` is the match of the rest of the pattern with the words from
    /// `j` on. `is_first` compares a word that only `*` precedes.
    fn rows(&self, words: &[Word], is_first: impl Fn(&str, &str) -> bool) -> Vec<Match> {
        let count = words.len();
        let stars = self.0.iter().take_while(|part| *part == "*").count();
        let mut row = ends_of_pattern(words);
        for (index, part) in self.0.iter().enumerate().rev() {
            let is_last = index + 1 == self.0.len();
            let mut next = vec![Match::No; count + 1];
            for at in (0..=count).rev() {
                next[at] = match (part.as_str(), words.get(at)) {
                    ("*", _) if is_last => Match::Yes,
                    // Zero words, or one word and the same pattern again.
                    ("*", Some(_)) => row[at].max(next[at + 1]),
                    ("*", None) => row[at],
                    (_, Some(word)) if word.is_dynamic => Match::Maybe,
                    (part, Some(word)) if index == stars && is_first(part, &word.text) => row[at + 1],
                    (part, Some(word)) if is_like(part, &word.text) => row[at + 1],
                    (_, Some(_) | None) => Match::No,
                };
            }
            row = next;
        }
        row
    }
}

/// Returns the name of a program without its directory.
pub(super) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Words after the end of a pattern do not match, unless the shell may remove them.
fn ends_of_pattern(words: &[Word]) -> Vec<Match> {
    let mut row = vec![Match::Yes; words.len() + 1];
    for (at, word) in words.iter().enumerate().rev() {
        row[at] = if word.is_dynamic { row[at + 1].min(Match::Maybe) } else { Match::No };
    }
    row
}

/// Compares a word with a pattern in which `*` matches any characters and `?` one.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The index after the last `*`, and the end of the text that it matches.
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
