//! Keys that extensions get before the editor: each is offered to the listeners, one after the other, beside the main loop.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyModifiers};
use offshoot_extensions::Extension;

use super::super::App;
use super::ExtensionUi;
use super::bytes::spelled;
use crate::keys::Input;

/// How long listeners may take for one key; after that the editor gets it.
const PATIENCE: Duration = Duration::from_millis(500);

/// The extensions that listen to keys, and the keys that wait for them.
#[derive(Default)]
pub(super) struct HeardKeys {
    listeners: Vec<Extension>,
    waiting: VecDeque<Event>,
    is_asking: bool,
}

impl ExtensionUi {
    /// Adds or removes a listener.
    pub(super) fn listen_to_keys(&mut self, extension: &Extension, listens: bool) {
        let listeners = &mut self.keys.listeners;
        listeners.retain(|other| other != extension);
        if listens {
            listeners.push(extension.clone());
        }
    }
}

impl App<'_> {
    /// Offers a key to the extensions that listen to the keyboard. Returns false if none does. Ctrl+C always reaches the chat.
    pub(in super::super) fn offer_key(&mut self, event: &Event) -> bool {
        let keys = &mut self.extensions.keys;
        let loaded = self.extensions.host.as_ref().map(|host| host.tools.extensions());
        // Extensions that were loaded again have registered again.
        keys.listeners.retain(|one| {
            one.disabled().is_none()
                && loaded.as_ref().is_some_and(|all| all.iter().any(|other| other == one))
        });
        if keys.listeners.is_empty() && keys.waiting.is_empty()
            || is_interrupt(event)
            || spelled(event).is_none()
        {
            return false;
        }
        keys.waiting.push_back(event.clone());
        self.ask_about_key();
        true
    }

    /// Asks the listeners about the next key that waits.
    fn ask_about_key(&mut self) {
        let keys = &mut self.extensions.keys;
        if keys.is_asking {
            return;
        }
        let Some(event) = keys.waiting.pop_front() else { return };
        keys.is_asking = true;
        let listeners = keys.listeners.clone();
        let data = spelled(&event).unwrap_or_default();
        self.extensions.spawn(async move {
            let asked = tokio::time::timeout(PATIENCE, ask(&listeners, data.clone())).await;
            let left = asked.unwrap_or_else(|_| Some(data.clone()));
            move |app: &mut App<'_>| app.key_was_heard(&event, &data, left)
        });
    }

    /// Gives the editor what the listeners left of a key.
    fn key_was_heard(&mut self, event: &Event, data: &str, left: Option<String>) {
        self.extensions.keys.is_asking = false;
        match left {
            None => {}
            // A dialog may have opened since the key was typed.
            Some(same) if same == data && self.views.is_open() => self.view_event(event),
            Some(same) if same == data => self.is_over |= self.editor_event(event).is_err(),
            Some(other) => drop(self.chat.editor.update(&Input::Paste(other))),
        }
        self.ask_about_key();
    }
}

/// Asks one listener after the other. Returns the rest of the key.
async fn ask(listeners: &[Extension], mut data: String) -> Option<String> {
    for listener in listeners {
        // A listener that fails consumes nothing; its extension is reported elsewhere.
        if let Ok(left) = listener.terminal_input(&data).await {
            data = left?;
        }
    }
    Some(data)
}

fn is_interrupt(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL))
}
