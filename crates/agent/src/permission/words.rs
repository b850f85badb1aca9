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

    /// Compares all words.
    pub(super) fn matches(&self, words: &[Word]) -> Match {
        self.rows(words, is_like).first().copied().unwrap_or(Match::No)
    }

    /// Compares the words from each one on, as commands: the first word may be the path of a program. All of them cost
    /// no more than one.
    pub(super) fn matches_from_each(&self, words: &[Word]) -> Vec<Match> {
        self.rows(words, |part, word| is_like(part, word) || is_like(part, program(word)))
    }

    /// Compares from the last word to the first: `row[j]` tells whether the rest of the pattern fits the words from `j`
    /// on. `is_first` compares a word that nothing but `*` stands in front of.
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
                    // No word, or one word and the rest again.
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

/// The name of a program without its directory.
pub(super) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Words behind the end of a pattern do not fit, unless they may become nothing.
fn ends_of_pattern(words: &[Word]) -> Vec<Match> {
    let mut row = vec![Match::Yes; words.len() + 1];
    for (at, word) in words.iter().enumerate().rev() {
        row[at] = if word.is_dynamic { row[at + 1].min(Match::Maybe) } else { Match::No };
    }
    row
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
