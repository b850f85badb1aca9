//! Draws forks below the session they were made from.
//!
//! ```text
//! Greeter
//! ├─ Greeter in Zig
//! └─ Greeter in Rust
//!    └─ Greeter in Rust, async
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use session_tree::Timestamp;

use super::Row;

/// Sorts sessions into threads; those with the latest activity come first.
pub(super) fn threaded(rows: Vec<Row>) -> Vec<Row> {
    let parents = parents(&rows);
    let activity = activity(&rows, &parents);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| Reverse(activity[*at]));
    let mut children = vec![Vec::new(); rows.len()];
    for at in &order {
        if let Some(parent) = parents[*at] {
            children[parent].push(*at);
        }
    }
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut drawn = Vec::with_capacity(rows.len());
    // Sessions that name each other as parent have no root; they follow the others.
    let roots = order.iter().filter(|at| parents[**at].is_none());
    for root in roots.chain(&order) {
        // Sessions with their connector, and the lines that are drawn before their own forks.
        let mut stack = vec![(*root, String::new(), String::new())];
        while let Some((at, connector, below)) = stack.pop() {
            let Some(row) = rows[at].take() else { continue };
            drawn.push(Row { connector, ..row });
            // The first child must be on top of the stack.
            for (place, child) in children[at].iter().enumerate().rev() {
                let is_last = place + 1 == children[at].len();
                let (corner, line) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                stack.push((*child, format!("{below}{corner}"), format!("{below}{line}")));
            }
        }
    }
    drawn
}

/// Finds the session that each was forked from: by the path of its file, else by its id.
fn parents(rows: &[Row]) -> Vec<Option<usize>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let has_forks = rows.iter().any(|row| row.session.parent_session.is_some());
    let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate().filter(|_| has_forks) {
        by_path.insert(real(&row.session.path), at);
        by_id.insert(&row.session.id, at);
    }
    let parent = |(at, row): (usize, &Row)| {
        let named = row.session.parent_session.as_deref()?;
        let found = by_path.get(&real(named.as_ref())).or_else(|| by_id.get(named));
        found.copied().filter(|parent| *parent != at)
    };
    rows.iter().enumerate().map(parent).collect()
}

/// Returns the latest activity of each session and its forks.
fn activity(rows: &[Row], parents: &[Option<usize>]) -> Vec<Timestamp> {
    let mut latest: Vec<Timestamp> = rows.iter().map(|row| row.session.modified).collect();
    for session in 0..rows.len() {
        let mut at = session;
        // The comparison also ends circles.
        while let Some(parent) = parents[at].filter(|parent| latest[*parent] < latest[at]) {
            latest[parent] = latest[at];
            at = parent;
        }
    }
    latest
}
