//! Finds the places of edits in a file and applies them.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;
use serde_json::Value as Json;

/// The maximum number of places to list for an ambiguous text.
const NAMED_PLACES: usize = 5;
/// The maximum number of lines to show of a near match.
const SHOWN_LINES: usize = 20;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
}

impl<'a> Edit<'a> {
    pub(super) fn read(json: &'a Json) -> Option<Self> {
        Some(Edit { old: json.get("oldText")?.as_str()?, new: json.get("newText")?.as_str()? })
    }
}

/// The reason why edits cannot be applied. Edits are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditError {
    #[error("no edits were given")]
    None,
    #[error("oldText of edit {number} is empty")]
    Empty { number: usize },
    /// The hint quotes a near match, if there is one.
    #[error("oldText of edit {number} is not in the file{hint}")]
    NotFound { number: usize, hint: String },
    #[error(
        "oldText of edit {number} occurs {times} times, at lines {lines}; add lines around it to make it unique"
    )]
    Ambiguous { number: usize, times: usize, lines: String },
    #[error("edits {first} and {second} overlap; make them one edit")]
    Overlap { first: usize, second: usize },
    #[error("the edits change nothing: every newText is equal to its oldText")]
    NoChange,
}

/// An edit and its place.
#[derive(Debug)]
struct Placed<'a> {
    number: usize,
    start: usize,
    end: usize,
    new: Cow<'a, str>,
}

/// Applies all edits at once.
pub(super) fn apply(old: &[u8], edits: &[Edit<'_>]) -> Result<Vec<u8>, EditError> {
    if edits.is_empty() {
        return Err(EditError::None);
    }
    let has_crlf = uses_crlf(old);
    let mut placed = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        placed.push(place(old, edit, index + 1, has_crlf)?);
    }
    placed.sort_by_key(|edit| edit.start);
    if let Some(pair) = placed.windows(2).find(|pair| pair[1].start < pair[0].end) {
        return Err(EditError::Overlap { first: pair[0].number, second: pair[1].number });
    }
    let new = spliced(old, &placed);
    if new == old { Err(EditError::NoChange) } else { Ok(new) }
}

fn spliced(old: &[u8], placed: &[Placed<'_>]) -> Vec<u8> {
    let mut new = Vec::with_capacity(old.len());
    let mut done = 0;
    for edit in placed {
        new.extend_from_slice(&old[done..edit.start]);
        new.extend_from_slice(edit.new.as_bytes());
        done = edit.end;
    }
    new.extend_from_slice(&old[done..]);
    new
}

/// Finds the only place of an edit. In a file with CRLF line ends the edit may use LF.
fn place<'a>(old: &[u8], edit: &Edit<'a>, number: usize, has_crlf: bool) -> Result<Placed<'a>, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty { number });
    }
    let wanted = match edit.old {
        exact if !has_crlf || memmem::find(old, exact.as_bytes()).is_some() => Cow::Borrowed(exact),
        other => with_crlf(other),
    };
    let starts = occurrences(old, wanted.as_bytes());
    match starts.as_slice() {
        [] => Err(EditError::NotFound { number, hint: hint(old, edit) }),
        &[start] => {
            let new = if has_crlf { with_crlf(edit.new) } else { Cow::Borrowed(edit.new) };
            Ok(Placed { number, start, end: start + wanted.len(), new })
        }
        several => {
            let named = several.iter().take(NAMED_PLACES).map(|&at| line_of(old, at).to_string());
            let mut lines = named.collect::<Vec<_>>().join(", ");
            if several.len() > NAMED_PLACES {
                lines.push_str(", ...");
            }
            Err(EditError::Ambiguous { number, times: several.len(), lines })
        }
    }
}

/// Returns the offsets of a text. Occurrences may overlap, as `aa` in `aaa`.
fn occurrences(old: &[u8], wanted: &[u8]) -> Vec<usize> {
    let finder = memmem::Finder::new(wanted);
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(at) = old.get(from..).and_then(|rest| finder.find(rest)) {
        starts.push(from + at);
        from += at + 1;
    }
    starts
}

/// Returns true if most lines end with CRLF.
fn uses_crlf(text: &[u8]) -> bool {
    let all = memchr::memchr_iter(b'\n', text).count();
    let crlf = memmem::find_iter(text, b"\r\n").count();
    crlf > 0 && crlf * 2 >= all
}

fn with_crlf(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
}

fn line_of(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..at]).count() + 1
}

/// Finds text that differs only in white space or quotes.
fn hint(old: &[u8], edit: &Edit<'_>) -> String {
    let text = String::from_utf8_lossy(old);
    let lines: Vec<&str> = text.lines().collect();
    let plain: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    let wanted: Vec<String> = edit.old.trim_matches('\n').lines().map(self::plain).collect();
    if wanted.iter().all(String::is_empty) {
        return String::new();
    }
    match plain.windows(wanted.len()).position(|window| is_alike(window, &wanted)) {
        Some(at) => {
            let excerpt = excerpt(&lines[at..at + wanted.len()]);
            format!("; text that differs only in white space or quotes is at line {}:\n{excerpt}", at + 1)
        }
        None => String::new(),
    }
}

/// Compares normalised lines. A single line may be part of a longer one.
fn is_alike(window: &[String], wanted: &[String]) -> bool {
    match (window, wanted) {
        ([line], [wanted]) => line.contains(wanted.as_str()),
        _ => window == wanted,
    }
}

/// Normalises a line: white space and quotes.
fn plain(line: &str) -> String {
    let line: String = line
        .chars()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201C}' | '\u{201D}' => '"',
            '\u{2010}'..='\u{2015}' => '-',
            other => other,
        })
        .collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn excerpt(lines: &[&str]) -> String {
    let mut text = lines.iter().take(SHOWN_LINES).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > SHOWN_LINES {
        let _ = write!(text, "\n... {} more lines", lines.len() - SHOWN_LINES);
    }
    text
}
