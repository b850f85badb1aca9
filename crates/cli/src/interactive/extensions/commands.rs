//! Commands, keys and parts of the screen of extensions, as the front uses them.

use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{ExtensionCommand, numbered};
use offshoot_extensions::Component;
use offshoot_tui::chat::completion::Candidate;
use offshoot_tui::chat::item::{Item, Tone};
use offshoot_tui::chat::working::Activity;
use offshoot_tui::crossterm::event::{Event, KeyEvent};
use offshoot_tui::keys::{Action, Chord};

use super::super::front::Front;
use super::Guests;

/// Keys that no extension may take: without them nobody could stop or leave.
const RESERVED: &[Action] = &[
    Action::Interrupt,
    Action::Clear,
    Action::Exit,
    Action::Suspend,
    Action::Submit,
    Action::NewLine,
    Action::Complete,
];

impl Guests {
    /// Returns all commands, for the list below the editor.
    pub(in super::super) fn offered_commands(&self) -> Vec<Candidate> {
        let candidate = |(name, command): &(String, Arc<dyn ExtensionCommand>)| Candidate {
            text: name.clone(),
            what: command.description().to_owned(),
        };
        self.commands.iter().map(candidate).collect()
    }
}

impl Front<'_> {
    /// Learns which commands and keys extensions have.
    pub(super) fn know_commands(&mut self) {
        let Some(extended) = &self.guests.extended else { return };
        let loaded = extended.loaded();
        self.guests.commands = numbered(&loaded.commands());
        self.guests.offers.take();
        let mut taken: Vec<String> = Vec::new();
        for (name, _) in &self.guests.commands {
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
        self.guests.shortcuts = shortcuts;
        // Registering something else later is no reason to tell it again.
        taken.retain(|text| !self.guests.unusable.contains(text));
        for text in &taken {
            self.chat.transcript.push(Item::Notice(Tone::Warning, text.clone()));
        }
        self.guests.unusable.extend(taken);
    }

    fn is_reserved(&self, chord: Chord) -> bool {
        chord.types() || RESERVED.iter().any(|action| self.keymap.keys(*action).contains(&chord))
    }

    /// Runs a command of an extension; tells whether there is one of that name.
    pub(in super::super) fn run_foreign(&mut self, text: &str) -> bool {
        let Some(line) = text.trim().strip_prefix('/') else { return false };
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if self.guests.is_loading {
            // It may be a command of an extension that is not there yet.
            self.follow_up(text);
            return true;
        }
        let found = self.guests.commands.iter().find(|(known, _)| known == name);
        let Some((_, command)) = found.cloned() else { return false };
        let Some(extended) = &self.guests.extended else { return false };
        let (handle, cancel) = (extended.host.agent.clone(), Cancel::new());
        let (arguments, name) = (arguments.trim().to_owned(), name.to_owned());
        self.begin_foreign(format!("/{name}"), &cancel);
        self.guests.spawn(async move {
            let result = command.run(&arguments, &handle, &cancel).await;
            move |front: &mut Front<'_>| front.command_done(&format!("/{name}"), result)
        });
        true
    }

    /// Does what a key of an extension is for; tells whether it is one.
    pub(in super::super) fn press_foreign(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let Some((key, extension)) = self.foreign_key(key) else { return false };
        let cancel = Cancel::new();
        self.begin_foreign(key.clone(), &cancel);
        self.guests.spawn(async move {
            let result = extension.press(&key, &cancel).await;
            move |front: &mut Front<'_>| front.command_done(&key, result.map(|()| None))
        });
        true
    }

    fn foreign_key(&self, event: &KeyEvent) -> Option<(String, offshoot_extensions::Extension)> {
        let chord = Chord::of(event)?;
        // The last one that wanted it has it.
        let found = self.guests.shortcuts.iter().rev().find(|(own, ..)| *own == chord);
        found.map(|(_, key, extension)| (key.clone(), extension.clone()))
    }

    fn begin_foreign(&mut self, name: String, cancel: &Cancel) {
        if self.chat.working.activity().is_none() {
            let now = self.now();
            self.chat.working.begin(Activity::Other(format!("{name}…")), now);
        }
        self.guests.running.push((name, cancel.clone()));
    }

    /// A command or a key is done.
    pub(super) fn command_done(&mut self, name: &str, result: Result<Option<String>, String>) {
        if let Some(at) = self.guests.running.iter().position(|(running, _)| running == name) {
            self.guests.running.remove(at);
        }
        if self.guests.running.is_empty() && !self.is_busy() {
            self.chat.working.end();
        }
        match result {
            Ok(None) => {}
            Ok(Some(prompt)) => self.say(&prompt),
            Err(error) => self.fail(&format!("{name} failed: {error}")),
        }
        self.refresh();
    }

    /// Draws the parts of the screen that want to be drawn.
    pub(super) fn draw_parts(&mut self) {
        let width = self.columns;
        for component in self.guests.surface.take_outdated() {
            self.guests.spawn(async move {
                let drawn = component.render(width).await;
                move |front: &mut Front<'_>| front.component_drawn(&component, drawn)
            });
        }
        self.show_extras();
    }

    /// Takes the lines of a component. A component that cannot be drawn is removed.
    pub(super) fn component_drawn(&mut self, component: &Component, drawn: Result<Vec<String>, String>) {
        let failure =
            drawn.as_ref().err().map(|error| format!("extension `{}`: {error}", component.extension.name()));
        let lines = drawn.ok().map(|drawn| super::lines(&drawn, self.guests.surface.is_plain));
        if !self.dialog_drawn(component, lines.as_deref()) {
            if let Some(header) = self.guests.surface.drawn(component, lines) {
                self.chat.transcript.push(Item::Drawn(header));
            }
            self.draw_parts();
        }
        if let Some(failure) = failure {
            self.fail(&failure);
        }
    }

    /// Draws a component again, wherever it is.
    pub(super) fn redraw(&mut self, component: &Component) {
        self.redraw_components(Some(component));
    }

    /// Draws all components again: the terminal has another size.
    pub(in super::super) fn redraw_extensions(&mut self) {
        self.redraw_components(None);
    }

    fn redraw_components(&mut self, named: Option<&Component>) {
        self.guests.surface.outdate(named);
        self.redraw_dialog(named);
        self.draw_parts();
    }

    pub(super) fn show_extras(&mut self) {
        self.chat.extras = self.guests.surface.extras();
    }
}
