//! The result of a command that changes a session, and its output.

pub(crate) use offshoot_tui::app::ChangeEffect as Effect;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use session_tree::{EntryId, Session};

use crate::app::{App, file_of};
use crate::error::CommandError;
use crate::ui::{Tone, clean};

// The options of every changing command. (A documentation comment would replace the help of the command.)
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Changing {
    /// Print what would be done, and do nothing.
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The result of a command, done or planned: for people, for scripts (`--json`) and for the chat.
///
/// Standard output gets the value that a script needs next, standard error the messages.
#[derive(Debug)]
pub(crate) struct Change {
    verbs: (&'static str, &'static str),
    what: String,
    output: Vec<String>,
    preview: Option<String>,
    notes: Vec<String>,
    undo: Option<String>,
    action: &'static str,
    /// The fields of the JSON form that only this command has.
    fields: Value,
    /// The effect in the chat besides the text.
    pub(crate) effect: Effect,
}

/// The JSON form of a change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeJson<T> {
    /// The action.
    action: &'static str,
    #[serde(flatten)]
    fields: T,
    /// True if it was only planned.
    dry_run: bool,
    /// The command that undoes the change.
    undo: Option<String>,
}

/// The file and the leaf of a session, in the JSON form of a change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionState {
    /// The file of the session; empty if it has none.
    file: String,
    /// The leaf after the change; null is the start.
    leaf_id: Option<EntryId>,
}

impl SessionState {
    /// Reads the file and the leaf of a session.
    pub(crate) fn of(session: &Session) -> Self {
        SessionState { file: file_of(session), leaf_id: session.leaf_id() }
    }
}

impl Change {
    /// Creates a change from a verb, done and planned (`"labelled"`, `"label"`), and its object.
    pub(crate) fn new(done: &'static str, to_do: &'static str, what: impl Into<String>) -> Self {
        Change {
            verbs: (done, to_do),
            what: what.into(),
            output: Vec::new(),
            preview: None,
            notes: Vec::new(),
            undo: None,
            action: to_do,
            fields: Value::Null,
            effect: Effect::None,
        }
    }

    /// Creates the result of a command that changes nothing.
    pub(crate) fn shown(what: impl Into<String>) -> Self {
        Change::new("", "", what)
    }

    /// Adds text for standard output.
    pub(crate) fn gives(mut self, text: impl Into<String>) -> Self {
        self.output.push(text.into());
        self
    }

    /// Sets the text that a dry run prints on standard output.
    pub(crate) fn preview(self, text: impl Into<String>) -> Self {
        Change { preview: Some(text.into()), ..self }
    }

    /// Adds a message after the first one; not part of the JSON.
    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the command that undoes the change.
    pub(crate) fn undo(mut self, command: impl Into<String>) -> Self {
        self.undo = Some(command.into());
        self
    }

    /// Removes the command that undoes the change.
    pub(crate) fn no_undo(mut self) -> Self {
        self.undo = None;
        self
    }

    /// Returns true if the change can be undone.
    pub(crate) fn has_undo(&self) -> bool {
        self.undo.is_some()
    }

    /// Sets a move back to the old leaf as the command that undoes the change.
    pub(crate) fn undo_by_moving(self, file: &str, old_leaf: Option<&EntryId>) -> Self {
        match old_leaf {
            Some(leaf) => self.undo(format!("offshoot switch --exact {}", arguments(&[file, leaf.as_str()]))),
            None => self.undo(format!("offshoot switch {}", arguments(&[file, "start"]))),
        }
    }

    /// Sets the fields of the JSON form that only this command has.
    pub(crate) fn json(self, fields: impl Serialize) -> Result<Self, CommandError> {
        let fields = serde_json::to_value(fields).map_err(std::io::Error::from)?;
        Ok(Change { fields, ..self })
    }

    /// Sets the name of the action in the JSON form; the default is the verb.
    pub(crate) fn action(self, action: &'static str) -> Self {
        Change { action, ..self }
    }

    /// Sets the effect on a conversation.
    pub(crate) fn effect(self, effect: Effect) -> Self {
        Change { effect, ..self }
    }

    /// Returns the text that the chat shows.
    pub(crate) fn text(&self) -> String {
        let sentence = format!("{} {}", self.verbs.0, self.what);
        let notes = self.notes.iter().map(|note| format!("\n{note}"));
        format!("{}{}", sentence.trim_start(), notes.collect::<String>())
    }

    /// Returns the text for a client that shows nothing else: the sentence, and the text for standard output.
    #[cfg(feature = "server")]
    pub(crate) fn full_text(&self) -> String {
        [self.text()].into_iter().chain(self.output.iter().cloned()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the JSON form.
    pub(crate) fn into_json(self, dry_run: bool) -> Result<Value, CommandError> {
        if self.verbs.0.is_empty() {
            return Ok(self.fields);
        }
        let Change { action, fields, undo, .. } = self;
        let undo = undo.filter(|_| !dry_run);
        Ok(serde_json::to_value(ChangeJson { action, fields, dry_run, undo })
            .map_err(std::io::Error::from)?)
    }

    /// Prints the change.
    pub(crate) fn tell(self, app: &mut App, how: Changing) -> Result<(), CommandError> {
        if how.json {
            return app.ui.json(&self.into_json(how.dry_run)?);
        }
        let is_shown = self.verbs.0.is_empty();
        let undo = self.undo.filter(|_| !how.dry_run);
        let output = if how.dry_run { self.preview.as_slice() } else { &self.output };
        for text in output {
            app.ui.block(Tone::Plain, 0, text)?;
        }
        let (done, to_do) = self.verbs;
        match how.dry_run {
            _ if is_shown && !self.output.is_empty() => {}
            _ if is_shown => app.ui.tell(&self.what)?,
            true => app.ui.tell(&format!("would {to_do} {}", self.what))?,
            false => app.ui.tell(&format!("{done} {}", self.what))?,
        }
        if let Some(undo) = undo {
            app.ui.tell(&format!("undo: {undo}"))?;
        }
        let mut lines = self.notes.iter().flat_map(|note| note.lines());
        lines.try_for_each(|line| app.ui.tell(line))
    }
}

/// Quotes the last arguments of a command for a shell. `--` precedes arguments that start with `-`.
pub(crate) fn arguments(texts: &[&str]) -> String {
    let mut words: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    if let Some(at) = texts.iter().position(|text| text.starts_with('-')) {
        words.insert(at, "--".to_owned());
    }
    words.join(" ")
}

/// Quotes an argument for a shell.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@:=+,%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    if clean(argument) == argument {
        return format!("'{}'", argument.replace('\'', r"'\''"));
    }
    // Characters that a terminal does not show need a spelling that can be copied.
    let spelled = argument.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if clean(c.encode_utf8(&mut [0; 4])).starts_with(c) => c.to_string(),
        c => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
    });
    format!("$'{}'", spelled.collect::<String>())
}

#[cfg(test)]
mod tests;
