//! Colours in code: which part of a line is a keyword, a text, a comment. Knows nothing of Markdown or of the screen.
//!
//! Lines are read one after the other and only once: code that grows pays for its new lines. What is too long or too
//! wide stays plain, because grammars are slow.

use std::ops::Range;
use std::str::FromStr;
use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::theme::Role;

/// The most lines of one piece of code that are read.
const MOST_LINES: usize = 2_000;
/// The longest line that is read.
const LONGEST_LINE: usize = 500;

/// A line of code in parts, in order and without gaps, each with the role that it is drawn in.
pub type Parts = Vec<(Range<usize>, Role)>;

/// Returns the built-in grammars; they are loaded at the first call.
fn grammars() -> &'static SyntaxSet {
    static LOADED: OnceLock<SyntaxSet> = OnceLock::new();
    LOADED.get_or_init(two_face::syntax::extra_newlines)
}

/// The state of a grammar after the lines that it has read.
#[derive(Debug)]
struct GrammarReader {
    state: ParseState,
    scopes: ScopeStack,
}

impl GrammarReader {
    /// Begins to read code of a language; `None` if no grammar knows it.
    fn new(language: &str) -> Option<Self> {
        let name = language.split([',', ' ', '{']).next().filter(|name| !name.is_empty())?;
        let grammar = grammars().find_syntax_by_token(name)?;
        Some(GrammarReader { state: ParseState::new(grammar), scopes: ScopeStack::new() })
    }

    /// Reads the next line.
    fn line(&mut self, line: &str) -> Parts {
        let Ok(steps) = self.state.parse_line(&format!("{line}\n"), grammars()) else { return plain(line) };
        let mut parts = Parts::new();
        let mut at = 0;
        for (next, step) in steps {
            let next = next.min(line.len());
            push(&mut parts, at..next, role(&self.scopes));
            at = at.max(next);
            // A grammar that goes wrong loses its colours, not the code.
            if self.scopes.apply(&step).is_err() {
                return plain(line);
            }
        }
        push(&mut parts, at..line.len(), role(&self.scopes));
        parts
    }
}

fn plain(line: &str) -> Parts {
    vec![(0..line.len(), Role::Text)]
}

fn push(parts: &mut Parts, range: Range<usize>, role: Role) {
    if range.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some((last, same)) if *same == role && last.end == range.start => last.end = range.end,
        _ => parts.push((range, role)),
    }
}

/// Returns the role of the innermost scope that has one.
fn role(scopes: &ScopeStack) -> Role {
    let known = scope_roles();
    let meaning =
        |scope: &Scope| known.iter().find(|(name, _)| name.is_prefix_of(*scope)).map(|(_, role)| *role);
    scopes.as_slice().iter().rev().find_map(meaning).unwrap_or(Role::Text)
}

fn scope_roles() -> &'static [(Scope, Role)] {
    static ROLES: OnceLock<Vec<(Scope, Role)>> = OnceLock::new();
    let roles = [
        ("comment", Role::Thinking),
        ("string", Role::Success),
        ("constant", Role::Warning),
        ("keyword.operator", Role::Text),
        ("keyword", Role::Accent),
        ("storage", Role::Accent),
        ("entity.name", Role::Title),
        ("support.function", Role::Title),
        ("variable.function", Role::Title),
    ];
    ROLES.get_or_init(|| {
        roles.iter().filter_map(|(name, role)| Some((Scope::from_str(name).ok()?, *role))).collect()
    })
}

/// Pieces of code that may grow, each with what was read of it.
#[derive(Debug, Default)]
pub struct CodeCache {
    pieces: Vec<Piece>,
    is_plain: bool,
}

#[derive(Debug, Default)]
struct Piece {
    language: String,
    reader: Option<GrammarReader>,
    lines: Vec<(String, Parts)>,
}

impl CodeCache {
    /// Makes a cache that colours nothing.
    pub fn plain() -> Self {
        CodeCache { is_plain: true, ..CodeCache::default() }
    }

    /// Returns the parts of all lines of the `nth` piece; lines that were read before are not read again.
    pub fn parts(&mut self, nth: usize, language: &str, lines: &[&str]) -> Vec<Parts> {
        if self.is_plain {
            return lines.iter().map(|line| plain(line)).collect();
        }
        if self.pieces.len() <= nth {
            self.pieces.resize_with(nth + 1, Piece::default);
        }
        self.pieces[nth].read(language, lines)
    }
}

impl Piece {
    fn read(&mut self, language: &str, lines: &[&str]) -> Vec<Parts> {
        // The last line may have grown since it was read, so reading goes on only from whole lines.
        let known = self.lines.iter().zip(lines).take_while(|((known, _), line)| known == *line).count();
        if language != self.language || known < self.lines.len() {
            *self = Piece { language: language.to_owned(), ..Piece::default() };
        }
        if self.reader.is_none() && self.lines.is_empty() {
            self.reader = GrammarReader::new(language);
        }
        let whole = lines.len().saturating_sub(1).min(MOST_LINES);
        for line in lines.iter().take(whole).skip(self.lines.len()) {
            let parts = match &mut self.reader {
                Some(reader) if line.len() <= LONGEST_LINE => reader.line(line),
                _ => plain(line),
            };
            self.lines.push(((*line).to_owned(), parts));
        }
        let read = self.lines.iter().map(|(_, parts)| parts.clone());
        read.chain(lines.iter().skip(self.lines.len()).map(|line| plain(line))).collect()
    }
}

#[cfg(test)]
mod tests;
