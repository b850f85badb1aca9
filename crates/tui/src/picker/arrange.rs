//! Decides which rows are visible, in which order, and which are drawn below others.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter::successors;
use std::path::{Path, PathBuf};

use session_tree::{Relevance, SessionQuery, SessionSummary, Timestamp};
use session_view::Level;

use super::{SessionPicker, Sort};

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The lines before it, in threads.
    pub(super) levels: Vec<Level>,
}

impl SessionPicker {
    /// Makes the rows again if something was added since they were made.
    pub(super) fn freshen(&mut self) {
        if self.is_stale {
            self.arrange();
        }
    }

    /// Makes the rows again; the cursor stays on its session if it was moved there.
    pub(super) fn arrange(&mut self) {
        self.is_stale = false;
        let query = SessionQuery::parse(&self.query);
        let shown = self.matching(&query);
        self.places = if self.sort == Sort::Threaded && query.is_empty() {
            threads(&shown)
        } else {
            shown.iter().map(|row| Place { path: row.path.clone(), levels: Vec::new() }).collect()
        };
        if !self.moved || self.position().is_none() {
            self.selected = self.places.first().map(|place| place.path.clone());
            self.moved = false;
        }
    }

    /// Returns the row of the cursor.
    pub(super) fn position(&self) -> Option<usize> {
        self.places.iter().position(|place| Some(&place.path) == self.selected.as_ref())
    }

    /// Returns the sessions that match the query, best or latest first.
    fn matching(&self, query: &SessionQuery) -> Vec<&SessionSummary> {
        let is_named = |row: &SessionSummary| row.name.as_deref().is_some_and(|name| !name.trim().is_empty());
        let rows = self.listed().paths.iter().filter_map(|path| self.rows.get(path));
        let rows = rows.filter(|row| !self.trash.contains(&row.path) && (!self.named_only || is_named(row)));
        let words = scattered_words(&self.query);
        let tier = |row: &SessionSummary| {
            let found = query.matches(row, None).or_else(|| self.in_text.get(&row.path).copied().flatten());
            match found {
                Some(Relevance::Name) => Some(0),
                Some(Relevance::Elsewhere) => Some(1),
                None => is_scattered(&words, row).then_some(2),
            }
        };
        let mut matching: Vec<(u8, &SessionSummary)> =
            rows.filter_map(|row| Some((tier(row)?, row))).collect();
        let by_relevance = self.sort == Sort::Relevance;
        matching.sort_by_key(|(tier, row)| {
            (if by_relevance { *tier } else { 0 }, Reverse(row.modified), row.path.as_path())
        });
        matching.into_iter().map(|(_, row)| row).collect()
    }
}

/// Returns the words of a query in lower case, unless it has phrases, patterns or conditions.
fn scattered_words(query: &str) -> Vec<String> {
    let is_plain = !query.contains(['"', ':']);
    query.to_lowercase().split_whitespace().filter(|_| is_plain).map(str::to_owned).collect()
}

/// Returns true if the letters of each word occur in order in the name, or in the folder.
fn is_scattered(words: &[String], row: &SessionSummary) -> bool {
    let texts = [row.name.as_deref().unwrap_or_default().to_lowercase(), row.cwd.to_lowercase()];
    let is_in = |word: &str, text: &str| {
        let mut letters = text.chars();
        word.chars().all(|wanted| letters.any(|letter| letter == wanted))
    };
    !words.is_empty() && words.iter().all(|word| texts.iter().any(|text| is_in(word, text)))
}

type Parents<'r> = HashMap<&'r Path, &'r Path>;

/// Puts forks below their parents; the thread with the latest activity comes first.
fn threads(shown: &[&SessionSummary]) -> Vec<Place> {
    let parents = parents(shown);
    let latest = latest(shown, &parents);
    let mut sorted: Vec<&Path> = shown.iter().map(|row| row.path.as_path()).collect();
    sorted.sort_by_key(|path| Reverse(latest.get(path)));
    let mut children: HashMap<Option<&Path>, Vec<&Path>> = HashMap::new();
    for path in sorted {
        children.entry(parents.get(path).copied()).or_default().push(path);
    }
    let mut places = Vec::new();
    let roots = children.get(&None).into_iter().flatten().rev();
    let mut stack: Vec<(&Path, Vec<Level>)> = roots.map(|path| (*path, Vec::new())).collect();
    while let Some((path, levels)) = stack.pop() {
        let below = children.get(&Some(path)).map(Vec::as_slice).unwrap_or_default();
        for (number, child) in below.iter().enumerate().rev() {
            let mut levels: Vec<Level> = levels.iter().copied().map(past).collect();
            levels.push(if number + 1 == below.len() { Level::Corner } else { Level::Tee });
            stack.push((*child, levels));
        }
        places.push(Place { path: path.to_path_buf(), levels });
    }
    places
}

/// Returns the look of a connector in the rows below it.
fn past(level: Level) -> Level {
    match level {
        Level::Tee | Level::Line => Level::Line,
        Level::Corner | Level::Blank => Level::Blank,
    }
}

/// Finds the parents of forks in the list. Sessions in a cycle have none.
fn parents<'r>(shown: &[&'r SessionSummary]) -> Parents<'r> {
    let by_id: HashMap<&str, &Path> = shown.iter().map(|row| (row.id.as_str(), row.path.as_path())).collect();
    let by_path: HashMap<&Path, &Path> = by_id.values().map(|path| (*path, *path)).collect();
    let parent = |row: &SessionSummary| {
        let named = row.parent_session.as_deref()?;
        by_path.get(Path::new(named)).or_else(|| by_id.get(named)).copied()
    };
    let mut parents: Parents<'r> =
        shown.iter().filter_map(|row| Some((row.path.as_path(), parent(row)?))).collect();
    let above = |path: &&'r Path| parents.get(*path).copied();
    let is_in_cycle = |path: &&Path| {
        successors(parents.get(*path).copied(), above).take(shown.len()).any(|ancestor| ancestor == *path)
    };
    let cyclic: Vec<&Path> = parents.keys().copied().filter(is_in_cycle).collect();
    parents.retain(|path, _| !cyclic.contains(path));
    parents
}

/// Returns the latest activity at or below each session.
fn latest<'r>(shown: &[&'r SessionSummary], parents: &Parents<'r>) -> HashMap<&'r Path, Timestamp> {
    let mut latest: HashMap<&Path, Timestamp> = HashMap::new();
    for row in shown {
        let mut at = Some(row.path.as_path());
        while let Some(path) = at {
            let known = latest.entry(path).or_insert(row.modified);
            *known = row.modified.max(*known);
            at = parents.get(path).copied();
        }
    }
    latest
}
