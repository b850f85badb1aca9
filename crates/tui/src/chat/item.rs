//! Items: what a conversation looks like to a person, one thing after the other.
//!
//! entry or event -> **item** -> rows
//!
//! Holds text as others wrote it; it is cleaned when it is drawn.

mod entries;
mod rows;
mod tool;

use serde_json::Value as Json;

use crate::theme::{Role, Theme};

pub use entries::{ending, item_of, items_at, prompts};
pub use rows::{Look, rows};

/// The longest text that is drawn; who wants the rest looks into the session.
pub(crate) const LONGEST: usize = 256 * 1024;

/// One thing of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What the person said.
    Prompt {
        /// The text.
        text: String,
        /// How many images came with it.
        images: usize,
    },
    /// What the model said, as Markdown.
    Text(String),
    /// What the model thought.
    Thinking(String),
    /// A call of a tool and what came of it.
    Tool(ToolItem),
    /// A command that the person ran.
    Shell(ShellItem),
    /// A message of an extension.
    Custom {
        /// Whose message it is.
        kind: String,
        /// The text, as Markdown.
        text: String,
    },
    /// A summary that stands for other messages.
    Summary {
        /// The kind: of a branch, of a merge, or of older messages.
        title: String,
        /// The summary, as Markdown.
        text: String,
    },
    /// A model or a thinking level was chosen.
    Setting(String),
    /// The program tells something.
    Notice(Tone, String),
    /// A line across, with a title: something new begins.
    Divider(String),
    /// What an extension drew.
    Drawn(Vec<ratatui::text::Line<'static>>),
}

/// A call of a tool and what came of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolItem {
    /// The name of the tool.
    pub name: String,
    /// The arguments, once they are complete.
    pub arguments: Json,
    /// The JSON of the arguments as far as the model has written it.
    pub partial: String,
    /// What it printed or returned.
    pub output: String,
    /// What it changed, with line numbers.
    pub diff: Option<String>,
    /// How many images it returned.
    pub images: usize,
    /// How it stands.
    pub state: ToolState,
}

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolState {
    /// It runs, or waits for a permission.
    #[default]
    Running,
    /// It went well.
    Done,
    /// It failed.
    Failed,
    /// It has no result: something stopped before.
    Interrupted,
}

/// A command that the person ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShellItem {
    /// The command.
    pub command: String,
    /// What it printed.
    pub output: String,
    /// How it ended; nothing if a signal ended it.
    pub exit_code: Option<i64>,
    /// Whether models never see it.
    pub is_private: bool,
    /// Whether the person stopped it.
    pub is_cancelled: bool,
    /// Whether it still runs.
    pub is_running: bool,
}

/// How important something is that the program tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It is good to know.
    Info,
    /// It went well.
    Success,
    /// It asks for attention.
    Warning,
    /// It went wrong.
    Error,
}

impl Tone {
    /// Returns the mark of a text in this tone, and what it is drawn as.
    pub(crate) fn mark(self, theme: Theme) -> (&'static str, Role) {
        match self {
            Tone::Info => (theme.pick("· ", "- "), Role::Muted),
            Tone::Success => (theme.pick("✓ ", "+ "), Role::Success),
            Tone::Warning => ("! ", Role::Warning),
            Tone::Error => (theme.pick("✗ ", "x "), Role::Error),
        }
    }
}

/// Cuts a text that is longer than anybody reads here, and says so.
pub(crate) fn capped(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}\n… {} more bytes", &text[..end], text.len() - end).into()
}

#[cfg(test)]
mod tests;
