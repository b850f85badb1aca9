//! The sessions that a session was forked from, and those that were forked from it.

use std::path::{Path, PathBuf};

use session_tree::{Session, SessionSummary};

use crate::app::{App, is_same_file};

/// What is known of the family of a session without reading whole files.
pub(super) struct Related {
    /// Where it was forked from: a path, or an id.
    pub(super) parent: Option<String>,
    /// What was forked from it, as far as the sessions of its project tell.
    pub(super) children: Vec<Child>,
}

/// A session that was forked from another.
pub(super) struct Child {
    pub(super) path: PathBuf,
    pub(super) id: String,
    pub(super) title: String,
}

impl Related {
    pub(super) fn of(session: &Session, app: &App) -> Self {
        let header = session.header();
        let parent = header.parent_session().map(|parent| parent.into_owned());
        let cwd = header.cwd().unwrap_or_default();
        let mut children = Vec::new();
        // Nothing is said of a family that cannot be looked at.
        for catalog in app.catalogs().into_iter().flatten() {
            let listing = catalog.list(&cwd);
            children.extend(listing.quick().filter(|row| is_child(row, session)).map(Child::of));
        }
        Related { parent, children }
    }
}

impl Child {
    fn of(row: SessionSummary) -> Self {
        Child { title: row.title().to_owned(), path: row.path, id: row.id }
    }
}

fn is_child(row: &SessionSummary, session: &Session) -> bool {
    let Some(parent) = &row.parent_session else { return false };
    *parent == session.header().id()
        || session.file().is_some_and(|file| is_same_file(file, Path::new(parent)))
}
