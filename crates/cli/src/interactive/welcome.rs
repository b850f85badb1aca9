//! The first thing a person sees: what this is, what to do next, and what is missing.

use offshoot_providers::OfflineModel;
use offshoot_tui::chat::DoubleEscape;
use offshoot_tui::chat::item::{Item, Tone};
use offshoot_tui::keys::Action;

use super::front::Front;

impl Front<'_> {
    /// Tells whether nothing was said in the session yet.
    pub(super) fn is_new(&self) -> bool {
        self.agent.read(|session| session.context().is_ok_and(|context| context.messages().next().is_none()))
    }

    /// Greets, or shows where an old session stands.
    pub(super) fn welcome(&mut self) {
        self.refresh();
        if self.is_new() {
            self.greet();
        } else {
            self.count_all();
            self.show_path("welcome back");
        }
        self.announce();
    }

    /// Prints an introduction and opens the tree below it.
    pub(super) fn introduce(&mut self, text: &str) {
        self.chat.transcript.push(Item::Notice(Tone::Success, text.to_owned()));
        self.open_tree(None);
    }

    fn greet(&mut self) {
        let escape =
            self.keymap.name(Action::Interrupt).filter(|_| self.chat.double_escape == DoubleEscape::Tree);
        let tree = escape.map(|key| format!("{key} {key} or ")).unwrap_or_default();
        let lines = [
            format!("offshoot {} — every conversation is a tree you can walk", env!("CARGO_PKG_VERSION")),
            "type a prompt and press Enter; every branch is kept".to_owned(),
            format!("{tree}/tree  open the tree, go back to any point and try something else"),
            "/label NAME  name an entry    /undo  take the last prompt back    /fork  continue in a new session"
                .to_owned(),
            "/help  all commands    /hotkeys  all keys    /quit  quit".to_owned(),
        ];
        self.chat.transcript.push(Item::Notice(Tone::Success, lines.join("\n")));
        match &self.model {
            None => self.fail("no model is chosen: /model"),
            Some(spec) if spec.provider == OfflineModel::PROVIDER => {
                let text = "no API key is configured, so the offline model answers: enough to try everything out.\n`offshoot login` in a shell stores a key; /model chooses a model.";
                self.chat.transcript.push(Item::Notice(Tone::Warning, text.to_owned()));
            }
            Some(_) => {}
        }
    }
}
