//! Actions in the list.

use session_tree::{EntryId, Node, Session};
use session_view::{Filter, FoldStep, Outline};

use super::{Mode, Outcome, TreeSelector};
use crate::dialog::Prompt;
use crate::help::Help;
use crate::input::stepped;
use crate::keys::{Action, Input};

impl TreeSelector {
    pub(super) fn act(&mut self, session: &Session, action: Action) -> Option<Outcome> {
        if let Some(filter) = filter_of(action) {
            let is_set = self.filter() == filter;
            self.change_filter(session, if is_set { Filter::Default } else { filter });
            return None;
        }
        if let Some(outcome) = outcome_of(action) {
            return self.selected.map(|node| outcome(session.tree().id(node)));
        }
        match action {
            Action::SelectCancel => return self.cancel(session),
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
        let Some((node, at)) = self.selected.zip(self.position()) else { return };
        let last = self.outline.len().saturating_sub(1);
        let page = self.view.page();
        let row = match action {
            Action::TreeFold => return self.fold(session, Outline::fold_or_up),
            Action::TreeUnfold => return self.fold(session, Outline::unfold_or_down),
            Action::TreeSiblingPrevious => return self.go(self.outline.previous_sibling(node)),
            Action::TreeSiblingNext => return self.go(self.outline.next_sibling(node)),
            Action::TreeSource => return self.go_to_source(session, node),
            // In the turn view these keys open and close turns.
            Action::CursorRight if self.outline.open_turn(session, node) => return,
            Action::CursorLeft => match self.outline.close_turn(session, node) {
                Some(prompt) => {
                    self.wanted = Some(prompt);
                    return self.settle();
                }
                None => stepped(Action::SelectPageUp, at, last, page),
            },
            Action::CursorRight => stepped(Action::SelectPageDown, at, last, page),
            _ => stepped(action, at, last, page),
        };
        self.go(row.and_then(|row| self.outline.node(row)));
    }

    fn fold(&mut self, session: &Session, step: fn(&mut Outline, &Session, Node) -> FoldStep) {
        let Some(node) = self.selected else { return };
        match step(&mut self.outline, session, node) {
            FoldStep::Changed => self.settle(),
            FoldStep::Goto(node) => self.go(Some(node)),
        }
    }

    fn go_to_source(&mut self, session: &Session, node: Node) {
        match session_view::source_of(session, node) {
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
        self.mode = Mode::Label(session.tree().id(node), Prompt::new("Label (empty to remove)", label));
    }

    fn toggle_preview(&mut self) {
        let shows = self.view.shows_preview();
        if !shows && !self.view.has_room_for_preview() {
            return self.set_notice("no room for a preview here");
        }
        self.preview = Some(!shows);
    }

    pub(super) fn change_filter(&mut self, session: &Session, filter: Filter) {
        self.outline.set_filter(session, filter);
        self.settle();
    }

    /// Clears the query and all folds; without a query closes the selector.
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
        _ => return None,
    })
}

/// Returns the request of a key for the entry under the cursor.
fn outcome_of(action: Action) -> Option<fn(EntryId) -> Outcome> {
    Some(match action {
        Action::SelectConfirm => Outcome::Select,
        Action::TreeBranchHere => Outcome::BranchHere,
        Action::TreePick => Outcome::Pick,
        Action::TreeMerge => Outcome::Merge,
        Action::TreeExport => Outcome::Export,
        Action::TreeFork => Outcome::Fork,
        Action::TreeCopyId => Outcome::CopyId,
        Action::MessageCopy => Outcome::CopyText,
        _ => return None,
    })
}
