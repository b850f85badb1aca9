//! Keys as terminals send them: components of extensions read bytes, not events.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Returns the bytes that a terminal sends for an event; none for events without input.
pub(super) fn spelled(event: &Event) -> Option<String> {
    match event {
        Event::Paste(text) => Some(format!("\x1b[200~{text}\x1b[201~")),
        Event::Key(key) if key.kind != KeyEventKind::Release => key_bytes(key),
        _ => None,
    }
}

fn key_bytes(key: &KeyEvent) -> Option<String> {
    let held = 1
        + u8::from(key.modifiers.contains(KeyModifiers::SHIFT))
        + 2 * u8::from(key.modifiers.contains(KeyModifiers::ALT))
        + 4 * u8::from(key.modifiers.contains(KeyModifiers::CONTROL));
    Some(match key.code {
        KeyCode::Char(c) => character(c, key.modifiers),
        KeyCode::Enter => point("\r", 13, held),
        KeyCode::Tab => point("\t", 9, held),
        KeyCode::BackTab => "\x1b[Z".to_owned(),
        KeyCode::Backspace => point("\x7f", 127, held),
        KeyCode::Esc => point("\x1b", 27, held),
        KeyCode::Up => letter('A', held),
        KeyCode::Down => letter('B', held),
        KeyCode::Right => letter('C', held),
        KeyCode::Left => letter('D', held),
        KeyCode::Home => letter('H', held),
        KeyCode::End => letter('F', held),
        KeyCode::Insert => tilde(2, held),
        KeyCode::Delete => tilde(3, held),
        KeyCode::PageUp => tilde(5, held),
        KeyCode::PageDown => tilde(6, held),
        _ => return None,
    })
}

/// Control takes the upper bits of a letter away, Alt puts an escape before it.
fn character(c: char, held: KeyModifiers) -> String {
    let is_control = held.contains(KeyModifiers::CONTROL);
    let c = match c {
        c if is_control && c.is_ascii_alphabetic() => char::from(c.to_ascii_lowercase() as u8 & 0x1f),
        ' ' if is_control => '\0',
        c => c,
    };
    let escape = if held.contains(KeyModifiers::ALT) { "\x1b" } else { "" };
    format!("{escape}{c}")
}

fn point(usual: &str, number: u8, held: u8) -> String {
    if held == 1 { usual.to_owned() } else { format!("\x1b[{number};{held}u") }
}

fn letter(letter: char, held: u8) -> String {
    if held == 1 { format!("\x1b[{letter}") } else { format!("\x1b[1;{held}{letter}") }
}

fn tilde(number: u8, held: u8) -> String {
    if held == 1 { format!("\x1b[{number}~") } else { format!("\x1b[{number};{held}~") }
}

#[cfg(test)]
mod tests;
