//! Colours in code: which part of a line is a keyword, a text, a comment. Knows nothing of Markdown or of the screen.
//!
//! Lines are read one after the other and only once: code that grows pays for its new lines. What is too long or too
//! wide stays plain, because grammars are slow.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::OnceLock;

use ratatui::style::Style;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::theme::{Role, Theme};

/// The most lines of one piece of code that are read.
const MOST_LINES: usize = 2_000;
/// The longest line that is read.
const LONGEST_LINE: usize = 500;

/// What a part of a line of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Nothing special.
    Plain,
    /// A comment.
    Comment,
    /// A text.
    Text,
    /// A number, or another constant.
    Constant,
    /// A keyword.
    Keyword,
    /// The name of something that is declared or called.
    Name,
}

impl Token {
    /// Returns how the part is drawn.
    pub fn style(self, theme: Theme) -> Style {
        match self {
            Token::Plain => theme.style(Role::Text),
            Token::Comment => theme.style(Role::Thinking),
            Token::Text => theme.style(Role::Success),
            Token::Constant => theme.style(Role::Warning),
            Token::Keyword => theme.style(Role::Accent),
            Token::Name => theme.style(Role::Title),
        }
    }
}

/// A line of code in parts, in order and without gaps.
pub type Parts = Vec<(Range<usize>, Token)>;

/// Somebody who knows languages.
pub trait Languages: fmt::Debug {
    /// Begins to read code of a language; `None` if nobody knows it.
    fn reader(&self, language: &str) -> Option<Box<dyn Reader>>;
}

/// Somebody who reads the code of one language, line by line.
pub trait Reader {
    /// Reads the next line.
    fn line(&mut self, line: &str) -> Parts;
}

/// Knows no language: all code is plain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Languages for Plain {
    fn reader(&self, _: &str) -> Option<Box<dyn Reader>> {
        None
    }
}

/// Knows the languages that are built in; loads them when they are first asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grammars;

fn grammars() -> &'static SyntaxSet {
    static LOADED: OnceLock<SyntaxSet> = OnceLock::new();
    LOADED.get_or_init(two_face::syntax::extra_newlines)
}

impl Languages for Grammars {
    fn reader(&self, language: &str) -> Option<Box<dyn Reader>> {
        let name = language.split([',', ' ', '{']).next().filter(|name| !name.is_empty())?;
        let grammar = grammars().find_syntax_by_token(name)?;
        Some(Box::new(GrammarReader { state: ParseState::new(grammar), scopes: ScopeStack::new() }))
    }
}

struct GrammarReader {
    state: ParseState,
    scopes: ScopeStack,
}

impl Reader for GrammarReader {
    fn line(&mut self, line: &str) -> Parts {
        let whole = || vec![(0..line.len(), Token::Plain)];
        let Ok(steps) = self.state.parse_line(&format!("{line}\n"), grammars()) else { return whole() };
        let mut parts = Parts::new();
        let mut at = 0;
        for (next, step) in steps {
            let next = next.min(line.len());
            push(&mut parts, at..next, token(&self.scopes));
            at = at.max(next);
            // A grammar that goes wrong loses its colours, not the code.
            if self.scopes.apply(&step).is_err() {
                return whole();
            }
        }
        push(&mut parts, at..line.len(), token(&self.scopes));
        parts
    }
}

fn push(parts: &mut Parts, range: Range<usize>, token: Token) {
    if range.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some((last, same)) if *same == token && last.end == range.start => last.end = range.end,
        _ => parts.push((range, token)),
    }
}

/// What the names that grammars use mean here, the innermost first.
fn token(scopes: &ScopeStack) -> Token {
    let known = names();
    let meaning =
        |scope: &Scope| known.iter().find(|(name, _)| name.is_prefix_of(*scope)).map(|(_, token)| *token);
    scopes.as_slice().iter().rev().find_map(meaning).unwrap_or(Token::Plain)
}

fn names() -> &'static [(Scope, Token)] {
    static NAMES: OnceLock<Vec<(Scope, Token)>> = OnceLock::new();
    let names = [
        ("comment", Token::Comment),
        ("string", Token::Text),
        ("constant", Token::Constant),
        ("keyword.operator", Token::Plain),
        ("keyword", Token::Keyword),
        ("storage", Token::Keyword),
        ("entity.name", Token::Name),
        ("support.function", Token::Name),
        ("variable.function", Token::Name),
    ];
    NAMES.get_or_init(|| {
        names.iter().filter_map(|(name, token)| Some((Scope::from_str(name).ok()?, *token))).collect()
    })
}

/// Pieces of code that may grow, each with what was read of it.
#[derive(Default)]
pub struct CodeCache {
    pieces: Vec<Piece>,
}

#[derive(Default)]
struct Piece {
    language: String,
    reader: Option<Box<dyn Reader>>,
    lines: Vec<(String, Parts)>,
}

impl fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pieces.iter().map(|piece| &piece.language)).finish()
    }
}

impl CodeCache {
    /// Returns the parts of all lines of the `nth` piece; lines that were read before are not read again.
    pub fn parts(
        &mut self,
        nth: usize,
        language: &str,
        lines: &[&str],
        languages: &dyn Languages,
    ) -> Vec<Parts> {
        while self.pieces.len() <= nth {
            self.pieces.push(Piece::default());
        }
        self.pieces[nth].read(language, lines, languages)
    }
}

impl Piece {
    fn read(&mut self, language: &str, lines: &[&str], languages: &dyn Languages) -> Vec<Parts> {
        // The last line may have grown since it was read, so reading goes on only from whole lines.
        let known = self.lines.iter().zip(lines).take_while(|((known, _), line)| known == *line).count();
        if language != self.language || known < self.lines.len() {
            *self = Piece { language: language.to_owned(), ..Piece::default() };
        }
        if self.reader.is_none() && self.lines.is_empty() {
            self.reader = languages.reader(language);
        }
        let whole = lines.len().saturating_sub(1).min(MOST_LINES);
        for line in lines.iter().take(whole).skip(self.lines.len()) {
            let parts = self.parts_of(line);
            self.lines.push(((*line).to_owned(), parts));
        }
        let read = self.lines.iter().map(|(_, parts)| parts.clone());
        let rest = lines.iter().skip(self.lines.len()).map(|line| vec![(0..line.len(), Token::Plain)]);
        read.chain(rest).collect()
    }

    fn parts_of(&mut self, line: &str) -> Parts {
        match &mut self.reader {
            Some(reader) if line.len() <= LONGEST_LINE => reader.line(line),
            _ => vec![(0..line.len(), Token::Plain)],
        }
    }
}

#[cfg(test)]
mod tests;
