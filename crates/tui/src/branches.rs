//! The list of branches: what was tried, how it ended, what it cost; and where to go from here.
//!
//! Rows come from the engine ([`session_view::branch_table`]); their numbers are those of
//! the reference `#n`. Hiding a branch takes it from lists, never from the session.

mod draw;

use session_tree::{EntryId, Node};
use session_view::BranchRow;

use crate::dialog::{Answer, Prompt};
use crate::help::Help;
use crate::input::{changed_query, has_words, stepped};
use crate::keys::{Action, Input, Keymap, Letters, Screen};

/// A request of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Go to the tip.
    Switch(EntryId),
    /// Go to the tip with a summary of the branch that is left.
    SwitchWithSummary(EntryId),
    /// Merge the branch here.
    Merge(EntryId),
    /// Pick something of the branch.
    Pick(EntryId),
    /// Export the branch.
    Export(EntryId),
    /// Compare the branch with the current one.
    Diff(EntryId),
    /// Set or clear the label of the tip; the list stays open.
    SetLabel(EntryId, Option<String>),
    /// Hide the branch from lists, or show it again; the list stays open.
    Hide(EntryId, bool),
    /// Close the list.
    Cancel,
}

/// The list of branches.
#[derive(Debug)]
pub struct BranchList {
    session_name: String,
    rows: Vec<BranchRow>,
    /// The rows that show.
    shown: Vec<usize>,
    selected: Option<Node>,
    /// The query while one is typed; letters are actions otherwise.
    query: Option<String>,
    mode: Mode,
    page: usize,
}

/// The part of the list that has the keyboard.
#[derive(Debug)]
enum Mode {
    Browse,
    Label(EntryId, Prompt),
    Help(Help),
}

impl BranchList {
    /// Opens the list; the branch of the leaf is selected.
    pub fn new(session_name: impl Into<String>, rows: Vec<BranchRow>) -> Self {
        let selected =
            rows.iter().find(|row| row.branch.is_current).or(rows.first()).map(|row| row.branch.tip);
        let mut list = Self {
            session_name: session_name.into(),
            rows,
            shown: Vec::new(),
            selected,
            query: None,
            mode: Mode::Browse,
            page: 10,
        };
        list.filter();
        list
    }

    /// Takes other rows after something changed; everything else stays.
    pub fn set_rows(&mut self, rows: Vec<BranchRow>) {
        self.rows = rows;
        self.filter();
    }

    /// Returns how many rows the list wants.
    pub fn height(&self) -> u16 {
        let rows = match self.mode {
            Mode::Help(_) => Screen::Branches.actions().len() + 6,
            // Title, head and keys; a label is asked for in three rows.
            Mode::Browse | Mode::Label(..) => self.shown.len() + 5,
        };
        rows.min(usize::from(u16::MAX)) as u16
    }

    /// Returns the branch under the cursor.
    pub fn selected(&self) -> Option<&BranchRow> {
        self.rows.iter().find(|row| Some(row.branch.tip) == self.selected)
    }

    /// Turns an event of the terminal into an input for the current mode.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        let letters = if self.query.is_none() { Letters::Act } else { Letters::Type };
        match &self.mode {
            Mode::Browse => keymap.input(event, &Screen::Branches.actions(), letters),
            Mode::Label(_, prompt) => prompt.input(keymap, event),
            Mode::Help(help) => help.input(keymap, event),
        }
    }

    /// Takes one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, input: &Input) -> Option<Outcome> {
        match (&mut self.mode, input) {
            (Mode::Help(help), input) => {
                if help.update(input) {
                    self.mode = Mode::Browse;
                }
                None
            }
            (Mode::Label(id, prompt), input) => {
                let (id, answer) = (id.clone(), prompt.update(input)?);
                self.mode = Mode::Browse;
                let Answer::Given(label) = answer else { return None };
                Some(Outcome::SetLabel(id, Some(label).filter(|label| !label.is_empty())))
            }
            (Mode::Browse, Input::Action(action)) => self.act(*action),
            (Mode::Browse, Input::Char(c)) if self.query.is_none() => self.choose_number(*c),
            (Mode::Browse, input) => self.search(input),
        }
    }

    fn act(&mut self, action: Action) -> Option<Outcome> {
        let tip = self.selected().map(|row| row.branch.tip_id.clone());
        match action {
            Action::SelectCancel => return self.cancel(),
            Action::SelectConfirm => return tip.map(Outcome::Switch),
            Action::BranchSummarize => return tip.map(Outcome::SwitchWithSummary),
            Action::BranchMerge => return tip.map(Outcome::Merge),
            Action::BranchPick => return tip.map(Outcome::Pick),
            Action::BranchExport => return tip.map(Outcome::Export),
            Action::BranchDiff => return tip.map(Outcome::Diff),
            Action::BranchHide => {
                let hidden = self.selected().is_some_and(|row| row.branch.is_hidden);
                return tip.map(|tip| Outcome::Hide(tip, !hidden));
            }
            Action::BranchLabel => {
                let label = self.selected().and_then(|row| row.branch.label.clone()).unwrap_or_default();
                let ask =
                    |tip| Mode::Label(tip, Prompt::new("Label of the branch (empty to remove)", &label));
                self.mode = tip.map_or(Mode::Browse, ask);
            }
            Action::BranchSearch => self.query = Some(String::new()),
            Action::DeleteBackward | Action::DeleteWordBackward => {
                return self.search(&Input::Action(action));
            }
            Action::Help => self.mode = Mode::Help(Help::default()),
            _ => self.walk(action),
        }
        None
    }

    fn walk(&mut self, action: Action) {
        let Some(last) = self.shown.len().checked_sub(1) else { return };
        let at = self.position().unwrap_or(0);
        if let Some(to) = stepped(action, at, last, self.page) {
            self.selected = Some(self.rows[self.shown[to]].branch.tip);
        }
    }

    fn choose_number(&mut self, c: char) -> Option<Outcome> {
        let number = (c.to_digit(10)? as usize).checked_sub(1)?;
        let row = self.rows.get(number)?;
        self.selected = Some(row.branch.tip);
        Some(Outcome::Switch(row.branch.tip_id.clone()))
    }

    fn search(&mut self, input: &Input) -> Option<Outcome> {
        if let Some(query) = self.query.as_deref().and_then(|query| changed_query(query, input)) {
            self.query = Some(query);
            self.filter();
        }
        None
    }

    /// Ends the search; without one closes the list.
    fn cancel(&mut self) -> Option<Outcome> {
        if self.query.take().is_none() {
            return Some(Outcome::Cancel);
        }
        self.filter();
        None
    }

    fn filter(&mut self) {
        let query = self.query.as_deref().unwrap_or_default();
        let fits = |row: &BranchRow| {
            let from = row.branch.from.as_deref().unwrap_or_default();
            has_words(&format!("{} {from}", row.branch.name), query)
        };
        // A search finds hidden branches, too.
        let shows = |row: &BranchRow| !query.is_empty() || !row.branch.is_hidden || row.branch.is_current;
        let fitting = self.rows.iter().enumerate().filter(|(_, row)| shows(row) && fits(row));
        self.shown = fitting.map(|(at, _)| at).collect();
        if self.position().is_none() {
            self.selected = self.shown.first().map(|at| self.rows[*at].branch.tip);
        }
    }

    fn position(&self) -> Option<usize> {
        self.shown.iter().position(|at| Some(self.rows[*at].branch.tip) == self.selected)
    }
}

#[cfg(test)]
mod tests;
