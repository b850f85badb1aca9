//! `/labels`: the list of labels, to go to one.

use crate::chat::item::Tone;
use crate::dialog::{Item, SelectList};

use super::super::App;

impl App<'_> {
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
        self.open_list(SelectList::searchable("Labels", items), move |app, item| {
            if let Some((id, _)) = labels.get(item) {
                app.ask_to_go(id.as_str().into(), |app, id| app.go_to(id), |app, _| app.labels());
            }
        });
    }
}
