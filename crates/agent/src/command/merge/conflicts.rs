//! Reads the decisions that differ between two branches from the text of a merge.

use session_tree::merge::Conflict;

/// The heading of the list.
const HEADING: &str = "Conflicts with the current branch";

/// The most conflicts that are read, and the most characters of each part: a model may write anything.
const MAX_CONFLICTS: usize = 50;
const MAX_CHARS: usize = 500;

/// Reads the list under the heading: `- topic | here: … | there: …`. Any other item becomes a topic.
pub(super) fn read(text: &str) -> Vec<Conflict> {
    let is_heading = |line: &str| line.trim_start_matches('#').trim().eq_ignore_ascii_case(HEADING);
    let mut lines = text.lines().skip_while(|line| !(line.starts_with('#') && is_heading(line)));
    lines.next();
    let section = lines.take_while(|line| !line.starts_with('#') && !line.starts_with('<'));
    let items = section.filter_map(|line| line.trim().strip_prefix(['-', '*']).map(str::trim));
    items.filter(|item| !is_none(item)).map(conflict).take(MAX_CONFLICTS).collect()
}

fn conflict(item: &str) -> Conflict {
    let mut conflict = Conflict { topic: String::new(), ours: String::new(), theirs: String::new() };
    for part in item.split(" | ") {
        let clipped = |text: &str| text.trim().chars().take(MAX_CHARS).collect();
        match part.split_once(':') {
            Some((side, what)) if side.trim().eq_ignore_ascii_case("here") => conflict.ours = clipped(what),
            Some((side, what)) if side.trim().eq_ignore_ascii_case("there") => {
                conflict.theirs = clipped(what);
            }
            _ if conflict.topic.is_empty() => conflict.topic = clipped(part.trim_matches(['*', ' '])),
            _ => {}
        }
    }
    conflict
}

fn is_none(item: &str) -> bool {
    let item = item.trim_matches(['(', ')', '.', ' ']);
    item.is_empty() || item.eq_ignore_ascii_case("none")
}

#[cfg(test)]
mod tests;
