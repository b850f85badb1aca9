//! The session picker: find a session, open it, rename it, move it to the trash and take it back.
//!
//! Rows come from the engine's catalog as they are read; more may be added at any time. The picker reads no file: it
//! asks for what it needs ([`SessionPicker::unsearched`], [`SessionPicker::wants_preview`]), and requests of the user
//! are an [`Outcome`].

mod arrange;
mod draw;
mod preview;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use session_tree::{Relevance, SessionQuery, SessionSummary};

use crate::clean::clean;
use crate::dialog::{Answer, Item, Prompt, Question};
use crate::help::Help;
use crate::input::{changed_query, stepped};
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::width::cut;

use arrange::Place;

pub use preview::SessionPreview;

/// The sessions that are listed.
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
    /// Forks below their parents; without a query only.
    #[default]
    Threaded,
    /// The latest activity first.
    Recent,
    /// The best match first.
    Relevance,
}

/// A request of the user.
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

/// The progress of a list.
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

/// The sessions of a scope.
#[derive(Debug, Default)]
struct Listed {
    paths: HashSet<PathBuf>,
    loading: Loading,
}

/// The session picker.
#[derive(Debug, Default)]
pub struct SessionPicker {
    rows: HashMap<PathBuf, SessionSummary>,
    /// One for each [`Scope`].
    lists: [Listed; 2],
    scope: Scope,
    sort: Sort,
    named_only: bool,
    shows_paths: bool,
    preview: Option<bool>,
    query: String,
    /// The results of searching the text of sessions for the query.
    in_text: HashMap<PathBuf, Option<Relevance>>,
    /// The visible rows, unless `is_stale`.
    places: Vec<Place>,
    is_stale: bool,
    selected: Option<PathBuf>,
    /// True if the cursor was moved: it then stays on its session when the list changes.
    moved: bool,
    mode: Mode,
    /// The session that is open in this program.
    current: Option<PathBuf>,
    open_elsewhere: HashSet<PathBuf>,
    /// The sessions in the trash, latest last.
    trash: Vec<PathBuf>,
    previews: Option<(PathBuf, SessionPreview)>,
    notice: Option<String>,
    page: usize,
    shows_preview: bool,
}

/// The part of the picker that has the keyboard.
#[derive(Debug, Default)]
enum Mode {
    #[default]
    Browse,
    Rename(PathBuf, Prompt),
    Delete(PathBuf, Question),
    Help(Help),
}

impl SessionPicker {
    /// Opens the picker; the rows of the folder are added later.
    pub fn new(current: Option<PathBuf>) -> Self {
        let mut picker = Self { current, ..Self::default() };
        picker.lists[Scope::Folder as usize].loading = Loading::Running { done: 0, total: 0 };
        picker
    }

    /// Adds rows of a scope; rows of the same file are replaced.
    pub fn add_rows(&mut self, scope: Scope, rows: impl IntoIterator<Item = SessionSummary>) {
        for row in rows {
            self.lists[scope as usize].paths.insert(row.path.clone());
            self.rows.insert(row.path.clone(), row);
        }
        self.is_stale = true;
    }

    /// Sets the progress of a list; it is done when both numbers are equal.
    pub fn set_progress(&mut self, scope: Scope, done: usize, total: usize) {
        self.lists[scope as usize].loading =
            if done >= total { Loading::Done } else { Loading::Running { done, total } };
    }

    /// Adds sessions that other programs have open.
    pub fn add_open_elsewhere(&mut self, paths: HashSet<PathBuf>) {
        self.open_elsewhere.extend(paths);
    }

    /// Shows a message under the list until the next key.
    pub fn set_notice(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// Returns the sessions whose text is not searched yet.
    pub fn unsearched(&self) -> impl Iterator<Item = &Path> {
        let is_wanted = SessionQuery::parse(&self.query).asks_for_text();
        let paths = self.listed().paths.iter().filter(move |_| is_wanted);
        paths.map(PathBuf::as_path).filter(|path| !self.in_text.contains_key(*path))
    }

    /// Searches the text of a session, which is not kept.
    pub fn search_text(&mut self, path: &Path, text: &str) {
        let query = SessionQuery::parse(&self.query);
        let found = self.rows.get(path).and_then(|row| query.matches(row, Some(text)));
        self.in_text.insert(path.to_owned(), found);
        self.is_stale |= found.is_some();
    }

    /// Returns the session whose preview is missing.
    pub fn wants_preview(&self) -> Option<&Path> {
        let selected = self.selected.as_deref().filter(|_| self.shows_preview)?;
        let known = self.previews.as_ref().is_some_and(|(path, _)| path == selected);
        (!known).then_some(selected)
    }

    /// Sets the preview of a session.
    pub fn set_preview(&mut self, path: &Path, preview: SessionPreview) {
        self.previews = Some((path.to_owned(), preview));
    }

    /// Returns the session under the cursor.
    pub fn selected(&self) -> Option<&SessionSummary> {
        self.rows.get(self.selected.as_deref()?)
    }

    /// Turns an event of the terminal into an input for the current mode.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        let letters = if self.query.is_empty() { Letters::Act } else { Letters::Type };
        match &self.mode {
            Mode::Rename(_, prompt) => prompt.input(keymap, event),
            Mode::Delete(_, question) => question.input(keymap, event),
            Mode::Help(help) => help.input(keymap, event),
            Mode::Browse => keymap.input(event, &Screen::Picker.actions(), letters),
        }
    }

    fn listed(&self) -> &Listed {
        &self.lists[self.scope as usize]
    }
}

/// Keys.
impl SessionPicker {
    /// Takes one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, input: &Input) -> Option<Outcome> {
        self.notice = None;
        self.freshen();
        match (&mut self.mode, input) {
            (Mode::Browse, Input::Action(action)) => return self.act(*action),
            (Mode::Browse, Input::Char(_) | Input::Paste(_)) => self.edit_query(input),
            (Mode::Help(help), input) => {
                if help.update(input) {
                    self.mode = Mode::Browse;
                }
            }
            (Mode::Rename(path, prompt), input) => {
                let (path, answer) = (path.clone(), prompt.update(input)?);
                self.mode = Mode::Browse;
                let Answer::Given(name) = answer else { return None };
                return (!name.is_empty()).then(|| self.rename(path, name));
            }
            (Mode::Delete(path, question), input) => {
                let (path, answer) = (path.clone(), question.update(input)?);
                self.mode = Mode::Browse;
                return (answer == Answer::Given(0)).then(|| self.delete(path));
            }
        }
        None
    }

    fn act(&mut self, action: Action) -> Option<Outcome> {
        match action {
            Action::SelectConfirm => return self.openable().map(Outcome::Open),
            Action::PickerBranches => return self.openable().map(Outcome::Branches),
            Action::SelectCancel if self.query.is_empty() => return Some(Outcome::Cancel),
            Action::SelectCancel => self.set_query(String::new()),
            Action::PickerScope => return self.toggle_scope(),
            Action::PickerUndo => return self.undo(),
            Action::PickerSort => {
                self.sort = match self.sort {
                    Sort::Threaded => Sort::Recent,
                    Sort::Recent => Sort::Relevance,
                    Sort::Relevance => Sort::Threaded,
                };
                self.arrange();
            }
            Action::PickerNamed => {
                self.named_only = !self.named_only;
                self.arrange();
            }
            Action::PickerPath => self.shows_paths = !self.shows_paths,
            Action::PickerPreview => self.preview = Some(!self.shows_preview),
            Action::PickerRename => self.ask_name(),
            Action::PickerDelete => self.ask_delete(),
            Action::PickerDeleteIdle if self.query.is_empty() => self.ask_delete(),
            Action::PickerDeleteIdle => self.edit_query(&Input::Action(Action::DeleteWordBackward)),
            Action::DeleteWordBackward | Action::DeleteBackward => self.edit_query(&Input::Action(action)),
            Action::Help => self.mode = Mode::Help(Help::default()),
            _ => self.walk(action),
        }
        None
    }

    fn walk(&mut self, action: Action) {
        let Some(last) = self.places.len().checked_sub(1) else { return };
        let at = self.position().unwrap_or(0);
        let to = match action {
            // A long list of sessions does not wrap around.
            Action::SelectUp => Some(at.saturating_sub(1)),
            Action::SelectDown => Some((at + 1).min(last)),
            _ => stepped(action, at, last, self.page.max(1)),
        };
        if let Some(to) = to {
            self.go(self.places[to].path.clone());
        }
    }

    fn go(&mut self, path: PathBuf) {
        self.selected = Some(path);
        self.moved = true;
    }

    /// Returns the session under the cursor, if it can be opened.
    fn openable(&mut self) -> Option<PathBuf> {
        let row = self.selected()?;
        if row.is_session() {
            return Some(row.path.clone());
        }
        let why = row.damage.as_ref().map(ToString::to_string).unwrap_or_default();
        self.set_notice(format!("this file cannot be opened: {why}"));
        None
    }

    /// Changes the scope. A list is requested once; one that comes late never switches back.
    fn toggle_scope(&mut self) -> Option<Outcome> {
        self.scope = match self.scope {
            Scope::Folder => Scope::All,
            Scope::All => Scope::Folder,
        };
        let scope = self.scope;
        let listed = &mut self.lists[scope as usize];
        let is_new = listed.loading == Loading::NotAsked;
        if is_new {
            listed.loading = Loading::Running { done: 0, total: 0 };
        }
        self.arrange();
        is_new.then_some(Outcome::Load(scope))
    }

    fn edit_query(&mut self, input: &Input) {
        if let Some(query) = changed_query(&self.query, input) {
            self.set_query(query);
        }
    }

    fn set_query(&mut self, query: String) {
        self.query = query;
        self.in_text.clear();
        self.arrange();
    }

    fn ask_name(&mut self) {
        if let Some(row) = self.selected() {
            let prompt = Prompt::new("Rename session", row.name.as_deref().unwrap_or_default());
            self.mode = Mode::Rename(row.path.clone(), prompt);
        }
    }

    fn rename(&mut self, path: PathBuf, name: String) -> Outcome {
        if let Some(row) = self.rows.get_mut(&path) {
            row.name = Some(name.clone());
        }
        self.arrange();
        Outcome::Rename(path, name)
    }

    fn ask_delete(&mut self) {
        let Some(row) = self.selected() else { return };
        if self.current.as_ref() == Some(&row.path) {
            self.set_notice("the session that is open cannot be deleted");
            return;
        }
        let title = format!("Move \"{}\" to the trash?", cut(&clean(row.title()), 40));
        let elsewhere = self.open_elsewhere.contains(&row.path);
        let elsewhere = if elsewhere { "another program has it open; " } else { "" };
        let yes = Item::new("Yes", format!("{elsewhere}it can be taken back until you quit"));
        self.mode = Mode::Delete(row.path.clone(), Question::new(title, "", vec![yes, Item::new("No", "")]));
    }

    fn delete(&mut self, path: PathBuf) -> Outcome {
        let at = self.position();
        self.trash.push(path.clone());
        self.moved = false;
        self.arrange();
        // The cursor goes to the row that is in this place now.
        let last = self.places.len().checked_sub(1);
        if let Some(place) = at.zip(last).map(|(at, last)| &self.places[at.min(last)]) {
            self.go(place.path.clone());
        }
        Outcome::Delete(path)
    }

    /// Puts a session back into the list whose file could not be moved, or that the user wants back.
    pub fn put_back(&mut self, path: &Path) {
        let trashed = self.trash.len();
        self.trash.retain(|gone| gone != path);
        if self.trash.len() < trashed {
            self.go(path.to_path_buf());
            self.arrange();
        }
    }

    fn undo(&mut self) -> Option<Outcome> {
        let Some(path) = self.trash.last().cloned() else {
            self.set_notice("nothing to take back");
            return None;
        };
        self.put_back(&path);
        Some(Outcome::Restore(path))
    }
}

#[cfg(test)]
mod tests;
