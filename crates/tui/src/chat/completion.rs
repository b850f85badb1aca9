//! Completion: candidates for the word before the cursor, as a small list below the editor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::command::{CommandSpec, Completes};
use crate::paint;
use crate::theme::{Role, Theme};
use crate::width::{cut, pad, width};

/// How many candidates show at once.
pub const ROWS: usize = 6;
/// How many candidates are kept.
const MOST: usize = 200;

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The text for the editor.
    pub text: String,
    /// A short description.
    pub what: String,
}

/// The sources of candidates.
pub trait Sources {
    /// Returns everything of a kind; files may be limited to those that a word could mean.
    fn candidates(&self, kind: Completes, word: &str) -> Vec<Candidate>;

    /// Returns what may follow a command that is not ours, given what is typed behind it.
    fn arguments(&self, _command: &str, _typed: &str) -> Vec<Candidate> {
        Vec::new()
    }
}

/// The word that is being completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionWord {
    /// The kind of candidates.
    pub kind: Completes,
    /// The word so far, without its mark.
    pub word: String,
    /// How many characters before the cursor a candidate replaces.
    pub replaces: usize,
    /// True if the word may be something new, such as the name of a label: only a candidate that was chosen counts.
    pub is_free: bool,
}

/// The list of candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    candidates: Vec<Candidate>,
    selected: usize,
    /// True if the user moved the selection, so that it is more than an offer.
    pub(super) is_chosen: bool,
    /// The word that is being completed.
    pub(super) wanted: CompletionWord,
}

/// Returns what could be completed before the cursor, given its line and the text before it.
pub fn wanted(line: usize, before: &str, commands: &[CommandSpec]) -> Option<CompletionWord> {
    if line == 0 && before.starts_with('/') {
        return command_wanted(before, commands);
    }
    let (before_at, typed) = match before.rsplit_once("@\"") {
        Some((before_at, typed)) if !typed.contains('"') => (before_at, typed),
        _ => before.rsplit_once('@').filter(|(_, typed)| !typed.contains(char::is_whitespace))?,
    };
    if before_at.ends_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    let replaces = before[before_at.len() + 1..].chars().count();
    Some(CompletionWord { kind: Completes::Files, word: typed.to_owned(), replaces, is_free: false })
}

/// Returns what a candidate puts into the editor: a path with blanks needs quotes, a directory may be continued.
pub(crate) fn inserted(kind: Completes, candidate: &str) -> String {
    let is_quoted = kind == Completes::Files && candidate.contains(char::is_whitespace);
    match (is_quoted, candidate.ends_with('/')) {
        (true, true) => format!("\"{candidate}"),
        (true, false) => format!("\"{candidate}\" "),
        (false, true) => candidate.to_owned(),
        (false, false) => format!("{candidate} "),
    }
}

fn command_wanted(before: &str, commands: &[CommandSpec]) -> Option<CompletionWord> {
    let rest = &before[1..];
    let Some((name, arguments)) = rest.split_once(' ') else {
        let replaces = rest.chars().count();
        return Some(CompletionWord {
            kind: Completes::Commands,
            word: rest.to_owned(),
            replaces,
            is_free: false,
        });
    };
    let Some(command) = commands.iter().find(|command| command.name == name) else {
        let replaces = arguments.chars().count();
        return Some(CompletionWord {
            kind: Completes::Extension,
            word: rest.to_owned(),
            replaces,
            is_free: false,
        });
    };
    let word = arguments.rsplit(' ').next().unwrap_or_default();
    let is_first = !arguments.trim_start().contains(' ') || command.completes == Completes::Entries;
    let is_option = word.starts_with("--");
    if command.completes == Completes::Nothing || !is_first || is_option {
        return None;
    }
    let (kind, replaces) = (command.completes, word.chars().count());
    let is_free = kind == Completes::Files || command.arguments.ends_with(" NAME");
    Some(CompletionWord { kind, word: word.to_owned(), replaces, is_free })
}

impl Completion {
    /// Finds the candidates for what is wanted, the best first; none if nothing fits.
    pub fn find(wanted: CompletionWord, sources: &dyn Sources, commands: &[CommandSpec]) -> Option<Self> {
        let all = match wanted.kind {
            Completes::Commands => {
                let own = commands.iter().map(command_candidate);
                own.chain(sources.candidates(wanted.kind, &wanted.word)).collect()
            }
            Completes::Extension => {
                let (command, typed) = wanted.word.split_once(' ').unwrap_or((&wanted.word, ""));
                let found = sources.arguments(command, typed);
                return Self::offered(found, CompletionWord { word: typed.to_owned(), ..wanted.clone() });
            }
            kind => sources.candidates(kind, &wanted.word),
        };
        let mut ranked: Vec<(u32, Candidate)> =
            all.into_iter().filter_map(|one| Some((rank(&one, &wanted)?, one))).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        Self::offered(ranked.into_iter().map(|(_, one)| one).collect(), wanted)
    }

    fn offered(mut candidates: Vec<Candidate>, wanted: CompletionWord) -> Option<Self> {
        candidates.truncate(MOST);
        let is_said = candidates.len() == 1 && candidates.first().is_some_and(|one| one.text == wanted.word);
        (!candidates.is_empty() && !is_said).then_some(Completion {
            candidates,
            selected: 0,
            is_chosen: false,
            wanted,
        })
    }

    /// Moves the selection; goes round at the ends.
    pub fn step(&mut self, down: bool) {
        self.is_chosen = true;
        let count = self.candidates.len();
        self.selected = if down { self.selected + 1 } else { self.selected + count - 1 } % count.max(1);
    }

    /// Returns the candidate that is selected.
    pub fn selected(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected)
    }

    /// Returns how many rows the list takes.
    pub fn height(&self) -> u16 {
        self.candidates.len().min(ROWS) as u16
    }

    /// Draws the list.
    pub fn draw(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let mark = if self.wanted.kind == Completes::Commands { "/" } else { "" };
        let shown = |one: &Candidate| format!("{mark}{}", crate::clean::clean(&one.text));
        let widest = self.candidates.iter().map(|one| width(&shown(one))).max().unwrap_or(0);
        let widest = widest.min(usize::from(area.width) / 2);
        paint::list(theme, self.candidates.len(), self.selected, area, buf, |at, is_here| {
            let one = &self.candidates[at];
            let role = if is_here { Role::Accent } else { Role::Text };
            Line::from(vec![
                paint::cursor(theme, is_here),
                Span::styled(pad(&cut(&shown(one), widest), widest, false), theme.style(role)),
                paint::span(&format!("  {}", one.what), theme.style(Role::Muted)),
            ])
        });
    }
}

fn command_candidate(command: &CommandSpec) -> Candidate {
    let what = format!("{}  {}", command.arguments, command.what);
    Candidate { text: command.name.clone(), what: what.trim_start().to_owned() }
}

/// Ranks a candidate: its beginning, a part of it, its letters in order; none if it does not match.
fn rank(candidate: &Candidate, wanted: &CompletionWord) -> Option<u32> {
    let text = candidate.text.to_lowercase();
    let word = wanted.word.to_lowercase();
    if text == word {
        return Some(0);
    }
    if text.starts_with(&word) {
        return Some(1);
    }
    let name = text.rsplit('/').next().unwrap_or(&text);
    if name.starts_with(&word) || text.trim_start_matches('@').starts_with(&word) {
        return Some(2);
    }
    let is_told = wanted.kind != Completes::Commands && candidate.what.to_lowercase().contains(&word);
    if text.contains(&word) || is_told {
        return Some(3);
    }
    let mut letters = text.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(4)
}

#[cfg(test)]
mod tests;
