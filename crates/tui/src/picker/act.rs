//! What keys do in the picker.

use std::path::PathBuf;

use super::query::Finder;
use super::{Loading, Mode, Outcome, Scope, SessionPicker, Sort, Trashed};
use crate::dialog::{Answer, Confirm, Prompt};
use crate::help::{Group, Help};
use crate::input::{changed_query, stepped};
use crate::keys::{Action, Input};

/// The actions that the picker knows, in the order they count.
pub(super) const ACTIONS: &[Action] = &[
    Action::SelectConfirm,
    Action::SelectCancel,
    Action::SelectUp,
    Action::SelectDown,
    Action::SelectPageUp,
    Action::SelectPageDown,
    Action::SelectFirst,
    Action::SelectLast,
    Action::PickerScope,
    Action::PickerSort,
    Action::PickerNamed,
    Action::PickerPath,
    Action::PickerRename,
    Action::PickerDelete,
    Action::PickerDeleteIdle,
    Action::PickerUndo,
    Action::PickerBranches,
    Action::PickerPreview,
    Action::Help,
    Action::DeleteBackward,
    Action::DeleteWordBackward,
];

/// All keys of the picker.
pub(super) const GROUPS: &[Group] = &[
    (
        "Walk",
        &[
            Action::SelectUp,
            Action::SelectDown,
            Action::SelectPageUp,
            Action::SelectPageDown,
            Action::SelectFirst,
            Action::SelectLast,
        ],
    ),
    ("Open", &[Action::SelectConfirm, Action::PickerBranches, Action::SelectCancel]),
    (
        "List",
        &[
            Action::PickerScope,
            Action::PickerSort,
            Action::PickerNamed,
            Action::PickerPath,
            Action::PickerPreview,
        ],
    ),
    ("Change", &[Action::PickerRename, Action::PickerDelete, Action::PickerUndo]),
];

impl SessionPicker {
    /// Takes one input. `None` means: still open, nothing to do.
    pub fn update(&mut self, input: &Input) -> Option<Outcome> {
        self.notice = None;
        self.freshen();
        match &mut self.mode {
            Mode::Browse => self.browse(input),
            Mode::Help(help) => {
                if help.update(input) {
                    self.mode = Mode::Browse;
                }
                None
            }
            Mode::Rename(path, prompt) => {
                let (path, answer) = (path.clone(), prompt.update(input)?);
                self.mode = Mode::Browse;
                match answer {
                    Answer::Given(name) if !name.is_empty() => Some(self.rename(path, name)),
                    Answer::Given(_) | Answer::Cancelled => None,
                }
            }
            Mode::Delete(path, confirm) => {
                let (path, answer) = (path.clone(), confirm.update(input)?);
                self.mode = Mode::Browse;
                match answer {
                    Answer::Given(()) => Some(self.delete(path)),
                    Answer::Cancelled => None,
                }
            }
        }
    }

    fn browse(&mut self, input: &Input) -> Option<Outcome> {
        match input {
            Input::Char(_) | Input::Paste(_) => self.edit_query(input),
            Input::Action(action) => return self.act(*action),
        }
        None
    }

    fn act(&mut self, action: Action) -> Option<Outcome> {
        match action {
            Action::SelectConfirm => return self.openable().map(Outcome::Open),
            Action::PickerBranches => return self.openable().map(Outcome::Branches),
            Action::SelectCancel => return self.cancel(),
            Action::PickerScope => return self.toggle_scope(),
            Action::PickerUndo => return self.undo(),
            Action::PickerSort => self.next_sort(),
            Action::PickerNamed => self.named_only = !self.named_only,
            Action::PickerPath => self.shows_paths = !self.shows_paths,
            Action::PickerPreview => self.preview = Some(!self.shows_preview),
            Action::PickerRename => self.ask_name(),
            Action::PickerDelete => self.ask_delete(),
            Action::PickerDeleteIdle if self.query.is_empty() => self.ask_delete(),
            Action::PickerDeleteIdle => self.edit_query(&Input::Action(Action::DeleteWordBackward)),
            Action::DeleteWordBackward | Action::DeleteBackward => {
                self.edit_query(&Input::Action(action));
            }
            Action::Help => self.mode = Mode::Help(Help::default()),
            _ => self.walk(action),
        }
        if matches!(action, Action::PickerSort | Action::PickerNamed) {
            self.arrange();
        }
        None
    }

    fn walk(&mut self, action: Action) {
        let Some(last) = self.places.len().checked_sub(1) else { return };
        let at = self.selected.as_deref().and_then(|path| self.position_of(path)).unwrap_or(0);
        let to = match action {
            // A long list of sessions does not go round.
            Action::SelectUp => at.saturating_sub(1),
            Action::SelectDown => (at + 1).min(last),
            _ => match stepped(action, at, last, self.page) {
                Some(to) => to,
                None => return,
            },
        };
        self.moved = true;
        self.selected = Some(self.listed().rows[self.places[to].at].path.clone());
    }

    /// The session under the cursor, if it can be opened.
    fn openable(&mut self) -> Option<PathBuf> {
        let (path, damage) = self.selected().map(|row| (row.path.clone(), row.damage.clone()))?;
        if self.selected().is_some_and(|row| !row.is_session()) {
            let why = damage.map(|damage| damage.to_string()).unwrap_or_default();
            self.set_notice(format!("this file cannot be opened: {why}"));
            return None;
        }
        Some(path)
    }

    fn cancel(&mut self) -> Option<Outcome> {
        if self.query.is_empty() {
            return Some(Outcome::Cancel);
        }
        self.set_query(String::new());
        None
    }

    /// A list is asked for once; one that comes late never switches back.
    fn toggle_scope(&mut self) -> Option<Outcome> {
        self.scope = match self.scope {
            Scope::Folder => Scope::All,
            Scope::All => Scope::Folder,
        };
        let scope = self.scope;
        let listed = self.listed_mut(scope);
        let asks = listed.loading == Loading::NotAsked;
        if asks {
            listed.loading = Loading::Running { done: 0, total: 0 };
        }
        self.arrange();
        asks.then_some(Outcome::Load(scope))
    }

    fn next_sort(&mut self) {
        self.sort = match self.sort {
            Sort::Threaded => Sort::Recent,
            Sort::Recent => Sort::Relevance,
            Sort::Relevance => Sort::Threaded,
        };
    }

    fn edit_query(&mut self, input: &Input) {
        if let Some(query) = changed_query(&self.query, input) {
            self.set_query(query);
        }
    }

    fn set_query(&mut self, query: String) {
        self.finder = Finder::new(&query);
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
        for listed in [&mut self.folder, &mut self.all] {
            if let Some(row) = listed.get_mut(&path) {
                row.name = Some(name.clone());
            }
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
        let question =
            format!("Move \"{}\" to the trash?", crate::width::cut(&crate::clean::clean(row.title()), 40));
        let detail = if self.open_elsewhere.contains(&row.path) {
            "Another program has it open. It can be taken back until you quit.".to_owned()
        } else {
            "It can be taken back until you quit.".to_owned()
        };
        self.mode = Mode::Delete(row.path.clone(), Confirm { question, detail });
    }

    fn delete(&mut self, path: PathBuf) -> Outcome {
        let at = self.position_of(&path);
        let mut trashed: Option<Trashed> = None;
        for scope in [Scope::Folder, Scope::All] {
            if let Some(row) = self.listed_mut(scope).take(&path) {
                trashed.get_or_insert_with(|| Trashed { row, scopes: Vec::new() }).scopes.push(scope);
            }
        }
        self.trash.extend(trashed);
        self.moved = false;
        self.arrange();
        // The cursor goes to what took the place.
        if let Some(place) = at.and_then(|at| self.places.get(at.min(self.places.len().checked_sub(1)?))) {
            self.selected = Some(self.listed().rows[place.at].path.clone());
            self.moved = true;
        }
        Outcome::Delete(path)
    }

    /// Puts a session back whose file could not be moved, or that a person wants back.
    pub fn put_back(&mut self, path: &std::path::Path) {
        let Some(at) = self.trash.iter().position(|gone| gone.row.path == path) else { return };
        let Trashed { row, scopes } = self.trash.remove(at);
        self.selected = Some(row.path.clone());
        self.moved = true;
        for scope in scopes {
            self.listed_mut(scope).put(row.clone());
        }
        self.arrange();
    }

    fn undo(&mut self) -> Option<Outcome> {
        let Some(path) = self.trash.last().map(|gone| gone.row.path.clone()) else {
            self.set_notice("nothing to take back");
            return None;
        };
        self.put_back(&path);
        Some(Outcome::Restore(path))
    }
}
