//! The arguments of the tools. Their documentation is the description that models read.

use schemars::JsonSchema;
use serde::Deserialize;

/// The size of an answer.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Page {
    /// The most rows to return.
    pub(super) limit: Option<usize>,
    /// How many rows to skip: `next.skip` of the answer before.
    pub(super) skip: usize,
    /// The most bytes to return; the default is 4096.
    pub(super) max_bytes: Option<usize>,
}

/// Which branches count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Branches {
    /// The path to the current position.
    Active,
    /// Everything else.
    Abandoned,
    #[default]
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchArguments {
    /// Words that must all occur in an entry, `"a phrase"`, `-without`, `re:pattern`.
    #[serde(default)]
    pub(super) query: String,
    /// Only sessions of this directory, or of projects whose path contains this text.
    pub(super) project: Option<String>,
    /// Only entries of this role: `user`, `assistant`, `toolresult`.
    pub(super) role: Option<String>,
    /// Only calls and results of this tool.
    pub(super) tool: Option<String>,
    /// Only entries that name a file with this text in its path.
    pub(super) file: Option<String>,
    /// Only entries since this date or time: `2026-01-31`, `2026-01-31T12:00:00Z`.
    pub(super) since: Option<String>,
    /// Only entries of the active or of abandoned branches.
    #[serde(default)]
    pub(super) branch: Branches,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SessionsArguments {
    /// Words of the title or text, `cwd:part`, `has:branch`, `is:named`, `before:2026-01-31`.
    #[serde(default)]
    pub(super) query: String,
    /// Only sessions of this directory, or of projects whose path contains this text.
    pub(super) project: Option<String>,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct TreeArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// Which entries to show: `default`, `turns`, `branches`, `user-only`, `labeled-only`, `errors`, `files`, `all`.
    pub(super) filter: Option<String>,
    /// Show only entries that match, as in `search`.
    pub(super) query: Option<String>,
    /// Show only rows that are indented by at most this many levels.
    pub(super) depth: Option<usize>,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// The entry to read, or the last one of a range; the default is the leaf.
    pub(super) entry: Option<String>,
    /// Read the whole path from this entry to `entry`.
    pub(super) from: Option<String>,
    /// The first byte to return of the text of the first entry: `next.offset` of the answer before.
    #[serde(default)]
    pub(super) offset: usize,
    /// The most bytes to return; the default is 4096.
    pub(super) max_bytes: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct BranchesArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ContextArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// The entry at which the model would be asked; the default is the leaf.
    pub(super) entry: Option<String>,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DiffArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// An entry of one branch, such as `branch:2`.
    pub(super) one: String,
    /// An entry of the other branch; the default is the leaf.
    pub(super) other: Option<String>,
    /// The most bytes to return; the default is 4096.
    pub(super) max_bytes: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FileHistoryArguments {
    /// The path of the file, or its end: `src/main.rs`.
    pub(super) path: String,
    /// Only sessions of this directory, or of projects whose path contains this text.
    pub(super) project: Option<String>,
    #[serde(flatten)]
    pub(super) page: Page,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ForkArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// The entry at which the new session ends; before it if it is a prompt. The default is the leaf.
    pub(super) entry: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct LabelArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// The entry.
    pub(super) entry: String,
    /// The label; without it the label of the entry is removed.
    pub(super) label: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NoteArguments {
    /// The id of a session, the beginning of one, or a name.
    pub(super) session: String,
    /// The text of the note.
    pub(super) text: String,
}
