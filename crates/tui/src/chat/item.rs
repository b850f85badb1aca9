//! Items: the parts of a conversation as the screen shows them.
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
pub use rows::{ItemStyle, rows};

/// The longest text that is drawn; who wants the rest looks into the session.
pub(crate) const LONGEST: usize = 256 * 1024;

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A prompt of the user.
    Prompt {
        /// The text.
        text: String,
        /// How many images came with it.
        images: usize,
    },
    /// A text of the model, as Markdown.
    Text(String),
    /// Thinking of the model.
    Thinking(String),
    /// A tool call and its result.
    Tool(ToolItem),
    /// A shell command of the user.
    Shell(ShellItem),
    /// A message of an extension.
    Custom {
        /// The type of the message.
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
    /// A notice of the program.
    Notice(Tone, String),
    /// A line across, with a title: something new begins.
    Divider(String),
    /// Lines that an extension drew.
    Drawn(Vec<ratatui::text::Line<'static>>),
}

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolItem {
    /// The name of the tool.
    pub name: String,
    /// The arguments, once they are complete.
    pub arguments: Json,
    /// The JSON of the arguments as far as the model has written it.
    pub partial: String,
    /// The output.
    pub output: String,
    /// The changes it made, with line numbers.
    pub diff: Option<String>,
    /// How many images it returned.
    pub images: usize,
    /// The state.
    pub state: ToolState,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolState {
    /// It runs, or waits for an approval.
    #[default]
    Running,
    /// It succeeded.
    Done,
    /// It failed.
    Failed,
    /// It has no result: something stopped before.
    Interrupted,
}

/// A shell command of the user.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShellItem {
    /// The command.
    pub command: String,
    /// The output.
    pub output: String,
    /// How it ended; nothing if a signal ended it.
    pub exit_code: Option<i64>,
    /// Whether models never see it.
    pub is_private: bool,
    /// True if the user stopped it.
    pub is_cancelled: bool,
    /// Whether it still runs.
    pub is_running: bool,
}

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Information.
    Info,
    /// It succeeded.
    Success,
    /// A warning.
    Warning,
    /// It failed.
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

/// Cuts a very long text and adds the number of bytes that are left out.
pub(crate) fn capped(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}\n… {} more bytes", &text[..end], text.len() - end).into()
}

#[cfg(test)]
mod tests;
