//! The only place that prints: data to standard output, words to standard error.
//!
//! Session files come from anywhere, so text of theirs reaches a terminal only through [`clean`].

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use crate::error::CommandError;

/// Standard output and standard error.
pub(crate) struct Ui {
    out: BufWriter<Stdout>,
    colour: bool,
}

/// How a piece of text is meant; colour only repeats what the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Accent,
    Good,
    Notice,
    Bad,
}

impl Ui {
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Ui { out: BufWriter::new(stdout), colour }
    }

    /// Prints one line of pieces, each cleaned.
    pub(crate) fn line(&mut self, pieces: &[(Tone, &str)]) -> Result<(), CommandError> {
        for (tone, text) in pieces.iter().filter(|(_, text)| !text.is_empty()) {
            let text = clean(text);
            match (self.colour, code(*tone)) {
                (true, Some(code)) => write!(self.out, "\x1b[{code}m{text}\x1b[0m")?,
                _ => write!(self.out, "{text}")?,
            }
        }
        Ok(writeln!(self.out)?)
    }

    /// Prints one line as it is meant, without colour.
    pub(crate) fn plain(&mut self, text: &str) -> Result<(), CommandError> {
        self.line(&[(Tone::Plain, text)])
    }

    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        Ok(self.out.flush()?)
    }

    /// Tells a person what went wrong.
    pub(crate) fn error(&mut self, text: &str, hints: &[String]) {
        // What was printed so far comes first; if that fails there is nobody to tell.
        drop(self.out.flush());
        let mut err = io::stderr().lock();
        drop(writeln!(err, "error: {}", clean(text)));
        for hint in hints {
            drop(writeln!(err, "hint: {}", clean(hint)));
        }
    }
}

fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some("2"),
        Tone::Accent => Some("36"),
        Tone::Good => Some("32"),
        Tone::Notice => Some("33"),
        Tone::Bad => Some("31"),
    }
}

/// Makes control characters, and characters that turn or hide text, visible and harmless.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
            '\u{7f}' => '\u{2421}',
            '\u{80}'..='\u{9f}' => '\u{fffd}',
            // Direction marks, isolates and overrides, zero-width characters, tags.
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                '\u{fffd}'
            }
            '\u{feff}' | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escape_codes_and_direction_marks_do_not_reach_the_terminal() {
        let hostile = "a\x1b]52;c;eA==\x07\u{9b}2J\u{202e}b\u{7f}\n";
        let cleaned = clean(hostile);
        assert!(cleaned.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{cleaned:?}");
        assert!(cleaned.starts_with("a␛]52;"));
    }
}
