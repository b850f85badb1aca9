//! Compares two branches from their common ancestor.
//!
//! Prompts, files, commands with their outcomes, tokens and cost, and the end of each side. Files that entries name are not
//! read.

mod command;
mod side;

use std::collections::BTreeSet;

use crate::stats::Stats;
use session_tree::{EntryId, FileOps, Node, Result, Session};

pub use command::{CommandRun, Outcome};

/// The entries of two branches after their common ancestor.
///
/// ```
/// use session_tree::{Message, Options};
///
/// let mut session = Options::new().in_memory("/project")?;
/// let start = session.append(Message::user("Build a CLI"))?;
/// let one = session.append(Message::user("Use Node"))?;
/// session.branch(start.as_str())?;
/// let other = session.append(Message::user("Use Rust"))?;
///
/// let comparison = session_view::compare(&session, session.node(one.as_str())?, session.node(other.as_str())?)?;
/// assert_eq!(comparison.base, Some(start));
/// assert_eq!(comparison.sides[0].prompts[0].text, "Use Node");
/// assert_eq!(comparison.sides[1].prompts[0].text, "Use Rust");
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The last entry that both paths have; none if they start at different roots.
    pub base: Option<EntryId>,
    /// The two paths after the base, in the order of the arguments.
    pub sides: [Side; 2],
    /// The files that both sides read or changed, sorted.
    pub files_in_both: Vec<String>,
    /// The files that both sides changed, sorted.
    pub contested_files: Vec<String>,
}

/// One path after the base; empty if its end is an ancestor of the other's.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// The end of the path.
    pub at: EntryId,
    /// The entries after the base, oldest first.
    pub entries: Vec<EntryId>,
    /// The prompts, oldest first.
    pub prompts: Vec<Prompt>,
    /// The files that tools read and changed. Files listed in summaries are not included: they belong to other branches.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub files: FileOps,
    /// The tool calls and the commands that the user ran, oldest first.
    pub commands: Vec<CommandRun>,
    /// The entries in numbers.
    #[cfg_attr(feature = "serde", serde(rename = "usage", serialize_with = "usage"))]
    #[cfg_attr(feature = "schema", schemars(with = "session_tree::Usage"))]
    pub stats: Stats,
    /// The beginning of the last answer that has text, on one line.
    pub ends_with: Option<String>,
}

#[cfg(feature = "serde")]
fn usage<S: serde::Serializer>(stats: &Stats, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&stats.usage, serializer)
}

/// A prompt of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt {
    /// The entry.
    pub id: EntryId,
    /// The whole text; the number of images if there is no text.
    pub text: String,
}

/// Compares what two paths have after the last entry that both have.
pub fn compare(session: &Session, one: Node, other: Node) -> Result<Comparison> {
    let tree = session.tree();
    let sides = [
        side::read(session, one, tree.abandoned(one, other))?,
        side::read(session, other, tree.abandoned(other, one))?,
    ];
    Ok(Comparison {
        base: tree.common_ancestor(one, other).map(|base| tree.id(base)),
        files_in_both: in_both(&sides, touched),
        contested_files: in_both(&sides, changed),
        sides,
    })
}

fn in_both<'s>(sides: &'s [Side; 2], files: impl Fn(&'s FileOps) -> BTreeSet<&'s str>) -> Vec<String> {
    let (one, other) = (files(&sides[0].files), files(&sides[1].files));
    one.intersection(&other).map(|file| (*file).to_owned()).collect()
}

fn touched(files: &FileOps) -> BTreeSet<&str> {
    files.read.iter().map(String::as_str).chain(changed(files)).collect()
}

fn changed(files: &FileOps) -> BTreeSet<&str> {
    files.written.union(&files.edited).map(String::as_str).collect()
}
