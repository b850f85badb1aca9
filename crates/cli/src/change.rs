//! How commands that change something tell what they did, and how to take it back.

use serde_json::{Map, Value, json};
use session_tree::{EntryId, Session};

use crate::app::{App, file_of};
use crate::error::CommandError;
use crate::ui::clean;

/// What every changing command takes.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Changing {
    /// Tell what would be done, and do nothing.
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a command did, or would do.
///
/// Standard output gets what a script wants to go on with, standard error the words.
#[derive(Debug)]
pub(crate) struct Change {
    verbs: (&'static str, &'static str),
    what: String,
    gives: Vec<String>,
    undo: Option<String>,
    value: Map<String, Value>,
}

impl Change {
    /// Starts with a verb, done and not done (`"labelled"`, `"label"`), and what it is about.
    pub(crate) fn new(done: &'static str, to_do: &'static str, what: impl Into<String>) -> Self {
        let value = Map::from_iter([("action".to_owned(), json!(to_do))]);
        Change { verbs: (done, to_do), what: what.into(), gives: Vec::new(), undo: None, value }
    }

    /// Adds a line for standard output.
    pub(crate) fn gives(mut self, line: impl Into<String>) -> Self {
        self.gives.push(line.into());
        self
    }

    /// Tells the command that takes the change back.
    pub(crate) fn undo(mut self, command: impl Into<String>) -> Self {
        self.undo = Some(command.into());
        self
    }

    /// Tells that there is nothing to take back.
    pub(crate) fn no_undo(mut self) -> Self {
        self.undo = None;
        self
    }

    /// Tells that moving back to where the session stood takes the change back.
    pub(crate) fn undo_by_moving(self, session: &Session, old_leaf: Option<&EntryId>) -> Self {
        let file = file_of(session);
        match old_leaf {
            Some(leaf) => {
                self.undo(format!("offshoot switch --exact {}", arguments(&[&file, leaf.as_str()])))
            }
            None => self.undo(format!("offshoot switch --start {}", arguments(&[&file]))),
        }
    }

    /// Adds a field of the JSON form.
    pub(crate) fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.value.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the file and the position of a session to the JSON form.
    pub(crate) fn session(self, session: &Session) -> Self {
        let leaf = session.leaf_id().map(|id| id.to_string());
        self.field("file", file_of(session)).field("leafId", leaf)
    }

    /// Tells it.
    pub(crate) fn tell(mut self, app: &mut App, how: Changing) -> Result<(), CommandError> {
        if how.json {
            self.value.insert("dryRun".to_owned(), json!(how.dry_run));
            self.value.insert("undo".to_owned(), json!(self.undo.filter(|_| !how.dry_run)));
            return app.ui.json(&self.value);
        }
        if !how.dry_run {
            for line in &self.gives {
                app.ui.plain(line)?;
            }
        }
        let (done, to_do) = self.verbs;
        match how.dry_run {
            true => app.ui.tell(&format!("would {to_do} {}", self.what))?,
            false => app.ui.tell(&format!("{done} {}", self.what))?,
        }
        match self.undo.filter(|_| !how.dry_run) {
            Some(undo) => app.ui.tell(&format!("undo: {undo}")),
            None => Ok(()),
        }
    }
}

/// Quotes the last arguments of a command for a shell; what begins with `-` is no option.
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
    // What a terminal does not show as it is needs a spelling that survives being copied from one.
    let spelled = argument.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if clean(c.encode_utf8(&mut [0; 4])).starts_with(c) => c.to_string(),
        c => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
    });
    format!("$'{}'", spelled.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{arguments, quoted};

    #[test]
    fn arguments_are_quoted_only_when_a_shell_would_touch_them() {
        assert_eq!(quoted("/tmp/a-b_c.jsonl"), "/tmp/a-b_c.jsonl");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(quoted("it's\u{1b}[2J\u{202e}"), r"$'it\'s\x1b[2J\xe2\x80\xae'");
    }

    #[test]
    fn arguments_that_look_like_options_are_none() {
        assert_eq!(arguments(&["a.jsonl", "my name"]), "a.jsonl 'my name'");
        assert_eq!(arguments(&["a.jsonl", "--clear"]), "a.jsonl -- --clear");
        assert_eq!(arguments(&["-a.jsonl", "-b", "c;d"]), "-- -a.jsonl -b 'c;d'");
    }
}
