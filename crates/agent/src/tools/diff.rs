//! The difference between two texts: with line numbers for people, as a patch for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};

/// The number of unchanged lines around a change.
const CONTEXT: usize = 4;
/// The maximum time to search for the smallest difference.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Returns `diff`, `patch` and `firstChangedLine`, as pi's edit tool does.
///
/// ```text
///     ...
///   7 line that stays
/// - 8 line before
/// + 8 line after
///   9 line that stays
///     ...
/// ```
pub fn details(path: &str, old: &str, new: &str) -> Json {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new);
    let patch = diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string();
    let (numbered, first) = numbered(&diff);
    json!({"diff": numbered, "patch": patch, "firstChangedLine": first})
}

/// Returns the changed lines with their numbers.
pub(crate) fn numbered_text(old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(&*old, &*new);
    numbered(&diff).0
}

fn numbered(diff: &TextDiff<'_, '_, str>) -> (String, Option<usize>) {
    let width = diff.old_len().max(diff.new_len()).to_string().len();
    let gap = format!(" {:width$} ...\n", "");
    let mut text = String::new();
    let mut first = None;
    let mut shown_until = 0;
    for group in diff.grouped_ops(CONTEXT) {
        if group.first().is_some_and(|op| op.old_range().start > shown_until) {
            text.push_str(&gap);
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, index) = match change.tag() {
                ChangeTag::Equal => (' ', change.old_index()),
                ChangeTag::Delete => ('-', change.old_index()),
                ChangeTag::Insert => ('+', change.new_index()),
            };
            if change.tag() != ChangeTag::Equal && first.is_none() {
                first = change.new_index().or(change.old_index()).map(|index| index + 1);
            }
            let line = change.value().trim_end_matches(['\n', '\r']);
            let _ = writeln!(text, "{sign}{:>width$} {line}", index.unwrap_or(0) + 1);
        }
        shown_until = group.last().map_or(shown_until, |op| op.old_range().end);
    }
    if shown_until < diff.old_len() && first.is_some() {
        text.push_str(&gap);
    }
    text.truncate(text.trim_end_matches('\n').len());
    (text, first)
}

#[cfg(test)]
mod tests;
