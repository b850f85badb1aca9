//! One row of an outline: what it says, how it is drawn, where it stands.

use std::borrow::Cow;
use std::ops::Range;

use super::turn::TurnStats;
use session_tree::{EntryId, Label, Node, Role, Timestamp};

/// One row of an outline.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlineRow {
    /// The place of the entry in the tree.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub node: Node,
    /// The id of the entry.
    pub id: EntryId,
    /// The id of its parent; none for a root.
    pub parent_id: Option<EntryId>,
    /// The type of the entry, as the file spells it.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: Cow<'static, str>,
    /// The role of a message.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", serialize_with = "role_name")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub role: Option<Role>,
    /// How many ancestors the entry has in the tree, shown or not.
    pub depth: u32,
    /// How many levels are drawn before the text.
    pub indent: usize,
    /// The drawing of each level, from the left; only the last levels if there are fewer than `indent`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub levels: Vec<Level>,
    /// Whether rows are folded away below this one, or could be.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub fold: Fold,
    /// Whether the entry lies on the path to the leaf.
    pub on_path: bool,
    /// Whether the entry is the leaf.
    pub is_leaf: bool,
    /// Whether the leaf is hidden and this is the nearest row above it.
    pub leaf_below: bool,
    /// The label.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub label: Option<Label>,
    /// The time of the entry.
    pub timestamp: Timestamp,
    /// The description of the entry in one line.
    pub text: String,
    /// How the text is meant.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub style: RowStyle,
    /// True for a failed answer, tool or command.
    pub is_error: bool,
    /// The byte ranges of `text` that the query found.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub hits: Vec<Range<usize>>,
    /// The number of a prompt on its path, and what its turn did; only in the turn view.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub turn: Option<TurnStats>,
}

#[cfg(feature = "serde")]
fn role_name<S: serde::Serializer>(role: &Option<Role>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&role.map(|role| role.to_string()), serializer)
}

/// How a row is drawn, without what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowShape {
    /// The place of the entry in the tree.
    pub node: Node,
    /// How many levels are drawn before the text.
    pub indent: usize,
    /// The connector on the last level; none in the middle of a branch.
    pub connector: Option<Level>,
    /// Whether rows are folded away below this one, or could be.
    pub fold: Fold,
}

/// The drawing of one level before a row, three columns wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Blank,
    /// The line of an ancestor that has later siblings.
    Line,
    /// The connector of the row itself; more siblings follow.
    Tee,
    /// The connector of the row itself; it is the last sibling.
    Corner,
}

/// Whether rows are folded away below a row, or could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fold {
    /// The row cannot be folded.
    #[default]
    None,
    /// The row can be folded.
    Open,
    /// Everything below the row is folded away.
    Folded,
}

/// How the text of a row is meant; front ends choose colours by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStyle {
    /// A prompt.
    User,
    /// An answer.
    Assistant,
    /// A failed answer.
    Error,
    /// A call of a tool, or a command.
    Tool,
    /// A message of an extension.
    Custom,
    /// A compaction.
    Compaction,
    /// A branch summary, a merge or a pick.
    Summary,
    /// The name of the session.
    Title,
    /// Settings, bookkeeping, types the engine does not know.
    Muted,
}

/// The characters a prefix is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// Box drawing characters.
    #[default]
    Unicode,
    /// Plain ASCII, for terminals without UTF-8.
    Ascii,
}

impl OutlineRow {
    /// Draws what stands before the text: three columns per level, then the mark of a folded row without connector.
    pub fn prefix(&self, charset: Charset) -> String {
        self.prefix_from(charset, 0)
    }

    /// Draws what stands before the text without its first levels, for a view that is moved to the right.
    pub fn prefix_from(&self, charset: Charset, first: usize) -> String {
        let levels = self.levels.get(first..).unwrap_or_default();
        let mut out = String::with_capacity(levels.len() * 5);
        for level in levels {
            match level {
                Level::Blank => out.push_str("   "),
                Level::Line => out.push_str(charset.pick("│  ", "|  ")),
                Level::Tee | Level::Corner => {
                    let corner = *level == Level::Corner;
                    out.push_str(if corner { charset.pick("└", "`") } else { charset.pick("├", "|") });
                    out.push_str(self.fold.mark(charset));
                    out.push(' ');
                }
            }
        }
        if self.fold == Fold::Folded && !self.has_connector() {
            out.push_str(self.fold.mark(charset));
            out.push(' ');
        }
        out
    }

    /// Returns how many levels are missing before the first one in `levels`.
    pub fn hidden_levels(&self) -> usize {
        self.indent.saturating_sub(self.levels.len())
    }

    /// Returns true if the row itself hangs on a line.
    pub fn has_connector(&self) -> bool {
        matches!(self.levels.last(), Some(Level::Tee | Level::Corner))
    }
}

impl Fold {
    fn mark(self, charset: Charset) -> &'static str {
        match self {
            Fold::None => charset.pick("─", "-"),
            Fold::Open => charset.pick("⊟", "="),
            Fold::Folded => charset.pick("⊞", "+"),
        }
    }
}

impl Charset {
    fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self {
            Charset::Unicode => unicode,
            Charset::Ascii => ascii,
        }
    }
}
