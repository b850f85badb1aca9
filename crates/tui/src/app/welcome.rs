//! The first rows of the chat: the greeting, or the end of the session that is continued.

use crate::chat::DoubleEscape;
use crate::chat::item::{Item, Tone};
use crate::keys::Action;

use super::App;

impl App<'_> {
    /// Returns true if the session has no message yet.
    pub(super) fn is_new(&self) -> bool {
        self.agent.read(|session| session.context().is_ok_and(|context| context.messages().next().is_none()))
    }

    /// Prints the greeting, or the end of an older session.
    pub(super) fn welcome(&mut self) {
        self.refresh();
        if self.is_new() {
            self.greet();
        } else {
            self.status.count_all(&self.agent, self.services.options());
            self.show_path("welcome back");
        }
        self.announce();
    }

    /// Prints an introduction and opens the tree below it.
    pub fn introduce(&mut self, text: &str) {
        self.chat.transcript.push(Item::Notice(Tone::Success, text.to_owned()));
        self.open_tree(None);
    }

    fn greet(&mut self) {
        let escape = self
            .settings
            .keymap
            .name(Action::Interrupt)
            .filter(|_| self.chat.double_escape == DoubleEscape::Tree);
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
        match self.status.model() {
            None => self.fail("no model is chosen: /model"),
            Some(spec) if self.services.is_offline(&spec.provider) => {
                let text = "no API key is configured, so the offline model answers: enough to try everything out.\n`offshoot login` in a shell stores a key; /model chooses a model.";
                self.chat.transcript.push(Item::Notice(Tone::Warning, text.to_owned()));
            }
            Some(_) => {}
        }
    }
}
