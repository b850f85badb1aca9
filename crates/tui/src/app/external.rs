//! The external editor, the clipboard, and the shell during a suspension.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::chat::item::Tone;
use rustix::process::{Signal, getpid, kill_process};
use session_tree::Session;

use super::App;

impl App<'_> {
    /// Opens the prompt in the external editor.
    pub(super) fn edit_prompt(&mut self) {
        let text = self.chat.editor.text();
        if let Some(edited) = self.edit_externally(&text) {
            self.chat.editor.set_text(edited.trim_end());
        }
    }

    /// Opens a text in the external editor. Returns `None` if that does not work.
    pub(super) fn edit_externally(&mut self, text: &str) -> Option<String> {
        let Some(editor) = self.environment.editor.clone() else {
            self.tell(Tone::Warning, "no editor: set VISUAL or EDITOR");
            return None;
        };
        match self.screen.lend(|| edited(&editor, text)) {
            Ok(Ok(text)) => Some(text),
            Ok(Err(error)) => {
                self.fail(&format!("cannot use the editor `{editor}`: {error}"));
                None
            }
            Err(_) => {
                self.is_over = true;
                None
            }
        }
    }

    /// Stops the program until the shell continues it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.keep_position();
        let stopped = self.screen.lend(|| kill_process(getpid(), Signal::TSTP))?;
        if let Err(error) = stopped {
            self.fail(&format!("cannot be suspended: {error}"));
        }
        Ok(())
    }

    /// Asks the terminal to put a text, described by `what`, into its clipboard. Terminals do not confirm it.
    pub(super) fn copy_text(&mut self, text: &str, what: &str) {
        let bytes = crate::chat::inline::to_clipboard(text);
        match self.screen.write(&bytes) {
            Ok(()) => self.tell(Tone::Info, format!("sent {what} to the clipboard of the terminal (OSC 52)")),
            Err(_) => self.is_over = true,
        }
    }

    /// Copies the text of an entry.
    pub(super) fn copy_entry(&mut self, id: &str) {
        match self.agent.read(|session| text_of(session, id)) {
            Some(text) if !text.trim().is_empty() => self.copy_text(&text, "the text"),
            _ => self.tell(Tone::Warning, "there is no text in this entry"),
        }
    }
}

/// Returns the text of an entry.
fn text_of(session: &Session, id: &str) -> Option<String> {
    let entry = session.entry(id).ok()?;
    if let Some(message) = entry.to_message() {
        return Some(message.text().into_owned());
    }
    let value = entry.value()?;
    let text = value.get("summary").or_else(|| value.get("content"))?;
    Some(session_tree::Content::of(Some(text)).text().into_owned())
}

/// Lets the editor change a file with the text; returns the new text.
fn edited(editor: &str, text: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("offshoot-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    run(editor, file.path())?;
    std::fs::read_to_string(file.path())
}

/// Runs the editor as the shell would: it may have arguments.
fn run(editor: &str, file: &Path) -> io::Result<()> {
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(status.to_string())),
    }
}
