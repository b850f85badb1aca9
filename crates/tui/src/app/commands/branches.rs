//! `/branches`: the list of branches and the actions on one of them.

use crate::branches::{BranchList, Outcome};
use crate::chat::item::Tone;
use crossterm::event::Event;
use serde_json::json;
use session_tree::EntryId;
use session_view::HIDDEN_BRANCH;

use super::super::App;
use super::super::requests::NextStep;
use super::super::views::{Chosen, View};

impl App<'_> {
    /// Lists the branches.
    pub(super) fn branches(&mut self) {
        let name = self.agent.read(|session| session.name().unwrap_or_default().to_owned());
        match self.agent.read(session_view::branch_table) {
            Ok(rows) if rows.is_empty() => {
                self.tell(Tone::Info, "the session is empty, so there are no branches");
            }
            Ok(rows) => self.views.open(View::Branches(Box::new(BranchList::new(name, rows)))),
            Err(error) => self.fail_with(error),
        }
    }

    /// Gives an event to the list of branches.
    pub(in super::super) fn branches_event(&mut self, mut list: Box<BranchList>, event: &Event) {
        let outcome = list.input(&self.settings.keymap, event).and_then(|input| list.update(&input));
        match outcome {
            None => self.views.put(View::Branches(list)),
            Some(Outcome::SetLabel(tip, label)) => {
                self.views.put(View::Branches(list));
                self.set_label(tip.as_str(), label.as_deref());
            }
            Some(Outcome::Hide(tip, is_hidden)) => {
                self.views.put(View::Branches(list));
                self.hide_branch(&tip, is_hidden);
            }
            Some(outcome) => self.branch_outcome(outcome),
        }
    }

    fn branch_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Switch(tip) => self.switch_to(&["switch", tip.as_str()]),
            Outcome::SwitchWithSummary(tip) => self.switch_to(&["switch", "--summarize", tip.as_str()]),
            Outcome::Merge(tip) => self.merge(tip.as_str()),
            Outcome::Pick(tip) => self.pick_from(&tip),
            Outcome::Export(tip) => self.run_words(&["export-branch", tip.as_str()]),
            Outcome::Diff(tip) => self.print_diff(tip.as_str(), None),
            Outcome::SetLabel(..) | Outcome::Hide(..) | Outcome::Cancel => {}
        }
    }

    fn switch_to(&mut self, words: &[&str]) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let switch: NextStep = Box::new(move |app| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            app.run_words(&words);
        });
        self.ask_to_interrupt("switch", switch, Box::new(|app| app.branches()));
    }

    /// Opens the tree at the end of a branch, to choose what is copied.
    fn pick_from(&mut self, tip: &EntryId) {
        let start = self.agent.read(|session| session.tree().node(tip.as_str()));
        let chosen: Chosen<EntryId> = Box::new(|app, id| app.pick(id.as_str()));
        self.choose_entry(start, Some(("Copy which entry here?", "copy it here")), Some(chosen));
    }

    /// Takes a branch from lists, or shows it again; nothing of it is deleted.
    fn hide_branch(&mut self, tip: &EntryId, is_hidden: bool) {
        if self.is_refused_now() {
            return;
        }
        let data = json!({"targetId": tip.as_str(), "hidden": is_hidden});
        match self.agent.append_entry(HIDDEN_BRANCH, Some(&data)) {
            Ok(_) if is_hidden => {
                self.tell(Tone::Success, "hidden; a search in the list finds it, x shows it");
            }
            Ok(_) => self.tell(Tone::Success, "shown again"),
            Err(error) => self.fail_with(error),
        }
        self.refresh_branches();
    }

    /// Reads the list of branches again, if it is open.
    pub(in super::super) fn refresh_branches(&mut self) {
        let Some(View::Branches(list)) = self.views.current() else { return };
        if let Ok(rows) = self.agent.read(session_view::branch_table) {
            list.set_rows(rows);
        }
    }
}
