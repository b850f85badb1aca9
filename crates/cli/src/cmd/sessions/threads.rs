//! Forks drawn below the session they were made from.
//!
//! ```text
//! Greeter
//! ├─ Greeter in Zig
//! └─ Greeter in Rust
//!    └─ Greeter in Rust, async
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use session_tree::{SessionSummary, Timestamp};

use super::Row;

/// Sessions and who was forked from whom.
#[derive(Debug)]
pub(super) struct Threads {
    sessions: Vec<Option<SessionSummary>>,
    parents: Vec<Option<usize>>,
    /// By session: its forks. The one whose thread has the latest activity comes first.
    children: Vec<Vec<usize>>,
    rows: Vec<Row>,
}

/// What is still to be drawn.
struct Pending {
    session: usize,
    /// What is drawn before the title.
    connector: String,
    /// What is drawn before the titles of its forks, without their own connectors.
    below: String,
}

impl Threads {
    /// Brings sessions into the order of their threads; those with the latest activity come first.
    pub(super) fn of(sessions: Vec<SessionSummary>) -> Vec<Row> {
        let parents = parents(&sessions);
        let activity = activity(&sessions, &parents);
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(activity[*at]));
        let mut children = vec![Vec::new(); sessions.len()];
        for at in &order {
            if let Some(parent) = parents[*at] {
                children[parent].push(*at);
            }
        }
        let sessions = sessions.into_iter().map(Some).collect();
        let mut threads = Threads { sessions, parents, children, rows: Vec::new() };
        for root in order.iter().filter(|at| threads.parents[**at].is_none()).copied().collect::<Vec<_>>() {
            threads.draw(root);
        }
        // Sessions that claim to come from each other have no root.
        order.into_iter().for_each(|at| threads.draw(at));
        threads.rows
    }

    fn draw(&mut self, root: usize) {
        let mut stack = vec![Pending { session: root, connector: String::new(), below: String::new() }];
        while let Some(Pending { session: at, connector, below }) = stack.pop() {
            let Some(session) = self.sessions[at].take() else { continue };
            self.rows.push(Row { session, connector });
            let children = &self.children[at];
            // The first one is to be on top of the stack.
            for (place, child) in children.iter().enumerate().rev() {
                let is_last = place + 1 == children.len();
                let (corner, line) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                stack.push(Pending {
                    session: *child,
                    connector: format!("{below}{corner}"),
                    below: format!("{below}{line}"),
                });
            }
        }
    }
}

/// Finds the session that each was forked from: by the path of its file, else by its id.
fn parents(sessions: &[SessionSummary]) -> Vec<Option<usize>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let has_forks = sessions.iter().any(|session| session.parent_session.is_some());
    let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (at, session) in sessions.iter().enumerate().filter(|_| has_forks) {
        by_path.insert(real(&session.path), at);
        by_id.insert(&session.id, at);
    }
    let parent = |(at, session): (usize, &SessionSummary)| {
        let named = session.parent_session.as_deref()?;
        let found = by_path.get(&real(named.as_ref())).or_else(|| by_id.get(named));
        found.copied().filter(|parent| *parent != at)
    };
    sessions.iter().enumerate().map(parent).collect()
}

/// Finds the latest activity of each session and all that come from it.
fn activity(sessions: &[SessionSummary], parents: &[Option<usize>]) -> Vec<Timestamp> {
    let mut latest: Vec<Timestamp> = sessions.iter().map(|session| session.modified).collect();
    for session in 0..sessions.len() {
        let mut at = session;
        // Who has seen something later has told it to all above already; this ends circles too.
        while let Some(parent) = parents[at].filter(|parent| latest[*parent] < latest[at]) {
            latest[parent] = latest[at];
            at = parent;
        }
    }
    latest
}
