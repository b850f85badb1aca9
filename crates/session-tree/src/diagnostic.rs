//! Diagnostics: what is odd in a file and did not stop us.
//!
//! A base type: values that loading, decoding and `check` hand out beside their results.

use std::fmt;
use std::ops::Range;

use crate::error::InvalidReason;
use crate::id::EntryId;

/// Something odd in a session file, with the place where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, counted from 1.
    pub line: u64,
    /// The bytes of the line (or of the part that is odd), counted from the start of the file.
    pub bytes: Range<u64>,
    /// What is odd.
    pub problem: Problem,
}

/// How much a diagnostic matters to the person who owns the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Nothing is lost or unclear.
    Note,
    /// Something was worked around; the session is usable.
    Warning,
    /// Content of the file cannot be read.
    Damage,
}

/// What can be odd in a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The line is no JSON text; it is kept and skipped.
    NotJson {
        /// What the parser met.
        reason: &'static str,
    },
    /// The line is JSON but no object; it is kept and skipped.
    NotAnObject,
    /// The object has no usable `id`; it is kept and is no part of the tree.
    NoId,
    /// A message entry carries no message; it keeps its place and says nothing.
    NoMessage {
        /// The entry.
        id: EntryId,
    },
    /// The message breaks a rule for messages that are written; readers may ignore it or fail.
    InvalidMessage {
        /// The entry.
        id: EntryId,
        /// The rule.
        reason: InvalidReason,
    },
    /// The last line was cut off while it was written; its bytes are kept.
    TornTail,
    /// The last line is whole but its line feed is missing; the next append adds it.
    MissingLineFeed,
    /// The entry cannot be read, but others hang below it: it keeps its place without content.
    Placeholder {
        /// The entry that lost its content.
        id: EntryId,
        /// What the parser met.
        reason: &'static str,
    },
    /// The same line stands in the file twice; the copy is ignored.
    RepeatedLine {
        /// The id of both lines.
        id: EntryId,
    },
    /// Two different entries have one id; the later one counts.
    DuplicateId {
        /// The id of both entries.
        id: EntryId,
        /// The line of the entry that no longer counts.
        earlier_line: u64,
    },
    /// The entry names a parent that is not in the file; it is shown as a root.
    Orphan {
        /// The entry.
        id: EntryId,
        /// The parent that is missing.
        parent: EntryId,
    },
    /// The entry is its own ancestor; the circle is cut here and the entry shown as a root.
    Cycle {
        /// The entry that became a root.
        id: EntryId,
    },
    /// Another session header inside the file; the first one counts.
    SecondHeader,
    /// The file claims a version that this engine does not write; it is read only.
    NewerVersion {
        /// The version the header names.
        version: u64,
    },
    /// The file spells ids `uuid`, as an early design did. It is continued in that spelling.
    UuidSpelling,
    /// Bytes that are not UTF-8; they are kept, and shown as replacement characters.
    InvalidUtf8,
    /// A byte order mark before the first line; it is kept and ignored.
    ByteOrderMark,
    /// The line is longer than the engine reads; it is kept and not shown.
    LineTooLong {
        /// The length of the line.
        length: u64,
    },
    /// The entry has no readable time; the time of the entry before it is used for sorting.
    BadTimestamp {
        /// The entry.
        id: EntryId,
    },
    /// A field of the envelope, or who speaks, is named twice; readers differ in which one they take.
    DuplicateKey {
        /// The entry.
        id: EntryId,
        /// The name of the field.
        key: String,
    },
    /// A label names an entry that is not in the file.
    LabelWithoutTarget {
        /// The label entry.
        id: EntryId,
        /// What it names.
        target: EntryId,
    },
    /// A compaction keeps from an entry that is not before it on its path; nothing older is kept.
    FirstKeptNotOnPath {
        /// The compaction.
        id: EntryId,
        /// The entry it names.
        first_kept: EntryId,
    },
    /// The leaf is not the last entry of the file; another program would continue elsewhere.
    LeafIsNotLast {
        /// The leaf.
        leaf: EntryId,
    },
    /// The file may be read by other users of the machine.
    LooseMode {
        /// The permission bits.
        mode: u32,
    },
    /// The header cannot be read; the file is no session until its entries are salvaged.
    LostHeader,
    /// Several lines stand on one, fused by a write without line feed; none of them can be read there.
    GluedLines {
        /// The whole entries that were found on the line, in order.
        ids: Vec<EntryId>,
    },
    /// A run of zero bytes, as a power cut leaves it.
    NulRun {
        /// How many.
        length: u64,
    },
    /// The line cannot be read, but a later or earlier line holds its entry.
    Mended {
        /// The entry.
        id: EntryId,
        /// The line that holds it.
        by_line: u64,
    },
}

impl Problem {
    /// Returns the stable name of the problem, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::NotJson { .. } => "not-json",
            Problem::NotAnObject => "not-an-object",
            Problem::NoId => "no-id",
            Problem::NoMessage { .. } => "no-message",
            Problem::InvalidMessage { .. } => "invalid-message",
            Problem::TornTail => "torn-tail",
            Problem::MissingLineFeed => "missing-line-feed",
            Problem::Placeholder { .. } => "placeholder",
            Problem::RepeatedLine { .. } => "repeated-line",
            Problem::DuplicateId { .. } => "duplicate-id",
            Problem::Orphan { .. } => "orphan",
            Problem::Cycle { .. } => "cycle",
            Problem::SecondHeader => "second-header",
            Problem::NewerVersion { .. } => "newer-version",
            Problem::UuidSpelling => "uuid-spelling",
            Problem::InvalidUtf8 => "invalid-utf8",
            Problem::ByteOrderMark => "byte-order-mark",
            Problem::LineTooLong { .. } => "line-too-long",
            Problem::BadTimestamp { .. } => "bad-timestamp",
            Problem::DuplicateKey { .. } => "duplicate-key",
            Problem::LabelWithoutTarget { .. } => "label-without-target",
            Problem::FirstKeptNotOnPath { .. } => "first-kept-not-on-path",
            Problem::LeafIsNotLast { .. } => "leaf-is-not-last",
            Problem::LooseMode { .. } => "loose-mode",
            Problem::LostHeader => "lost-header",
            Problem::GluedLines { .. } => "glued-lines",
            Problem::NulRun { .. } => "nul-run",
            Problem::Mended { .. } => "mended",
        }
    }

    /// Tells how much the problem matters.
    pub fn severity(&self) -> Severity {
        match self {
            Problem::NotJson { .. }
            | Problem::NotAnObject
            | Problem::TornTail
            | Problem::Placeholder { .. }
            | Problem::LineTooLong { .. }
            | Problem::LostHeader
            | Problem::GluedLines { .. }
            | Problem::NulRun { .. } => Severity::Damage,
            Problem::NoId
            | Problem::NoMessage { .. }
            | Problem::DuplicateId { .. }
            | Problem::Orphan { .. }
            | Problem::Cycle { .. }
            | Problem::NewerVersion { .. }
            | Problem::DuplicateKey { .. }
            | Problem::InvalidUtf8
            | Problem::LeafIsNotLast { .. } => Severity::Warning,
            Problem::MissingLineFeed
            | Problem::LooseMode { .. }
            | Problem::RepeatedLine { .. }
            | Problem::SecondHeader
            | Problem::UuidSpelling
            | Problem::ByteOrderMark
            | Problem::InvalidMessage { .. }
            | Problem::Mended { .. }
            | Problem::BadTimestamp { .. }
            | Problem::LabelWithoutTarget { .. }
            | Problem::FirstKeptNotOnPath { .. } => Severity::Note,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotJson { reason } => write!(f, "not a JSON text ({reason}); kept, not shown"),
            Problem::NotAnObject => f.write_str("not a JSON object; kept, not shown"),
            Problem::NoId => f.write_str("an object without an id; kept, not part of the tree"),
            Problem::NoMessage { id } => write!(f, "entry {id} carries no message; it keeps its place"),
            Problem::InvalidMessage { id, reason } => {
                write!(f, "the message of entry {id} is not valid: {reason}")
            }
            Problem::TornTail => {
                f.write_str("the last line was cut off while it was written; its bytes are kept")
            }
            Problem::MissingLineFeed => f.write_str("the last line has no line feed yet"),
            Problem::Placeholder { id, reason } => {
                write!(f, "entry {id} cannot be read ({reason}); it keeps its place without content")
            }
            Problem::RepeatedLine { id } => {
                write!(f, "entry {id} stands in the file twice; the copy is ignored")
            }
            Problem::DuplicateId { id, earlier_line } => {
                write!(
                    f,
                    "entry {id} differs from the entry of the same id on line {earlier_line}; this one counts"
                )
            }
            Problem::Orphan { id, parent } => {
                write!(f, "entry {id} names the parent {parent}, which is not in the file; shown as a root")
            }
            Problem::Cycle { id } => write!(f, "entry {id} is its own ancestor; shown as a root"),
            Problem::SecondHeader => f.write_str("another session header; the first one counts"),
            Problem::NewerVersion { version } => {
                write!(f, "the header claims version {version}, this engine writes version 3: read only")
            }
            Problem::UuidSpelling => {
                f.write_str("ids are spelled `uuid`; new entries are spelled the same way")
            }
            Problem::InvalidUtf8 => {
                f.write_str("bytes that are not UTF-8; kept, shown as replacement characters")
            }
            Problem::ByteOrderMark => f.write_str("a byte order mark before the header; kept, ignored"),
            Problem::LineTooLong { length } => write!(f, "a line of {length} bytes; kept, not shown"),
            Problem::BadTimestamp { id } => write!(f, "entry {id} has no readable time"),
            Problem::DuplicateKey { id, key } => {
                write!(f, "entry {id} names `{key}` twice; readers differ in which one they take")
            }
            Problem::LabelWithoutTarget { id, target } => {
                write!(f, "label {id} names the entry {target}, which is not in the file")
            }
            Problem::FirstKeptNotOnPath { id, first_kept } => {
                write!(f, "compaction {id} keeps from {first_kept}, which is not before it on its path")
            }
            Problem::LeafIsNotLast { leaf } => {
                write!(
                    f,
                    "the current position {leaf} is not the last entry; other programs may continue elsewhere"
                )
            }
            Problem::LooseMode { mode } => write!(f, "other users may read the file (mode {mode:03o})"),
            Problem::LostHeader => f.write_str("the header cannot be read"),
            Problem::GluedLines { ids } => {
                write!(f, "lines that were fused into one; whole entries on it:")?;
                ids.iter().try_for_each(|id| write!(f, " {id}"))
            }
            Problem::NulRun { length } => write!(f, "{length} zero bytes, as a power cut leaves them; kept"),
            Problem::Mended { id, by_line } => {
                write!(f, "cannot be read; line {by_line} holds the entry {id} in its place")
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (bytes {}..{}): {}", self.line, self.bytes.start, self.bytes.end, self.problem)
    }
}
