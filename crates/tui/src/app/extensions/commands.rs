//! Commands, keys and components of extensions.

use std::sync::Arc;

use crate::chat::completion::Candidate;
use crate::chat::item::{Item, Tone};
use crate::chat::working::Activity;
use crate::keys::{Action, Chord};
use crossterm::event::{Event, KeyEvent};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{ExtensionCommand, numbered};
use offshoot_extensions::Component;

use super::super::App;
use super::ExtensionUi;

/// The keys that no extension may take: without them nothing could be stopped or left.
const RESERVED: &[Action] = &[
    Action::Interrupt,
    Action::Clear,
    Action::Exit,
    Action::Suspend,
    Action::Submit,
    Action::NewLine,
    Action::Complete,
];

impl ExtensionUi {
    /// Returns all commands, for the list below the editor.
    pub(in super::super) fn offered_commands(&self) -> Vec<Candidate> {
        let candidate = |(name, command): &(String, Arc<dyn ExtensionCommand>)| Candidate {
            text: name.clone(),
            what: command.description().to_owned(),
        };
        self.commands.iter().map(candidate).collect()
    }
}

impl App<'_> {
    /// Reads which commands and keys extensions have.
    pub(super) fn update_commands(&mut self) {
        let Some(loaded) = self.extensions.loaded() else { return };
        self.extensions.commands = numbered(&loaded.commands());
        self.extensions.arguments.take();
        let mut taken: Vec<String> = Vec::new();
        for (name, _) in &self.extensions.commands {
            if self.chat.commands.iter().any(|own| own.name == *name) {
                taken.push(format!(
                    "/{name} of an extension cannot be used: offshoot has a command of that name"
                ));
            }
        }
        let mut shortcuts = Vec::new();
        for extension in loaded.iter() {
            for shortcut in extension.registry().shortcuts {
                match Chord::parse(&shortcut.key) {
                    Some(chord) if !self.is_reserved(chord) => {
                        shortcuts.push((chord, shortcut.key, extension.clone()));
                    }
                    _ => taken.push(format!(
                        "the key `{}` of the extension {} cannot be used",
                        shortcut.key,
                        extension.name()
                    )),
                }
            }
        }
        self.extensions.shortcuts = shortcuts;
        // A later registration does not repeat a warning.
        taken.retain(|text| !self.extensions.unusable.contains(text));
        for text in &taken {
            self.chat.transcript.push(Item::Notice(Tone::Warning, text.clone()));
        }
        self.extensions.unusable.extend(taken);
    }

    fn is_reserved(&self, chord: Chord) -> bool {
        chord.types() || RESERVED.iter().any(|action| self.settings.keymap.keys(*action).contains(&chord))
    }

    /// Runs a command of an extension. Returns false for an unknown name.
    pub(in super::super) fn run_extension_command(&mut self, text: &str) -> bool {
        let Some(line) = text.trim().strip_prefix('/') else { return false };
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if self.extensions.is_loading {
            // It may be a command of an extension that is not there yet.
            self.follow_up(text);
            return true;
        }
        let found = self.extensions.commands.iter().find(|(known, _)| known == name);
        let Some((_, command)) = found.cloned() else { return false };
        let Some(host) = &self.extensions.host else { return false };
        let (handle, cancel) = (host.agent.clone(), Cancel::new());
        let (arguments, name) = (arguments.trim().to_owned(), name.to_owned());
        self.begin_command(format!("/{name}"), &cancel);
        self.extensions.spawn(async move {
            let result = command.run(&arguments, &handle, &cancel).await;
            move |app: &mut App<'_>| app.command_done(&format!("/{name}"), result)
        });
        true
    }

    /// Performs a key of an extension. Returns false for any other key.
    pub(in super::super) fn press_extension_key(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let Some((key, extension)) = self.extension_key(key) else { return false };
        let cancel = Cancel::new();
        self.begin_command(key.clone(), &cancel);
        self.extensions.spawn(async move {
            let result = extension.press(&key, &cancel).await;
            move |app: &mut App<'_>| app.command_done(&key, result.map(|()| None))
        });
        true
    }

    fn extension_key(&self, event: &KeyEvent) -> Option<(String, offshoot_extensions::Extension)> {
        let chord = Chord::of(event)?;
        // The last one that wanted it has it.
        let found = self.extensions.shortcuts.iter().rev().find(|(own, ..)| *own == chord);
        found.map(|(_, key, extension)| (key.clone(), extension.clone()))
    }

    fn begin_command(&mut self, name: String, cancel: &Cancel) {
        if self.chat.working.activity().is_none() {
            self.begin(Activity::Other(format!("{name}…")));
        }
        self.extensions.running.push((name, cancel.clone()));
    }

    /// Shows the result of a command or a key.
    fn command_done(&mut self, name: &str, result: Result<Option<String>, String>) {
        if let Some(at) = self.extensions.running.iter().position(|(running, _)| running == name) {
            self.extensions.running.remove(at);
        }
        if self.extensions.running.is_empty() && !self.is_busy() {
            self.chat.working.end();
        }
        match result {
            Ok(None) => {}
            Ok(Some(prompt)) => self.say(&prompt),
            Err(error) => self.fail(&format!("{name} failed: {error}")),
        }
        self.refresh();
    }

    /// Draws the parts of the screen that are stale.
    pub(super) fn draw_parts(&mut self) {
        let width = self.screen.columns();
        for component in self.extensions.surface.take_outdated() {
            self.extensions.spawn(async move {
                let drawn = component.render(width).await;
                move |app: &mut App<'_>| app.component_drawn(&component, drawn)
            });
        }
        self.show_extras();
    }

    /// Takes the lines of a component. A component that cannot be drawn is removed.
    pub(super) fn component_drawn(&mut self, component: &Component, drawn: Result<Vec<String>, String>) {
        let failure =
            drawn.as_ref().err().map(|error| format!("extension `{}`: {error}", component.extension.name()));
        let lines = drawn.ok().map(|drawn| super::lines(&drawn, self.extensions.surface.is_plain));
        if !self.dialog_drawn(component, lines.as_deref()) {
            if let Some(header) = self.extensions.surface.drawn(component, lines) {
                self.chat.transcript.push(Item::Drawn(header));
            }
            self.draw_parts();
        }
        if let Some(failure) = failure {
            self.fail(&failure);
        }
    }

    /// Draws a component again, wherever it is; all of them, if none is named.
    pub(in super::super) fn redraw_components(&mut self, named: Option<&Component>) {
        self.extensions.surface.outdate(named);
        self.redraw_dialog(named);
        self.draw_parts();
    }

    pub(super) fn show_extras(&mut self) {
        self.chat.extras = self.extensions.surface.extras();
    }
}
