//! Which rows show, in which order, and which hang below others.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use session_tree::{Level, SessionSummary, Timestamp};

use super::{SessionPicker, Sort};

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Which session.
    pub(super) at: usize,
    /// The lines before it, in threads.
    pub(super) levels: Vec<Level>,
}

impl SessionPicker {
    /// Makes the rows anew if something came since they were made.
    pub(super) fn freshen(&mut self) {
        if self.is_stale {
            self.arrange();
        }
    }

    /// Makes the rows anew; the cursor stays on its session if it was moved there.
    pub(super) fn arrange(&mut self) {
        self.is_stale = false;
        let threaded = self.sort == Sort::Threaded && self.finder.is_empty();
        let shown = self.fitting();
        self.places = if threaded {
            threads(&self.listed().rows, &shown)
        } else {
            shown.iter().map(|at| Place { at: *at, levels: Vec::new() }).collect()
        };
        let selected = self.selected.as_deref().filter(|_| self.moved);
        if selected.is_none_or(|selected| self.position_of(selected).is_none()) {
            self.selected = self.places.first().map(|place| self.listed().rows[place.at].path.clone());
            self.moved = false;
        }
    }

    pub(super) fn position_of(&self, path: &std::path::Path) -> Option<usize> {
        self.places.iter().position(|place| self.listed().rows[place.at].path == path)
    }

    /// The sessions that fit, best or latest first.
    fn fitting(&self) -> Vec<usize> {
        let rows = &self.listed().rows;
        let named = |row: &SessionSummary| row.name.as_deref().is_some_and(|name| !name.trim().is_empty());
        let mut fitting: Vec<(u8, usize)> = Vec::new();
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| !self.named_only || named(row)) {
            let exact =
                self.finder.fits(row, None).or_else(|| self.in_text.get(&row.path).copied().flatten());
            match exact {
                Some(session_tree::Relevance::Name) => fitting.push((0, at)),
                Some(session_tree::Relevance::Elsewhere) => fitting.push((1, at)),
                None if self.finder.is_scattered(row) => fitting.push((2, at)),
                None => {}
            }
        }
        let by_relevance = self.sort == Sort::Relevance;
        // Rows come in any order; those of the same time have one, too.
        fitting.sort_by(|(one_tier, one), (other_tier, other)| {
            let tiers = if by_relevance { one_tier.cmp(other_tier) } else { Ordering::Equal };
            let newest = || rows[*other].modified.cmp(&rows[*one].modified);
            tiers.then_with(newest).then_with(|| rows[*one].path.cmp(&rows[*other].path))
        });
        fitting.into_iter().map(|(_, at)| at).collect()
    }
}

/// Puts forks below what they were forked from; the thread with the latest activity comes first.
fn threads(rows: &[SessionSummary], shown: &[usize]) -> Vec<Place> {
    let parents = parents(rows, shown);
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for at in shown {
        children.entry(parents.get(at).copied()).or_default().push(*at);
    }
    let latest = latest(rows, shown, &parents);
    let newest_first = |at: &usize| Reverse(latest.get(at).copied());
    for siblings in children.values_mut() {
        siblings.sort_by_key(newest_first);
    }
    let mut places = Vec::new();
    let mut stack: Vec<Place> = Vec::new();
    push_children(&children, None, &[], &mut stack);
    while let Some(place) = stack.pop() {
        push_children(&children, Some(place.at), &place.levels, &mut stack);
        places.push(place);
    }
    places
}

fn push_children(
    children: &HashMap<Option<usize>, Vec<usize>>,
    parent: Option<usize>,
    above: &[Level],
    stack: &mut Vec<Place>,
) {
    let below = children.get(&parent).map(Vec::as_slice).unwrap_or_default();
    for (number, at) in below.iter().enumerate().rev() {
        let mut levels: Vec<Level> = above.iter().map(|level| past(*level)).collect();
        if parent.is_some() {
            levels.push(if number + 1 == below.len() { Level::Corner } else { Level::Tee });
        }
        stack.push(Place { at: *at, levels });
    }
}

/// What a connector looks like from the rows below it.
fn past(level: Level) -> Level {
    match level {
        Level::Tee | Level::Line => Level::Line,
        Level::Corner | Level::Blank => Level::Blank,
    }
}

/// Finds the parent of each session that was forked from another one of the list. A circle has no parents.
fn parents(rows: &[SessionSummary], shown: &[usize]) -> HashMap<usize, usize> {
    let by_path: HashMap<&str, usize> =
        shown.iter().filter_map(|at| Some((rows[*at].path.to_str()?, *at))).collect();
    let by_id: HashMap<&str, usize> = shown.iter().map(|at| (rows[*at].id.as_str(), *at)).collect();
    let parent = |at: &usize| {
        let named = rows[*at].parent_session.as_deref()?;
        by_path.get(named).or_else(|| by_id.get(named)).copied().filter(|parent| parent != at)
    };
    let mut parents: HashMap<usize, usize> = shown.iter().filter_map(|at| Some((*at, parent(at)?))).collect();
    for at in shown {
        let (mut above, mut steps) = (parents.get(at).copied(), 0);
        while let Some(one) = above {
            steps += 1;
            if one == *at || steps > shown.len() {
                parents.remove(at);
                break;
            }
            above = parents.get(&one).copied();
        }
    }
    parents
}

/// Returns the latest activity at or below each session.
fn latest(
    rows: &[SessionSummary],
    shown: &[usize],
    parents: &HashMap<usize, usize>,
) -> HashMap<usize, Timestamp> {
    let mut latest: HashMap<usize, Timestamp> = shown.iter().map(|at| (*at, rows[*at].modified)).collect();
    for at in shown {
        let time = rows[*at].modified;
        let mut above = parents.get(at).copied();
        while let Some(parent) = above {
            match latest.get_mut(&parent) {
                Some(known) if *known < time => *known = time,
                _ => break,
            }
            above = parents.get(&parent).copied();
        }
    }
    latest
}
