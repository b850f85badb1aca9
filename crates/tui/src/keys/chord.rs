//! Chords: one key with its modifiers, as the keybindings file spells it and as a terminal sends it.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The modifiers that count.
const MODIFIERS: [(&str, &str, KeyModifiers); 4] = [
    ("ctrl", "Ctrl", KeyModifiers::CONTROL),
    ("alt", "Alt", KeyModifiers::ALT),
    ("shift", "Shift", KeyModifiers::SHIFT),
    ("super", "Super", KeyModifiers::SUPER),
];

/// Keys that have a name: as written in a file, as shown, as sent.
const NAMED: [(&str, &str, KeyCode); 18] = [
    ("escape", "Esc", KeyCode::Esc),
    ("esc", "Esc", KeyCode::Esc),
    ("enter", "Enter", KeyCode::Enter),
    ("return", "Enter", KeyCode::Enter),
    ("tab", "Tab", KeyCode::Tab),
    ("space", "Space", KeyCode::Char(' ')),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("delete", "Del", KeyCode::Delete),
    ("insert", "Ins", KeyCode::Insert),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("pageup", "PgUp", KeyCode::PageUp),
    ("pagedown", "PgDn", KeyCode::PageDown),
    ("up", "↑", KeyCode::Up),
    ("down", "↓", KeyCode::Down),
    ("left", "←", KeyCode::Left),
    ("right", "→", KeyCode::Right),
    ("plus", "+", KeyCode::Char('+')),
];

/// One key with its modifiers.
///
/// Letters are kept in lower case with Shift as a modifier; for other characters Shift is part of the character, because
/// which key gives a `?` depends on the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Chord {
    /// Returns the chord of a key event; `None` when the key was let go.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        let pressed = matches!(event.kind, KeyEventKind::Press | KeyEventKind::Repeat);
        pressed.then(|| Self::new(event.code, event.modifiers))
    }

    fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let counted = MODIFIERS.iter().fold(KeyModifiers::NONE, |all, (_, _, modifier)| all | *modifier);
        let modifiers = modifiers & counted;
        match code {
            KeyCode::BackTab => Self { code: KeyCode::Tab, modifiers: modifiers | KeyModifiers::SHIFT },
            KeyCode::Char(c) if c.is_alphabetic() => Self::letter(c, modifiers),
            KeyCode::Char(' ') => Self { code, modifiers },
            KeyCode::Char(_) => Self { code, modifiers: modifiers - KeyModifiers::SHIFT },
            _ => Self { code, modifiers },
        }
    }

    fn letter(c: char, modifiers: KeyModifiers) -> Self {
        let lower = c.to_lowercase().next().unwrap_or(c);
        let shift = if c == lower { KeyModifiers::NONE } else { KeyModifiers::SHIFT };
        Self { code: KeyCode::Char(lower), modifiers: modifiers | shift }
    }

    /// Reads a chord such as `ctrl+shift+left`, `f2` or `?`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text.trim();
        while let Some((name, after)) = rest.split_once('+').filter(|(name, _)| !name.is_empty()) {
            let known = MODIFIERS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
            modifiers |= known?.2;
            rest = after;
        }
        key(rest).map(|code| Self::new(code, modifiers))
    }

    /// Returns true if the chord types a character: no modifier but Shift is held.
    pub fn types(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && (self.modifiers - KeyModifiers::SHIFT).is_empty()
    }
}

/// Returns the character that a key types, if it types one: the very one that was sent.
pub(super) fn typed(event: &KeyEvent) -> Option<char> {
    let KeyCode::Char(c) = event.code else { return None };
    if !Chord::of(event)?.types() {
        return None;
    }
    let is_shifted = event.modifiers.contains(KeyModifiers::SHIFT);
    Some(if is_shifted && c.is_lowercase() { capital(c) } else { c })
}

/// Some terminals name the key and Shift; a letter whose capital is two letters stays as it is.
fn capital(c: char) -> char {
    let mut capital = c.to_uppercase();
    match (capital.next(), capital.next()) {
        (Some(capital), None) => capital,
        _ => c,
    }
}

/// Reads the name of a key.
fn key(name: &str) -> Option<KeyCode> {
    let mut letters = name.chars();
    if let (Some(c), None) = (letters.next(), letters.next()) {
        return Some(KeyCode::Char(c)).filter(|_| !c.is_control());
    }
    if let Some((.., code)) = NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    let number: u8 = name.strip_prefix(['f', 'F'])?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, shown, modifier) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                write!(f, "{shown}+")?;
            }
        }
        match (NAMED.iter().find(|(.., code)| *code == self.code), self.code) {
            (Some((_, shown, _)), _) => f.write_str(shown),
            (None, KeyCode::Char(c)) if self.modifiers.is_empty() => write!(f, "{c}"),
            (None, KeyCode::Char(c)) => write!(f, "{}", c.to_uppercase()),
            (None, code) => write!(f, "{code}"),
        }
    }
}

#[cfg(test)]
mod tests;
