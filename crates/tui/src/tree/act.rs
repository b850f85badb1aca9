//! What keys do while rows are walked.

use session_tree::{Filter, FoldStep, Node, Session};

use super::{Mode, Outcome, TreeSelector};
use crate::help::Help;
use crate::input::LineInput;
use crate::keys::{Action, Input};

/// The actions that the selector knows, in the order they count.
pub(super) const ACTIONS: &[Action] = &[
    Action::SelectConfirm,
    Action::SelectCancel,
    Action::SelectUp,
    Action::SelectDown,
    Action::SelectPageUp,
    Action::SelectPageDown,
    Action::SelectFirst,
    Action::SelectLast,
    Action::TreeFold,
    Action::TreeUnfold,
    Action::TreeEditLabel,
    Action::TreeLabelTimes,
    Action::TreeFilterDefault,
    Action::TreeFilterNoTools,
    Action::TreeFilterUser,
    Action::TreeFilterLabeled,
    Action::TreeFilterAll,
    Action::TreeFilterTurns,
    Action::TreeFilterBranches,
    Action::TreeFilterErrors,
    Action::TreeFilterFiles,
    Action::TreeFilterNext,
    Action::TreeFilterPrevious,
    Action::TreeBranchHere,
    Action::TreePreview,
    Action::TreePreviewUp,
    Action::TreePreviewDown,
    Action::TreePick,
    Action::TreeMerge,
    Action::TreeExport,
    Action::TreeFork,
    Action::TreeCopyId,
    Action::TreeExtendUp,
    Action::TreeExtendDown,
    Action::TreeSource,
    Action::TreeSiblingPrevious,
    Action::TreeSiblingNext,
    Action::MessageCopy,
    Action::Help,
    Action::CursorLeft,
    Action::CursorRight,
    Action::DeleteBackward,
    Action::DeleteWordBackward,
];

/// Turns an entry into what a person wants with it.
type Want = fn(session_tree::EntryId) -> Outcome;

impl TreeSelector {
    pub(super) fn browse(&mut self, session: &Session, input: &Input) -> Option<Outcome> {
        match input {
            Input::Char(_) | Input::Paste(_) => self.edit_query(session, input),
            Input::Action(action) => return self.act(session, *action),
        }
        None
    }

    fn act(&mut self, session: &Session, action: Action) -> Option<Outcome> {
        if !matches!(action, Action::TreeExtendUp | Action::TreeExtendDown | Action::TreePick) {
            self.mark = None;
        }
        if let Some(filter) = filter_of(action) {
            self.toggle_filter(session, filter);
            return None;
        }
        if let Some(want) = want_of(action) {
            return self.selected.map(|node| want(session.tree().id(node)));
        }
        match action {
            Action::SelectCancel => return self.cancel(session),
            Action::TreePick => return self.pick(session),
            Action::DeleteBackward | Action::DeleteWordBackward => {
                self.edit_query(session, &Input::Action(action));
            }
            Action::TreeFilterNext => self.change_filter(session, self.filter().next()),
            Action::TreeFilterPrevious => self.change_filter(session, self.filter().previous()),
            Action::TreeEditLabel => self.start_label(session),
            Action::TreeLabelTimes => self.label_times = !self.label_times,
            Action::TreePreview => self.toggle_preview(),
            Action::TreePreviewUp => {
                self.preview_top = self.preview_top.saturating_sub(self.view.preview_page());
            }
            Action::TreePreviewDown => self.preview_top += self.view.preview_page(),
            Action::Help => self.mode = Mode::Help(Help::default()),
            _ => self.walk(session, action),
        }
        None
    }

    /// Moves the cursor.
    fn walk(&mut self, session: &Session, action: Action) {
        let page = self.view.page() as isize;
        match action {
            Action::SelectUp => self.step(-1),
            Action::SelectDown => self.step(1),
            Action::SelectPageUp => self.jump(-page),
            Action::SelectPageDown => self.jump(page),
            Action::CursorLeft => self.left(session, page),
            Action::CursorRight => self.right(session, page),
            Action::SelectFirst => self.go(self.outline.node(0)),
            Action::SelectLast => {
                self.go(self.outline.len().checked_sub(1).and_then(|row| self.outline.node(row)));
            }
            Action::TreeFold => self.fold(session, session_tree::Outline::fold_or_up),
            Action::TreeUnfold => self.fold(session, session_tree::Outline::unfold_or_down),
            Action::TreeExtendUp => self.extend(-1),
            Action::TreeExtendDown => self.extend(1),
            Action::TreeSiblingPrevious => {
                self.go(self.selected.and_then(|node| self.outline.previous_sibling(node)));
            }
            Action::TreeSiblingNext => {
                self.go(self.selected.and_then(|node| self.outline.next_sibling(node)));
            }
            Action::TreeSource => self.go_to_source(session),
            _ => {}
        }
    }

    /// Moves by one row and around the ends.
    fn step(&mut self, by: isize) {
        let rows = self.outline.len() as isize;
        if let Some(at) = self.position().filter(|_| rows > 0) {
            self.go(self.outline.node((at as isize + by).rem_euclid(rows) as usize));
        }
    }

    /// Moves by many rows and stops at the ends.
    fn jump(&mut self, by: isize) {
        let last = self.outline.len().saturating_sub(1) as isize;
        if let Some(at) = self.position() {
            self.go(self.outline.node((at as isize + by).clamp(0, last) as usize));
        }
    }

    fn fold(&mut self, session: &Session, step: fn(&mut session_tree::Outline, &Session, Node) -> FoldStep) {
        let Some(node) = self.selected else { return };
        match step(&mut self.outline, session, node) {
            FoldStep::Changed => self.settle(),
            FoldStep::Goto(node) => self.go(Some(node)),
        }
    }

    /// Opens the turn under the cursor in the turn view, else pages down.
    fn right(&mut self, session: &Session, page: isize) {
        if !self.selected.is_some_and(|node| self.outline.open_turn(session, node)) {
            self.jump(page);
        }
    }

    /// Closes the turn around the cursor in the turn view, else pages up.
    fn left(&mut self, session: &Session, page: isize) {
        match self.selected.and_then(|node| self.outline.close_turn(session, node)) {
            Some(prompt) => {
                self.wanted = Some(prompt);
                self.settle();
            }
            None => self.jump(-page),
        }
    }

    fn extend(&mut self, by: isize) {
        let from = self.mark.or(self.selected);
        self.jump(by);
        self.mark = from.filter(|from| self.selected != Some(*from));
    }

    fn pick(&mut self, session: &Session) -> Option<Outcome> {
        let (one, other) = (self.position()?, self.mark.and_then(|mark| self.outline.position_of(mark)));
        let id = |row| self.outline.node(row).map(|node| session.tree().id(node));
        self.mark = None;
        match other {
            Some(other) => Some(Outcome::Pick(id(one.min(other))?, id(one.max(other)))),
            None => Some(Outcome::Pick(id(one)?, None)),
        }
    }

    fn go_to_source(&mut self, session: &Session) {
        let Some(node) = self.selected else { return };
        match session.source_of(node) {
            Ok(Some(source)) => {
                self.wanted = Some(source);
                self.settle();
                if self.selected != Some(source) {
                    self.set_notice("the source has no row in this view; its nearest row is selected");
                }
            }
            Ok(None) => {
                self.set_notice("this entry was not picked, merged or summarised from another branch");
            }
            Err(error) => self.set_notice(error.to_string()),
        }
    }

    fn start_label(&mut self, session: &Session) {
        let Some(node) = self.selected else { return };
        let label = session.label(node).map(|label| label.text.as_str()).unwrap_or_default();
        self.mode = Mode::Label { node, input: LineInput::new(label) };
    }

    fn toggle_preview(&mut self) {
        let shows = self.view.shows_preview();
        if !shows && !self.view.has_room_for_preview() {
            return self.set_notice("no room for a preview here");
        }
        self.preview = Some(!shows);
    }

    fn toggle_filter(&mut self, session: &Session, filter: Filter) {
        let filter = if self.filter() == filter { Filter::Default } else { filter };
        self.change_filter(session, filter);
    }

    pub(super) fn change_filter(&mut self, session: &Session, filter: Filter) {
        self.outline.set_filter(session, filter);
        self.settle();
    }

    /// With a query it is the query that goes, and all folds; without one it is the selector.
    fn cancel(&mut self, session: &Session) -> Option<Outcome> {
        if self.query().is_empty() {
            return Some(Outcome::Cancel);
        }
        self.set_query(session, "");
        None
    }
}

/// Returns the filter that a key sets, or takes back if it is set.
fn filter_of(action: Action) -> Option<Filter> {
    Some(match action {
        Action::TreeFilterDefault => Filter::Default,
        Action::TreeFilterNoTools => Filter::NoTools,
        Action::TreeFilterUser => Filter::UserOnly,
        Action::TreeFilterLabeled => Filter::LabeledOnly,
        Action::TreeFilterAll => Filter::All,
        Action::TreeFilterTurns => Filter::Turns,
        Action::TreeFilterBranches => Filter::Branches,
        Action::TreeFilterErrors => Filter::Errors,
        Action::TreeFilterFiles => Filter::Files,
        _ => return None,
    })
}

/// Returns what a key wants with the entry under the cursor.
fn want_of(action: Action) -> Option<Want> {
    Some(match action {
        Action::SelectConfirm => Outcome::Select,
        Action::TreeBranchHere => Outcome::BranchHere,
        Action::TreeMerge => Outcome::Merge,
        Action::TreeExport => Outcome::Export,
        Action::TreeFork => Outcome::Fork,
        Action::TreeCopyId => Outcome::CopyId,
        Action::MessageCopy => Outcome::CopyText,
        _ => return None,
    })
}
