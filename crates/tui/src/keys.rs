//! Key bindings: defaults, presets, and the user's keybindings file.
//!
//! One key may be bound to several actions; a part of the screen names the actions it knows, in the order they count, and
//! gets the first one that is bound to the key ([`Keymap::input`]). Pasted text never is a key.

mod action;
mod chord;
mod file;

use std::collections::HashMap;

use crossterm::event::{Event, KeyEvent};

pub use action::{Action, Group, Screen};
pub use chord::Chord;

/// An input for a part of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key that is bound to an action.
    Action(Action),
    /// A character was typed.
    Char(char),
    /// Text was pasted; whatever it holds, it is text.
    Paste(String),
}

/// The use of keys that type a character and are bound to an action, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// The action: nothing is being typed.
    Act,
    /// The text that is being typed.
    Type,
}

/// Which set of default keys is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Ours.
    #[default]
    Offshoot,
    /// As pi has them: Ctrl+O goes through the filters of the tree.
    Pi,
}

/// Keys that differ in the preset `pi`.
const PI: &[(Action, &[&str])] = &[
    (Action::TreeFilterAll, &["ctrl+a"]),
    (Action::TreeFilterNext, &["ctrl+o", "alt+o"]),
    (Action::TreeFilterPrevious, &["shift+ctrl+o", "shift+alt+o"]),
];

/// The key bindings.
#[derive(Debug, Clone)]
pub struct Keymap {
    keys: HashMap<Action, Vec<Chord>>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Preset::Offshoot)
    }
}

impl Preset {
    /// Finds a preset by the name that settings use.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "offshoot" => Some(Preset::Offshoot),
            "pi" => Some(Preset::Pi),
            _ => None,
        }
    }

    fn keys(self, action: Action) -> &'static [&'static str] {
        let own = PI.iter().find(|(of, _)| self == Preset::Pi && *of == action);
        own.map_or(action.default_keys(), |(_, keys)| keys)
    }
}

impl Keymap {
    /// Returns the keys of a preset.
    pub fn new(preset: Preset) -> Self {
        let chords = |action| preset.keys(action).iter().filter_map(|key| Chord::parse(key)).collect();
        Self { keys: Action::ALL.iter().map(|action| (*action, chords(*action))).collect() }
    }

    /// Reads a keybindings file on top of a preset; what cannot be understood is reported and left as it was.
    pub fn with_file(preset: Preset, text: &str) -> (Self, Vec<String>) {
        let mut keymap = Self::new(preset);
        let (bindings, errors) = file::read(text);
        keymap.keys.extend(bindings);
        (keymap, errors)
    }

    /// Finds the first of `actions` that a key is bound to.
    pub fn action(&self, event: &KeyEvent, actions: &[Action]) -> Option<Action> {
        let chord = Chord::of(event)?;
        actions.iter().copied().find(|action| self.keys(*action).contains(&chord))
    }

    /// Turns an event of the terminal into what a part of the screen takes.
    pub fn input(&self, event: &Event, actions: &[Action], letters: Letters) -> Option<Input> {
        match event {
            Event::Paste(text) => Some(Input::Paste(text.clone())),
            Event::Key(key) => {
                let typed = chord::typed(key);
                let act = || self.action(key, actions).map(Input::Action);
                match letters {
                    Letters::Type if typed.is_some() => typed.map(Input::Char),
                    Letters::Type | Letters::Act => act().or(typed.map(Input::Char)),
                }
            }
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Resize(..) => None,
        }
    }

    /// Returns the keys of an action; none when it was switched off.
    pub fn keys(&self, action: Action) -> &[Chord] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Names the first key of an action for a line of help.
    pub fn name(&self, action: Action) -> Option<String> {
        self.keys(action).first().map(Chord::to_string)
    }

    /// Names all keys of an action for a page of help.
    pub fn names(&self, action: Action) -> String {
        let names: Vec<String> = self.keys(action).iter().map(Chord::to_string).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests;
