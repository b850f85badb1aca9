//! One row of a list of sessions.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::time::Timestamp;

/// The title of a session without a name and without a prompt.
const NO_MESSAGES: &str = "(no messages)";

/// One session of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSummary {
    /// The file.
    #[cfg_attr(feature = "serde", serde(serialize_with = "path_text"))]
    pub path: PathBuf,
    /// The id in the header; empty if the file is no session.
    pub id: String,
    /// The working directory in the header; empty if it names none.
    pub cwd: String,
    /// The name, if the session has one. Very long ones are cut.
    pub name: Option<String>,
    /// The session that this one was forked from: the path of a file, or an id.
    pub parent_session: Option<String>,
    /// When the session was created, as its header says.
    pub created: Option<Timestamp>,
    /// The last activity: the latest message of person or model, else the creation, else the change of the file.
    ///
    /// In a row that is not complete: the change of the file.
    pub modified: Timestamp,
    /// How many messages there are, on all branches and of all roles.
    pub message_count: u64,
    /// The first prompt with text. Very long ones are cut.
    pub first_message: Option<String>,
    /// How many entries there are.
    pub entry_count: u64,
    /// How many branches there are: entries of the conversation without conversation below.
    #[cfg_attr(feature = "serde", serde(rename = "branchCount"))]
    pub tip_count: u64,
    /// The length of the file in bytes.
    pub size: u64,
    /// The damage of the file in words, if any.
    #[cfg_attr(feature = "serde", serde(serialize_with = "damage_text"))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub damage: Option<Damage>,
    /// Whether a sub-agent made the session, see [`SUB_AGENT_MARKER`](crate::SUB_AGENT_MARKER).
    pub is_sub_agent: bool,
    /// Whether all of the file was read. If not, only path, id, working directory, parent, creation and size are
    /// certain; name and first prompt are what the beginning of the file says, and counts are zero.
    pub is_complete: bool,
}

/// The damage of a listed file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The file is no session.
    #[error("not a session: {reason}")]
    NotASession {
        /// The reason.
        reason: Cow<'static, str>,
    },
    /// The file cannot be read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// The error of the operating system.
        reason: String,
    },
    /// Some lines cannot be read; the others can.
    #[error("{count} damaged {}", if *count == 1 { "line" } else { "lines" })]
    Lines {
        /// How many.
        count: u64,
    },
}

#[cfg(feature = "serde")]
fn path_text<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[cfg(feature = "serde")]
fn damage_text<S: serde::Serializer>(damage: &Option<Damage>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&damage.as_ref().map(ToString::to_string), serializer)
}

impl SessionSummary {
    /// Makes the row of a file of which nothing is known but what the file system says.
    pub(super) fn bare(path: PathBuf, size: u64, modified: Timestamp) -> Self {
        Self { path, size, modified, is_complete: true, ..Self::default() }
    }

    /// Returns what to call the session: its name, else its first prompt.
    pub fn title(&self) -> &str {
        self.name.as_deref().or(self.first_message.as_deref()).unwrap_or(NO_MESSAGES)
    }

    /// Returns true if the file is a session that can be opened, with damaged lines or without.
    pub fn is_session(&self) -> bool {
        match self.damage {
            None | Some(Damage::Lines { .. }) => true,
            Some(Damage::NotASession { .. } | Damage::Unreadable { .. }) => false,
        }
    }
}
