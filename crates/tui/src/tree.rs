//! The tree selector: walk the tree of a session, search it, label it, and say where to go.
//!
//! Which entries have a row, how they hang together and what they say comes from the engine's
//! [`Outline`]; here are the cursor, the query, the panes and the keys. A selector is kept while a session is open, so
//! that it opens again as it was left ([`TreeSelector::reopen`]).
//!
//! Reads a session, never changes it: what a person wants is an [`Outcome`].

mod act;
mod body;
mod draw;
mod help;
mod line;
mod preview;
mod search;
mod view;

use session_tree::{EntryId, Filter, Node, Outline, OutlineOptions, SearchProgress, Session};

use crate::help::{HELP_ACTIONS, Help};
use crate::input::{LINE_ACTIONS, LineInput};
use crate::keys::{Action, Input, Keymap, Letters};

pub use help::GROUPS;

/// What a person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Go to this entry; what is left behind may be summarised.
    Select(EntryId),
    /// Go to this entry without asking anything.
    BranchHere(EntryId),
    /// Copy something from here to the leaf: one entry, or all from the first to the second.
    Pick(EntryId, Option<EntryId>),
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
    /// Tells whether the selector stays open.
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
    /// The other end of what is selected to be picked.
    mark: Option<Node>,
    mode: Mode,
    label_times: bool,
    /// Whether the preview shows; by default it does where there is room for it beside the list.
    preview: Option<bool>,
    preview_top: usize,
    search: Option<SearchProgress>,
    /// Something to tell under the list until the next key.
    notice: Option<String>,
    counts: Counts,
    /// The state of the session that the rows show.
    shown: SessionState,
    view: view::View,
}

/// The parts of a session that decide which rows there are and how they are marked. Any append changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SessionState {
    entries: usize,
    leaf: Option<Node>,
}

impl SessionState {
    fn of(session: &Session) -> Self {
        Self { entries: session.tree().len(), leaf: session.leaf() }
    }
}

/// What has the keyboard.
#[derive(Debug)]
enum Mode {
    Browse,
    Label { node: Node, input: LineInput },
    Help(Help),
}

/// What the title tells of the session.
#[derive(Debug, Default)]
struct Counts {
    name: String,
    entries: usize,
    branches: usize,
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
            mark: None,
            mode: Mode::Browse,
            label_times: false,
            preview: None,
            preview_top: 0,
            search: None,
            notice: None,
            counts: Counts::of(session),
            shown: SessionState::of(session),
            view: view::View::default(),
        })
    }

    /// Makes the rows of the session as it is now; cursor, folds, filter and search stay.
    fn refresh(&mut self, session: &Session) {
        self.outline.refresh(session);
        self.counts = Counts::of(session);
        self.shown = SessionState::of(session);
        self.view.forget();
        if self.search.is_some() {
            self.continue_search(session, 0);
        }
        self.settle();
    }

    /// Refreshes the rows if the session has changed since they were made.
    fn follow(&mut self, session: &Session) {
        if self.shown != SessionState::of(session) {
            self.refresh(session);
        }
    }

    /// Opens the selector again as it was left, on `start` if given; else where the cursor was.
    pub fn reopen(&mut self, session: &Session, start: Option<Node>) {
        self.mode = Mode::Browse;
        self.mark = None;
        self.notice = None;
        self.wanted = start.or(self.wanted);
        self.refresh(session);
    }

    /// Returns the entry the cursor is on.
    pub fn selected(&self) -> Option<Node> {
        self.selected
    }

    /// Returns which entries have a row.
    pub fn filter(&self) -> Filter {
        self.outline.filter()
    }

    /// Returns the query.
    pub fn query(&self) -> &str {
        self.outline.query()
    }

    /// Returns the rows.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Tells something under the list until the next key.
    pub fn set_notice(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// Turns an event of the terminal into what the selector takes now.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        match &self.mode {
            Mode::Label { .. } => {
                let actions = [&[Action::SelectConfirm, Action::SelectCancel], LINE_ACTIONS].concat();
                keymap.input(event, &actions, Letters::Type)
            }
            Mode::Help(_) => keymap.input(event, HELP_ACTIONS, Letters::Act),
            Mode::Browse if self.query().is_empty() => keymap.input(event, act::ACTIONS, Letters::Act),
            Mode::Browse => keymap.input(event, act::ACTIONS, Letters::Type),
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
            Mode::Label { .. } => self.edit_label(session, input),
            Mode::Browse => self.browse(session, input),
        }
    }

    fn edit_label(&mut self, session: &Session, input: &Input) -> Option<Outcome> {
        let Mode::Label { node, input: line } = &mut self.mode else { return None };
        match input {
            Input::Action(Action::SelectCancel) => self.mode = Mode::Browse,
            Input::Action(Action::SelectConfirm) => {
                let label = Some(line.text().trim().to_owned()).filter(|label| !label.is_empty());
                let id = session.tree().id(*node);
                self.mode = Mode::Browse;
                return Some(Outcome::SetLabel(id, label));
            }
            input => {
                line.update(input);
            }
        }
        None
    }

    /// Puts the cursor where it wants to be, or as near as rows allow.
    ///
    /// While a search goes on, what is wanted may still be found; only then is it forgotten for what is there.
    fn settle(&mut self) {
        self.selected = self.outline.initial_selection(self.wanted);
        let searching = self.search.is_some_and(|progress| !progress.done);
        if self.selected.is_some() && !searching {
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

impl Counts {
    fn of(session: &Session) -> Self {
        let name = session.name().unwrap_or_default().to_owned();
        Self { name, entries: session.tree().len(), branches: session.tips().len() }
    }
}
#[cfg(test)]
mod tests;
