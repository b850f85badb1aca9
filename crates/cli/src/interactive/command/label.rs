//! `/labels`: the list of labels, to go to one.

use offshoot_tui::chat::item::Tone;
use offshoot_tui::dialog::{Item, SelectList};

use super::super::front::Front;
use super::super::view::{Chosen, View};

impl Front<'_> {
    /// Sets or clears a label that was typed in the tree or in the list of branches.
    pub(in super::super) fn set_label(&mut self, id: &str, label: Option<&str>) {
        match label {
            Some(label) => self.run_words(&["label", "--", id, label]),
            None => self.run_words(&["label", "--delete", id]),
        }
    }

    pub(super) fn labels(&mut self) {
        let labels: Vec<(String, String)> = self.agent.read(|session| {
            let labels = session.labels();
            labels
                .into_iter()
                .map(|(node, label)| (session.tree().id(node).to_string(), label.text.clone()))
                .collect()
        });
        if labels.is_empty() {
            return self.tell(Tone::Info, "no labels yet: /label NAME labels the last answer");
        }
        let items = labels.iter().map(|(id, label)| Item::new(format!("@{label}"), id.clone())).collect();
        let chosen: Chosen<usize> = Box::new(move |front, item| {
            if let Some((id, _)) = labels.get(item) {
                front.ask_to_go(id.as_str().into(), |front, id| front.go_to(id), |front, _| front.labels());
            }
        });
        self.open_view(View::List(Box::new(SelectList::searchable("Labels", items)), chosen));
    }
}
