//! The tree selector: walk the tree of a session, search it, label it, and choose where to go.
//!
//! The engine's [`Outline`] decides which entries have a row and what it says; here are the cursor, the query, the panes
//! and the keys. A selector is kept while a session is open, so that it opens again as it was
//! ([`TreeSelector::reopen`]).
//!
//! Reads a session, never changes it. Requests of the user are an [`Outcome`].

mod act;
mod draw;
mod line;
mod preview;
mod view;

use session_tree::{EntryId, Node, Session};
use session_view::{Filter, Outline, OutlineOptions, SearchProgress};

use crate::dialog::{Answer, Prompt};
use crate::help::Help;
use crate::input::changed_query;
use crate::keys::{Input, Keymap, Letters, Screen};
use crate::numbers::count;

/// A request of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Go to this entry; what is left behind may be summarised.
    Select(EntryId),
    /// Go to this entry without asking anything.
    BranchHere(EntryId),
    /// Cherry-pick this entry to the leaf.
    Pick(EntryId),
    /// Merge the branch up to this entry.
    Merge(EntryId),
    /// Export the branch of this entry.
    Export(EntryId),
    /// Fork into a new session at this entry.
    Fork(EntryId),
    /// Set or clear the label of this entry; the selector stays open.
    SetLabel(EntryId, Option<String>),
    /// Copy the id of this entry to the clipboard; the selector stays open.
    CopyId(EntryId),
    /// Copy the text of this entry to the clipboard; the selector stays open.
    CopyText(EntryId),
    /// Close the selector.
    Cancel,
}

impl Outcome {
    /// Returns true if the selector stays open.
    pub fn stays_open(&self) -> bool {
        matches!(self, Outcome::SetLabel(..) | Outcome::CopyId(_) | Outcome::CopyText(_))
    }
}

/// The reason why an entry is chosen, if not to go there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purpose {
    /// The title of the selector.
    pub title: String,
    /// A short description of what Enter does.
    pub confirm: String,
}

/// How a selector starts out.
#[derive(Debug, Clone, Default)]
pub struct TreeOptions {
    /// Which entries have a row.
    pub filter: Filter,
    /// The home directory; paths inside it are shown with `~`.
    pub home: Option<String>,
    /// Whether a change of the filter unfolds everything, as pi does.
    pub filter_unfolds: bool,
    /// The reason why an entry is chosen, if not to go there.
    pub purpose: Option<Purpose>,
    /// Which entry is selected first, instead of the leaf.
    pub start: Option<Node>,
}

/// The tree selector.
#[derive(Debug)]
pub struct TreeSelector {
    outline: Outline,
    options: TreeOptions,
    /// The entry the cursor is on; none if there are no rows.
    selected: Option<Node>,
    /// The entry the cursor wants to be on, through empty lists and unfinished searches.
    wanted: Option<Node>,
    mode: Mode,
    label_times: bool,
    /// Whether the preview shows; by default it does where there is room for it beside the list.
    preview: Option<bool>,
    preview_top: usize,
    search: Option<SearchProgress>,
    /// A message under the list until the next key.
    notice: Option<String>,
    /// The name and size of the session, for the title.
    counts: Vec<String>,
    /// The state of the session that the rows show.
    shown: SessionState,
    view: view::View,
}

/// The number of entries and the leaf: they decide which rows there are and how they are marked.
type SessionState = (usize, Option<Node>);

/// The part of the selector that has the keyboard.
#[derive(Debug)]
enum Mode {
    Browse,
    Label(EntryId, Prompt),
    Help(Help),
}

impl TreeSelector {
    /// Opens the selector; none if the session has no entries.
    pub fn open(session: &Session, options: TreeOptions) -> Option<Self> {
        if session.tree().is_empty() {
            return None;
        }
        let TreeOptions { filter, home, filter_unfolds, start, .. } = options.clone();
        let outline = Outline::new(session, OutlineOptions { filter, home, filter_unfolds });
        let selected = outline.initial_selection(start);
        Some(Self {
            selected,
            wanted: start.or(session.leaf()).filter(|_| selected.is_none()).or(selected),
            outline,
            options,
            mode: Mode::Browse,
            label_times: false,
            preview: None,
            preview_top: 0,
            search: None,
            notice: None,
            counts: counts(session),
            shown: state_of(session),
            view: view::View::default(),
        })
    }

    /// Makes the rows of the session as it is now; cursor, folds, filter and search stay.
    fn refresh(&mut self, session: &Session) {
        self.outline.refresh(session);
        self.counts = counts(session);
        self.shown = state_of(session);
        self.view.preview = None;
        if self.search.is_some() {
            self.continue_search(session, 0);
        }
        self.settle();
    }

    /// Refreshes the rows if the session has changed since they were made.
    fn follow(&mut self, session: &Session) {
        if self.shown != state_of(session) {
            self.refresh(session);
        }
    }

    /// Opens the selector again as it was left, on `start` if given; else where the cursor was.
    pub fn reopen(&mut self, session: &Session, start: Option<Node>) {
        self.mode = Mode::Browse;
        self.notice = None;
        self.wanted = start.or(self.wanted);
        self.refresh(session);
    }

    /// Returns which entries have a row.
    pub fn filter(&self) -> Filter {
        self.outline.filter()
    }

    /// Returns the query.
    pub fn query(&self) -> &str {
        self.outline.query()
    }

    /// Shows a message under the list until the next key.
    pub fn set_notice(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// Turns an event of the terminal into an input for the current mode.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        let letters = if self.query().is_empty() { Letters::Act } else { Letters::Type };
        match &self.mode {
            Mode::Label(_, prompt) => prompt.input(keymap, event),
            Mode::Help(help) => help.input(keymap, event),
            Mode::Browse => keymap.input(event, &Screen::Tree.actions(), letters),
        }
    }

    /// Takes one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, session: &Session, input: &Input) -> Option<Outcome> {
        self.notice = None;
        self.follow(session);
        match &mut self.mode {
            Mode::Help(help) => {
                if help.update(input) {
                    self.mode = Mode::Browse;
                }
                None
            }
            Mode::Label(id, prompt) => {
                let (id, answer) = (id.clone(), prompt.update(input)?);
                self.mode = Mode::Browse;
                let Answer::Given(label) = answer else { return None };
                Some(Outcome::SetLabel(id, Some(label).filter(|label| !label.is_empty())))
            }
            Mode::Browse => match input {
                Input::Action(action) => self.act(session, *action),
                Input::Char(_) | Input::Paste(_) => {
                    self.edit_query(session, input);
                    None
                }
            },
        }
    }

    fn edit_query(&mut self, session: &Session, input: &Input) {
        if let Some(query) = changed_query(self.query(), input) {
            self.set_query(session, &query);
        }
    }

    fn set_query(&mut self, session: &Session, query: &str) {
        let progress = self.outline.set_query(session, query);
        self.note_progress(progress);
        self.search.take_if(|_| query.trim().is_empty());
        self.settle();
    }

    /// Returns true while a search goes on.
    pub fn is_searching(&self) -> bool {
        self.search.is_some_and(|progress| !progress.done)
    }

    /// Searches about `bytes` more bytes; returns true if there is more to search.
    ///
    /// To be called while no other work is pending, so that a key never waits for a search.
    pub fn search_step(&mut self, session: &Session, bytes: u64) -> bool {
        if self.is_searching() {
            self.continue_search(session, bytes);
            self.settle();
        }
        self.is_searching()
    }

    fn continue_search(&mut self, session: &Session, bytes: u64) {
        let progress = self.outline.search_step(session, bytes);
        self.note_progress(progress);
    }

    fn note_progress(&mut self, progress: session_tree::Result<SearchProgress>) {
        match progress {
            Ok(progress) => self.search = Some(progress),
            Err(error) => {
                self.search = None;
                self.set_notice(error.to_string());
            }
        }
    }

    /// Puts the cursor on the wanted entry, or on the nearest one with a row.
    ///
    /// While a search goes on, the wanted entry may still be found.
    fn settle(&mut self) {
        self.selected = self.outline.initial_selection(self.wanted);
        if self.selected.is_some() && !self.is_searching() {
            self.wanted = self.selected;
        }
    }

    fn go(&mut self, node: Option<Node>) {
        if let Some(node) = node {
            self.selected = Some(node);
            self.wanted = self.selected;
        }
    }

    fn position(&self) -> Option<usize> {
        self.selected.and_then(|node| self.outline.position_of(node))
    }
}

fn state_of(session: &Session) -> SessionState {
    (session.tree().len(), session.leaf())
}

fn counts(session: &Session) -> Vec<String> {
    let name = session.name().filter(|name| !name.is_empty()).map(str::to_owned);
    let counts = [count(session.tree().len(), "entry"), count(session.tree().tips().len(), "branch")];
    name.into_iter().chain(counts).collect()
}

#[cfg(test)]
mod tests;
