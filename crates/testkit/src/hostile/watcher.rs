//! Reads bytes as a terminal does, and notes what is neither a letter nor allowed.
//!
//! Uses a separate list of characters that hide or reorder text: the code under test must not check itself.

use vte::{Params, Parser, Perform};

/// Characters that are allowed between letters.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// Whether lines end; a terminal puts a return before every line feed by itself.
    pub lines: bool,
    /// Which control sequences are ours, by their numbers and their last letter.
    pub sequence: fn(&[u16], char) -> bool,
}

/// The input of a terminal.
#[derive(Debug, Default)]
pub struct Watched {
    /// Everything that is neither a letter nor allowed.
    pub foreign: Vec<String>,
    /// The letters.
    pub printed: String,
}

/// Reads bytes as a terminal does.
///
/// ```
/// use testkit::hostile::{Allowed, watch};
///
/// let nothing = Allowed { lines: false, sequence: |_, _| false };
/// assert!(watch("a 👩\u{200d}👧 ❤\u{fe0f}".as_bytes(), nothing).foreign.is_empty());
/// for evil in ["a\u{200b}", "\u{1b}[2J", "\n", "a\u{200d}b", "\u{e0041}", "a\u{fe0f}"] {
///     assert!(!watch(evil.as_bytes(), nothing).foreign.is_empty(), "{evil:?}");
/// }
/// ```
pub fn watch(bytes: &[u8], allowed: Allowed) -> Watched {
    let watched = Watched::default();
    let mut watcher = Watcher { allowed, watched, before: None, joins: false, returned: false };
    Parser::new().advance(&mut watcher, bytes);
    watcher.end_join(None);
    watcher.watched
}

struct Watcher {
    allowed: Allowed,
    watched: Watched,
    /// The last letter.
    before: Option<char>,
    /// Whether the last letter was a joiner after a picture, which needs another one.
    joins: bool,
    /// Whether the last byte returned to the start of the line.
    returned: bool,
}

impl Watcher {
    fn note(&mut self, what: impl Into<String>) {
        self.watched.foreign.push(what.into());
    }

    /// A joiner makes one picture of two; anywhere else it hides.
    fn end_join(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.joins) && !next.is_some_and(is_picture) {
            self.note("a joiner without a second picture");
        }
    }

    /// Tells whether a letter that shows nothing chooses how the picture before it looks.
    fn is_part_of_picture(&mut self, c: char) -> bool {
        match (c, self.before) {
            ('\u{200d}', Some(before)) => {
                self.joins = is_picture(before) || before == '\u{fe0f}';
                self.joins
            }
            ('\u{fe0e}' | '\u{fe0f}', Some(before)) => !before.is_ascii_alphabetic() && !is_hidden(before),
            _ => false,
        }
    }
}

impl Perform for Watcher {
    fn print(&mut self, c: char) {
        if std::mem::take(&mut self.returned) {
            self.note("return");
        }
        self.end_join(Some(c));
        if is_hidden(c) && !self.is_part_of_picture(c) {
            self.note(format!("{c:?}"));
        }
        self.watched.printed.push(c);
        self.before = Some(c);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' if self.allowed.lines => self.returned = true,
            b'\n' if self.allowed.lines => self.returned = false,
            byte => self.note(format!("control {byte:#x}")),
        }
    }

    fn csi_dispatch(&mut self, parameters: &Params, _: &[u8], _: bool, action: char) {
        let numbers: Vec<u16> = parameters.iter().flatten().copied().collect();
        if !(self.allowed.sequence)(&numbers, action) {
            self.note(format!("CSI {numbers:?} {action}"));
        }
    }

    fn osc_dispatch(&mut self, parameters: &[&[u8]], _: bool) {
        self.note(format!("OSC {parameters:?}"));
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, action: char) {
        self.note(format!("DCS {action}"));
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, byte: u8) {
        self.note(format!("ESC {byte:#x}"));
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1f1e5}' | '\u{1f200}'..='\u{1faff}')
}
