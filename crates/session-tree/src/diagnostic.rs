//! Diagnostics: problems of a session file that do not stop reading it.
//!
//! A base type: loading, decoding and `check` return these values beside their results.

use std::fmt;
use std::ops::Range;

use crate::error::InvalidReason;
use crate::id::EntryId;

/// A problem of a session file, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, counted from 1.
    pub line: u64,
    /// The bytes of the line, or of the affected part, counted from the start of the file.
    pub bytes: Range<u64>,
    /// The problem.
    pub problem: Problem,
}

/// The importance of a diagnostic for the owner of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Nothing is lost or unclear.
    Note,
    /// The session is usable with a workaround.
    Warning,
    /// Content of the file cannot be read.
    Damage,
}

/// A kind of problem in a session file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The line is no JSON text; it is kept and skipped.
    #[error("not a JSON text ({reason}); kept, not shown")]
    NotJson {
        /// The error of the parser.
        reason: &'static str,
    },
    /// The line is JSON but no object; it is kept and skipped.
    #[error("not a JSON object; kept, not shown")]
    NotAnObject,
    /// The object has no usable `id`; it is kept and is no part of the tree.
    #[error("an object without an id; kept, not part of the tree")]
    NoId,
    /// A message entry has no message; it keeps its place in the tree.
    #[error("entry {id} carries no message; it keeps its place")]
    NoMessage {
        /// The entry.
        id: EntryId,
    },
    /// The message breaks a rule for messages that are written; readers may ignore it or fail.
    #[error("the message of entry {id} is not valid: {reason}")]
    InvalidMessage {
        /// The entry.
        id: EntryId,
        /// The rule.
        reason: InvalidReason,
    },
    /// The header cannot be read; the file is no session until its entries are copied below a new header.
    #[error("the header cannot be read")]
    LostHeader,
    /// The last line was cut off while it was written; its bytes are kept.
    #[error("the last line was cut off while it was written; its bytes are kept")]
    TornTail,
    /// The last line is whole but its line feed is missing; the next append adds it.
    #[error("the last line has no line feed yet")]
    MissingLineFeed,
    /// The entry cannot be read but has children: it keeps its place without content.
    #[error("entry {id} cannot be read ({reason}); it keeps its place without content")]
    Placeholder {
        /// The entry that lost its content.
        id: EntryId,
        /// The error of the parser.
        reason: &'static str,
    },
    /// The file contains the same line twice; the copy is ignored.
    #[error("entry {id} is in the file twice; the copy is ignored")]
    RepeatedLine {
        /// The id of both lines.
        id: EntryId,
    },
    /// Two different entries have one id; the later one counts.
    #[error("entry {id} differs from the entry of the same id on line {earlier_line}; this one counts")]
    DuplicateId {
        /// The id of both entries.
        id: EntryId,
        /// The line of the entry that no longer counts.
        earlier_line: u64,
    },
    /// The parent of the entry is not in the file; the entry is shown as a root.
    #[error("entry {id} names the parent {parent}, which is not in the file; shown as a root")]
    Orphan {
        /// The entry.
        id: EntryId,
        /// The parent that is missing.
        parent: EntryId,
    },
    /// The entry is its own ancestor; the cycle is cut here and the entry shown as a root.
    #[error("entry {id} is its own ancestor; shown as a root")]
    Cycle {
        /// The entry that became a root.
        id: EntryId,
    },
    /// The file contains a second session header; the first one counts.
    #[error("another session header; the first one counts")]
    SecondHeader,
    /// The file has a version that this engine does not write; it is read only.
    #[error("the header claims version {version}, this engine writes version 3: read only")]
    NewerVersion {
        /// The version in the header.
        version: u64,
    },
    /// The file spells ids `uuid`, as an early design did. It is continued in that spelling.
    #[error("ids are spelled `uuid`; new entries are spelled the same way")]
    UuidSpelling,
    /// The line has bytes that are not UTF-8; they are kept, and shown as replacement characters.
    #[error("bytes that are not UTF-8; kept, shown as replacement characters")]
    InvalidUtf8,
    /// A byte order mark precedes the first line; it is kept and ignored.
    #[error("a byte order mark before the header; kept, ignored")]
    ByteOrderMark,
    /// The line is longer than the engine reads; it is kept and not shown.
    #[error("a line of {length} bytes; kept, not shown")]
    LineTooLong {
        /// The length of the line.
        length: u64,
    },
    /// The entry has no readable time; it is sorted by the time of the entry before it.
    #[error("entry {id} has no readable time")]
    BadTimestamp {
        /// The entry.
        id: EntryId,
    },
    /// A field of the envelope, or the role, occurs twice; readers differ in which one they take.
    #[error("entry {id} names `{key}` twice; readers differ in which one they take")]
    DuplicateKey {
        /// The entry.
        id: EntryId,
        /// The name of the field.
        key: String,
    },
    /// The target of a label is not in the file.
    #[error("label {id} names the entry {target}, which is not in the file")]
    LabelWithoutTarget {
        /// The label entry.
        id: EntryId,
        /// The missing target.
        target: EntryId,
    },
    /// The first kept entry of a compaction is not before it on its path; nothing older is kept.
    #[error("compaction {id} keeps from {first_kept}, which is not before it on its path")]
    FirstKeptNotOnPath {
        /// The compaction.
        id: EntryId,
        /// The first kept entry.
        first_kept: EntryId,
    },
    /// The leaf is not the last entry of the file; another program would continue elsewhere.
    #[error("the current position {leaf} is not the last entry; other programs may continue elsewhere")]
    LeafIsNotLast {
        /// The leaf.
        leaf: EntryId,
    },
    /// Other users of the machine may read the file.
    #[error("other users may read the file (mode {mode:03o})")]
    LooseMode {
        /// The permission bits.
        mode: u32,
    },
    /// A write without line feed fused several lines into one; none of them can be read there.
    #[error("lines that were fused into one; whole entries on it:{}", listed(ids))]
    GluedLines {
        /// The whole entries that were found on the line, in order.
        ids: Vec<EntryId>,
    },
    /// The line has a run of zero bytes, as a power cut leaves it.
    #[error("{length} zero bytes, as a power cut leaves them; kept")]
    NulRun {
        /// The number of zero bytes.
        length: u64,
    },
    /// The line cannot be read, but another line has its entry.
    #[error("cannot be read; line {by_line} holds the entry {id} in its place")]
    Mended {
        /// The entry.
        id: EntryId,
        /// The line that has it.
        by_line: u64,
    },
}

fn listed(ids: &[EntryId]) -> String {
    ids.iter().map(|id| format!(" {id}")).collect()
}

impl Problem {
    /// Returns the stable name of the problem, for scripts.
    pub fn code(&self) -> &'static str {
        self.code_and_severity().0
    }

    /// Returns how much the problem matters.
    pub fn severity(&self) -> Severity {
        self.code_and_severity().1
    }

    fn code_and_severity(&self) -> (&'static str, Severity) {
        use Severity::{Damage, Note, Warning};
        match self {
            Problem::NotJson { .. } => ("not-json", Damage),
            Problem::NotAnObject => ("not-an-object", Damage),
            Problem::NoId => ("no-id", Warning),
            Problem::NoMessage { .. } => ("no-message", Warning),
            Problem::InvalidMessage { .. } => ("invalid-message", Note),
            Problem::LostHeader => ("lost-header", Damage),
            Problem::TornTail => ("torn-tail", Damage),
            Problem::MissingLineFeed => ("missing-line-feed", Note),
            Problem::Placeholder { .. } => ("placeholder", Damage),
            Problem::RepeatedLine { .. } => ("repeated-line", Note),
            Problem::DuplicateId { .. } => ("duplicate-id", Warning),
            Problem::Orphan { .. } => ("orphan", Warning),
            Problem::Cycle { .. } => ("cycle", Warning),
            Problem::SecondHeader => ("second-header", Note),
            Problem::NewerVersion { .. } => ("newer-version", Warning),
            Problem::UuidSpelling => ("uuid-spelling", Note),
            Problem::InvalidUtf8 => ("invalid-utf8", Warning),
            Problem::ByteOrderMark => ("byte-order-mark", Note),
            Problem::LineTooLong { .. } => ("line-too-long", Damage),
            Problem::BadTimestamp { .. } => ("bad-timestamp", Note),
            Problem::DuplicateKey { .. } => ("duplicate-key", Warning),
            Problem::LabelWithoutTarget { .. } => ("label-without-target", Note),
            Problem::FirstKeptNotOnPath { .. } => ("first-kept-not-on-path", Note),
            Problem::LeafIsNotLast { .. } => ("leaf-is-not-last", Warning),
            Problem::LooseMode { .. } => ("loose-mode", Note),
            Problem::GluedLines { .. } => ("glued-lines", Damage),
            Problem::NulRun { .. } => ("nul-run", Damage),
            Problem::Mended { .. } => ("mended", Note),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (bytes {}..{}): {}", self.line, self.bytes.start, self.bytes.end, self.problem)
    }
}
