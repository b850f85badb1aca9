//! Questions at a terminal: yes or no, one of a list, a key that is not shown.
//!
//! Reads answers from standard input and writes questions to standard error. Piped input is never an answer.

use std::io::{self, BufRead, IsTerminal, Read};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::error::CommandError;
use crate::ui::Ui;

/// Returns true if a user can see and answer a question.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a yes-or-no question; any other answer is a no.
pub(crate) fn yes(ui: &mut Ui, question: &str) -> Result<bool, CommandError> {
    let answer = line(ui, &format!("{question} [y/N] "))?.unwrap_or_default();
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks for one of several words, which may be abbreviated. Returns `None` for any other answer.
pub(crate) fn word(
    ui: &mut Ui,
    question: &str,
    words: &[&'static str],
) -> Result<Option<&'static str>, CommandError> {
    let answer = line(ui, &format!("{question} [{}] ", words.join("/")))?.unwrap_or_default();
    let answer = answer.trim().to_ascii_lowercase();
    Ok(words.iter().copied().find(|word| !answer.is_empty() && word.starts_with(&answer)))
}

/// Asks for a number from one to `most`. Returns `None` for any other answer.
pub(crate) fn number(ui: &mut Ui, question: &str, most: usize) -> Result<Option<usize>, CommandError> {
    let answer = line(ui, &format!("{question} [1-{most}] "))?.unwrap_or_default();
    Ok(answer.trim().parse().ok().filter(|number| (1..=most).contains(number)))
}

/// Asks for text that is not shown. Returns `None` at the end of the input.
pub(crate) fn hidden(ui: &mut Ui, question: &str) -> Result<Option<String>, CommandError> {
    // Hides the input before the question, so that a fast answer is not shown either.
    let quiet = HiddenInput::begin().map_err(|error| failed(&error))?;
    ui.question(question)?;
    let typed = read_hidden(&mut io::stdin().lock());
    drop(quiet);
    ui.tell("")?;
    match typed.map_err(|error| failed(&error))? {
        Typed::Text(text) => Ok(Some(text)),
        Typed::Nothing => Ok(None),
        Typed::Interrupted => Err(CommandError::Interrupted),
    }
}

fn line(ui: &mut Ui, question: &str) -> Result<Option<String>, CommandError> {
    ui.question(question)?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer).map_err(|error| failed(&error))?;
    Ok((read > 0).then_some(answer))
}

fn failed(error: &io::Error) -> CommandError {
    CommandError::system("read", "the terminal".as_ref(), error)
}

/// A terminal without echo that delivers every key at once, until it is dropped. Ctrl-C arrives as a key, so that the
/// terminal is always restored.
struct HiddenInput(Termios);

impl HiddenInput {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(HiddenInput(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// The result of reading hidden input.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Text(String),
    Nothing,
    Interrupted,
}

/// Reads keys up to the end of the line, including editing keys.
fn read_hidden(keys: &mut impl Read) -> io::Result<Typed> {
    let mut text = Vec::new();
    let mut key = [0];
    while keys.read(&mut key)? > 0 {
        match key[0] {
            b'\n' | b'\r' => return Ok(Typed::Text(String::from_utf8_lossy(&text).into_owned())),
            0x03 => return Ok(Typed::Interrupted),
            0x04 if text.is_empty() => return Ok(Typed::Nothing),
            0x08 | 0x7f => drop(text.pop()),
            0x15 => text.clear(),
            byte => text.push(byte),
        }
    }
    Ok(Typed::Nothing)
}

#[cfg(test)]
mod tests;
