//! The session picker: find a session, open it, rename it, throw it away and take it back.
//!
//! Rows come from the engine's catalog, as they are read: the first ones show at once and more may be given at any time.
//! The picker reads no file; what it needs is asked for ([`SessionPicker::unsearched`],
//! [`SessionPicker::wants_preview`]) and what a person wants is an [`Outcome`].

mod act;
mod arrange;
mod draw;
mod preview;
mod query;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use session_tree::{Relevance, SessionSummary};

use crate::dialog::{Confirm, Prompt};
use crate::help::{HELP_ACTIONS, Help};
use crate::keys::{Input, Keymap, Letters};

use arrange::Place;
use query::Finder;

pub use preview::SessionPreview;

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// Those of the current folder.
    #[default]
    Folder,
    /// All.
    All,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Forks below what they were forked from; without a query only.
    #[default]
    Threaded,
    /// The latest activity first.
    Recent,
    /// What fits the query best first.
    Relevance,
}

/// What a person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Open this session.
    Open(PathBuf),
    /// Choose a branch of this session.
    Branches(PathBuf),
    /// List the sessions of this scope; the picker stays open.
    Load(Scope),
    /// Give this session a name; the picker stays open.
    Rename(PathBuf, String),
    /// Move this session to the trash; the picker stays open.
    Delete(PathBuf),
    /// Take this session out of the trash; the picker stays open.
    Restore(PathBuf),
    /// Close the picker.
    Cancel,
}

/// How far a list has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Loading {
    #[default]
    NotAsked,
    Running {
        done: usize,
        total: usize,
    },
    Done,
}

/// The session picker.
#[derive(Debug)]
pub struct SessionPicker {
    folder: Listed,
    all: Listed,
    scope: Scope,
    sort: Sort,
    named_only: bool,
    shows_paths: bool,
    preview: Option<bool>,
    query: String,
    finder: Finder,
    /// What the text of sessions says about the query.
    in_text: HashMap<PathBuf, Option<Relevance>>,
    /// The rows as they show, unless something came since.
    places: Vec<Place>,
    is_stale: bool,
    selected: Option<PathBuf>,
    /// The cursor was moved, so it stays on its session when the list changes.
    moved: bool,
    mode: Mode,
    /// The session that is open in this program.
    current: Option<PathBuf>,
    open_elsewhere: HashSet<PathBuf>,
    /// What was thrown away, latest last.
    trash: Vec<Trashed>,
    previews: Option<(PathBuf, SessionPreview)>,
    notice: Option<String>,
    page: usize,
    shows_preview: bool,
}

/// A session that was thrown away, and the lists it was in.
#[derive(Debug)]
struct Trashed {
    row: SessionSummary,
    scopes: Vec<Scope>,
}

#[derive(Debug, Default)]
struct Listed {
    rows: Vec<SessionSummary>,
    by_path: HashMap<PathBuf, usize>,
    loading: Loading,
}

impl Listed {
    /// Adds a row, or replaces the one of the same file.
    fn put(&mut self, row: SessionSummary) {
        match self.by_path.get(&row.path) {
            Some(at) => self.rows[*at] = row,
            None => {
                self.by_path.insert(row.path.clone(), self.rows.len());
                self.rows.push(row);
            }
        }
    }

    fn get(&self, path: &Path) -> Option<&SessionSummary> {
        self.by_path.get(path).map(|at| &self.rows[*at])
    }

    fn get_mut(&mut self, path: &Path) -> Option<&mut SessionSummary> {
        self.by_path.get(path).map(|at| &mut self.rows[*at])
    }

    fn take(&mut self, path: &Path) -> Option<SessionSummary> {
        let row = self.rows.remove(self.by_path.remove(path)?);
        self.by_path = self.rows.iter().enumerate().map(|(at, row)| (row.path.clone(), at)).collect();
        Some(row)
    }
}

/// What has the keyboard.
#[derive(Debug)]
enum Mode {
    Browse,
    Rename(PathBuf, Prompt),
    Delete(PathBuf, Confirm),
    Help(Help),
}

impl SessionPicker {
    /// Opens the picker; the rows of the folder are given later.
    pub fn new(current: Option<PathBuf>) -> Self {
        Self {
            folder: Listed { loading: Loading::Running { done: 0, total: 0 }, ..Listed::default() },
            all: Listed::default(),
            scope: Scope::Folder,
            sort: Sort::default(),
            named_only: false,
            shows_paths: false,
            preview: None,
            query: String::new(),
            finder: Finder::default(),
            in_text: HashMap::new(),
            places: Vec::new(),
            is_stale: false,
            selected: None,
            moved: false,
            mode: Mode::Browse,
            current,
            open_elsewhere: HashSet::new(),
            trash: Vec::new(),
            previews: None,
            notice: None,
            page: 10,
            shows_preview: false,
        }
    }

    /// Gives rows of a scope, many or one by one as they are read; rows of the same file are replaced.
    pub fn add_rows(&mut self, scope: Scope, rows: impl IntoIterator<Item = SessionSummary>) {
        for row in rows {
            if self.trash.iter().all(|gone| gone.row.path != row.path) {
                self.listed_mut(scope).put(row);
            }
        }
        self.is_stale = true;
    }

    /// Tells how far the list of a scope has come; it is done when both numbers are equal.
    pub fn set_progress(&mut self, scope: Scope, done: usize, total: usize) {
        self.listed_mut(scope).loading =
            if done >= total { Loading::Done } else { Loading::Running { done, total } };
    }

    /// Tells which sessions other programs have open.
    pub fn add_open_elsewhere(&mut self, paths: HashSet<PathBuf>) {
        self.open_elsewhere.extend(paths);
    }

    /// Tells something under the list until the next key.
    pub fn set_notice(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// Returns the sessions whose text the query has to be looked for in.
    pub fn unsearched(&self) -> impl Iterator<Item = &Path> {
        let wanted = self.finder.asks_for_text();
        let rows = self.listed().rows.iter().filter(move |_| wanted);
        rows.map(|row| row.path.as_path()).filter(|path| !self.in_text.contains_key(*path))
    }

    /// Tells what was said in a session; the text is not kept.
    pub fn tell_text(&mut self, path: &Path, text: &str) {
        let fits = self.listed().get(path).and_then(|row| self.finder.fits(row, Some(text)));
        self.in_text.insert(path.to_owned(), fits);
        self.is_stale |= fits.is_some();
    }

    /// Returns the session whose preview is missing.
    pub fn wants_preview(&self) -> Option<&Path> {
        let selected = self.selected.as_deref().filter(|_| self.shows_preview)?;
        let known = self.previews.as_ref().is_some_and(|(path, _)| path == selected);
        (!known).then_some(selected)
    }

    /// Gives the preview of a session.
    pub fn set_preview(&mut self, path: &Path, preview: SessionPreview) {
        self.previews = Some((path.to_owned(), preview));
    }

    /// Returns the session under the cursor.
    pub fn selected(&self) -> Option<&SessionSummary> {
        self.listed().get(self.selected.as_deref()?)
    }

    /// Returns the query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Turns an event of the terminal into what the picker takes now.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.mode {
            Mode::Rename(_, prompt) => prompt.input(keymap, event),
            Mode::Delete(_, confirm) => confirm.input(keymap, event),
            Mode::Help(_) => keymap.input(event, HELP_ACTIONS, Letters::Act),
            Mode::Browse if self.query.is_empty() => keymap.input(event, act::ACTIONS, Letters::Act),
            Mode::Browse => keymap.input(event, act::ACTIONS, Letters::Type),
        }
    }

    fn listed(&self) -> &Listed {
        match self.scope {
            Scope::Folder => &self.folder,
            Scope::All => &self.all,
        }
    }

    fn listed_mut(&mut self, scope: Scope) -> &mut Listed {
        match scope {
            Scope::Folder => &mut self.folder,
            Scope::All => &mut self.all,
        }
    }
}

#[cfg(test)]
mod tests;
