//! Errors: requests that cannot be met. Each variant holds the facts, none holds advice.
//!
//! A base type. Odd files are no errors but [diagnostics](crate::Diagnostic).

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::id::EntryId;

/// Why a request to the engine could not be met.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No entry of the session has this id.
    #[error("Entry {id} not found")]
    UnknownEntry {
        /// The id that was asked for.
        id: EntryId,
    },
    /// The entry exists but is not on the path of the leaf.
    #[error("Entry {id} is not on the active branch")]
    NotOnPath {
        /// The id that was asked for.
        id: EntryId,
    },
    /// A context edit names an entry whose content cannot be replaced.
    #[error("Entry {id} does not contribute editable model content")]
    NotEditable {
        /// The id that was asked for.
        id: EntryId,
    },
    /// The replacement of a context edit is neither null nor an object with content.
    #[error("Context edit replacement must be null or contain string/array content")]
    BadReplacement,
    /// Only a prompt can be forked "before".
    #[error("Invalid entry ID for forking")]
    NotAPrompt {
        /// The id that was asked for.
        id: EntryId,
    },
    /// More than one entry begins with this prefix.
    #[error("`{prefix}` is ambiguous: {} entries begin with it", candidates.len())]
    AmbiguousPrefix {
        /// The text that was asked for.
        prefix: String,
        /// The entries that begin with it.
        candidates: Vec<EntryId>,
    },
    /// More than one entry carries this label.
    #[error("the label `{label}` is on {} entries", candidates.len())]
    AmbiguousLabel {
        /// The text that was asked for.
        label: String,
        /// The entries that carry it.
        candidates: Vec<EntryId>,
    },
    /// A reference that is no id, but would be a label with an `@` in front.
    #[error("no entry has the id `{label}`, but there is a label `@{label}`")]
    LabelWithoutAt {
        /// The label.
        label: String,
    },
    /// An entry reference that cannot be resolved.
    #[error("cannot resolve the reference `{reference}`: {reason}")]
    BadReference {
        /// The text that was asked for.
        reference: String,
        /// Why it has no answer.
        reason: &'static str,
    },
    /// The id cannot name a session.
    #[error("`{id}` cannot be a session id: letters and digits, with `.`, `_`, `-` inside, at most 128")]
    BadSessionId {
        /// The id that was given.
        id: String,
    },
    /// A message or draft is not valid. Nothing was written.
    #[error("cannot write this {what}: {reason}")]
    Invalid {
        /// The type of the entry, or `message` or `draft`.
        what: &'static str,
        /// The rule that it breaks.
        reason: InvalidReason,
    },
    /// The line of an entry would be longer than readers accept. Nothing was written.
    #[error("the entry takes {length} bytes in the session file, more than the {limit} that a line may have")]
    EntryTooLong {
        /// The length of the line, or a lower bound of it.
        length: u64,
        /// The length of the longest line that is read: [`LONGEST_LINE`](crate::LONGEST_LINE).
        limit: u64,
    },
    /// The file is no session; it was not touched.
    #[error("Session file is not a valid pi session: {}", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// The reason why it has no header.
        reason: &'static str,
    },
    /// The path names something that is no regular file.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// No session was found for this request.
    #[error("no session {wanted}")]
    UnknownSession {
        /// The text that was asked for.
        wanted: String,
    },
    /// More than one session fits.
    #[error("`{wanted}` is ambiguous: {} sessions fit", candidates.len())]
    AmbiguousSession {
        /// The text that was asked for.
        wanted: String,
        /// The files that fit.
        candidates: Vec<PathBuf>,
    },
    /// The session was opened for reading, or must not be written.
    #[error("the session is read only: {reason}")]
    ReadOnly {
        /// Why it must not be written.
        reason: ReadOnlyReason,
    },
    /// The session exists only in memory so far.
    #[error("the session has not been saved yet")]
    NotSaved,
    /// The source of a fork cannot be used.
    #[error("Cannot fork: source session file is empty or invalid: {}", path.display())]
    BadSource {
        /// The source.
        path: PathBuf,
    },
    /// There is already a file of this name.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The line could not be written; memory and file are as before.
    #[error("cannot append to {}", path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The line could not be written and its beginning could not be removed; it was closed off as a bad line.
    #[error("cannot append to {}: a part of the line stays behind as a bad line", path.display())]
    TornAppend {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another program holds the append lock of the file. Nothing was written.
    #[error("cannot append to {}: {} has held its lock for {} s", path.display(), holder_text(holder.as_ref()), waited.as_secs_f32())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long the lock was waited for.
        waited: Duration,
        /// The process that holds the lock, if the system reports it.
        holder: Option<LockHolder>,
    },
    /// The file was deleted, replaced or truncated while it was open. The entries that could still be read, and those
    /// that were to be appended, are in a new session file.
    #[error("{} was {what} by another program{}", path.display(), rescue_text(rescue.as_ref(), *missing))]
    Replaced {
        /// The file.
        path: PathBuf,
        /// The kind of loss.
        what: FileLoss,
        /// The new session file; none for a session in memory.
        rescue: Option<PathBuf>,
        /// The number of entries that are lost. Stubs hold their places in the new file.
        missing: u64,
    },
    /// An earlier failure left the state of the disk unknown; nothing more is written.
    #[error("nothing more is written to {} after a failed {operation}", path.display())]
    Poisoned {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        operation: &'static str,
        /// The error that the system reported then.
        source: io::Error,
    },
    /// The disk did not confirm that data reached it. The entries are in the file, and the leaf is on them, but they may
    /// not survive a power cut. Nothing more is written.
    #[error("cannot sync {}{}", path.display(), appended_text(appended))]
    Sync {
        /// The file.
        path: PathBuf,
        /// The entries that the failed call had appended, oldest first; empty if it was not an append.
        appended: Vec<EntryId>,
        /// The error of the system.
        source: io::Error,
    },
    /// The copy that was to replace a file does not hold what it should; the file was not touched.
    #[error("the rewritten copy of {} failed its check: {mismatch}", path.display())]
    Verify {
        /// The file.
        path: PathBuf,
        /// The difference.
        mismatch: Mismatch,
    },
    /// There is not enough room for a copy of the file.
    #[error("{} needs {needed} free bytes for a copy, {available} are left", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// The bytes a copy needs.
        needed: u64,
        /// The bytes the file system has left.
        available: u64,
    },
    /// Not even the newest turn of a branch fits into what its digest may take.
    #[error("the newest turn of that branch takes {needed} tokens, more than the {budget} that are allowed")]
    DoesNotFit {
        /// The tokens that it takes.
        needed: u64,
        /// The tokens that are allowed.
        budget: u64,
    },
    /// A plan no longer fits the session: its leaf moved, entries of the plan are gone, its file was replaced, or the plan
    /// was made for another session.
    #[error("the session changed since this was planned")]
    StalePlan,
    /// A node belongs to another session, or to this one before its file was replaced and read again.
    #[error("the node belongs to another session, or to an earlier state of this one")]
    StaleNode,
    /// An entry cannot be picked, or not in the way that was asked for.
    #[error("cannot pick entry {id}: {reason}")]
    CannotPick {
        /// The entry of the source.
        id: EntryId,
        /// The reason.
        reason: PickRefusal,
    },
    /// The selected entry is on the current path already.
    #[error("entry {id} is on the current path already")]
    AlreadyPresent {
        /// The entry of the current path.
        id: EntryId,
    },
    /// The selected entry was picked onto the current path before.
    #[error("this was picked before, as entry {by}")]
    PickedBefore {
        /// The entry that the earlier pick made.
        by: EntryId,
    },
    /// A range must begin above its end.
    #[error("entry {after} is not an ancestor of entry {to}")]
    NotAnAncestor {
        /// The entry before the range.
        after: EntryId,
        /// The last entry of the range.
        to: EntryId,
    },
    /// The selection holds nothing that could be picked.
    #[error("the selection holds nothing that can be picked")]
    EmptySelection,
    /// The path has neither a push nor a prompt to go back to.
    #[error("there is no prompt to go back to")]
    NothingToPop,
    /// There is nothing to compact.
    #[error("Nothing to compact (session too small)")]
    NothingToCompact,
    /// The path already ends with a compaction.
    #[error("Already compacted")]
    AlreadyCompacted,
    /// A journal that is not a file reported an error.
    #[error("the storage of the session failed")]
    Journal {
        /// The error of the storage.
        source: io::Error,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The difference between a rewritten copy and the session that it was made from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The bytes that were read back are not those that were written.
    #[error("it does not hold the bytes that were written")]
    Bytes,
    /// The number of entries differs.
    #[error("{found} entries instead of {expected}")]
    Count {
        /// The entries of the copy.
        found: usize,
        /// The entries of the session.
        expected: usize,
    },
    /// Another entry is in the place of this one, or it has another parent.
    #[error("entry {found} has replaced {expected}")]
    Place {
        /// The entry of the copy.
        found: EntryId,
        /// The entry of the session.
        expected: EntryId,
    },
    /// An entry is not in the copy.
    #[error("entry {id} is missing")]
    Missing {
        /// The entry.
        id: EntryId,
    },
}

/// Why a session cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadOnlyReason {
    /// It was opened for reading.
    #[error("it was opened for reading")]
    Asked,
    /// Its version is newer than the engine's.
    #[error("it has version {version}, this engine writes version 3")]
    NewerVersion {
        /// The version the header names.
        version: u64,
    },
    /// Its version is old, and its storage cannot replace it by the current one.
    #[error("it has version {version}, and its storage cannot write it in version 3")]
    OldVersion {
        /// The version of the session.
        version: u64,
    },
    /// The operating system does not let us write.
    #[error("the file is write protected")]
    Protected,
    /// Its file was lost; an earlier error named the file that holds what could be saved.
    #[error("its file was {what} by another program")]
    Lost {
        /// The kind of loss.
        what: FileLoss,
    },
}

/// Why an entry cannot be picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickRefusal {
    /// Some of its tool calls have no result, and a native copy would have calls without an answer.
    #[error("some of its tool calls have no result")]
    OpenGroup,
    /// A tool result without its call cannot be copied natively.
    #[error("a tool result cannot be copied without its call")]
    LoneResult,
    /// A compaction cannot be copied natively: what it keeps is on another path.
    #[error("what a compaction keeps is on another path")]
    Compaction,
    /// It is state of an extension, which was not asked for.
    #[error("it is state of an extension")]
    State,
    /// It names, counts or marks something where it stands.
    #[error("it only keeps books")]
    Bookkeeping,
    /// It changes or begins the path that it stands on, and means nothing on another one.
    #[error("it only has a meaning on its own path")]
    OwnPath,
    /// Its line cannot be read.
    #[error("its line cannot be read")]
    Unreadable,
    /// Its type or role is not known.
    #[error("its type is not known")]
    Unknown,
    /// It has no text and nothing else to copy.
    #[error("it says nothing")]
    Empty,
}

/// The rule that a message or draft breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReason {
    /// The text is not JSON.
    #[error("{reason} at byte {at}")]
    NotJson {
        /// The offset of the first byte that does not fit.
        at: usize,
        /// The error at that byte.
        reason: &'static str,
    },
    /// The value cannot be serialised to JSON.
    #[error("it cannot be serialised: {reason}")]
    NotSerializable {
        /// The error of the serialiser.
        reason: String,
    },
    /// The text is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The value is not a JSON object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A required member is missing.
    #[error("it has no `{field}`")]
    Missing {
        /// The name of the member; members of a block are spelled `content[2].text`.
        field: String,
    },
    /// A member has the wrong type.
    #[error("`{field}` is not {expected}")]
    WrongType {
        /// The name of the member.
        field: String,
        /// The type that it must have.
        expected: &'static str,
    },
    /// No reader of the format knows the role of the message.
    #[error("the role `{role}` is unknown")]
    UnknownRole {
        /// The role.
        role: String,
    },
    /// No reader of the format knows the type of a block.
    #[error("the block `content[{index}]` has the unknown type `{kind}`")]
    UnknownBlock {
        /// The position of the block.
        index: usize,
        /// The type of the block.
        kind: String,
    },
    /// The type of the entry is unknown, or only other programs write it.
    #[error("the type `{kind}` is not one that is written")]
    UnknownType {
        /// The type.
        kind: String,
    },
    /// The session itself sets this member.
    #[error("`{field}` is set by the session")]
    SetBySession {
        /// The name of the member.
        field: String,
    },
    /// The message is a summary, which has its own type of entry.
    #[error("a summary is an entry of its own, `branch_summary` or `compaction`")]
    Summary,
    /// A required text is blank.
    #[error("its text is blank")]
    Blank,
}

/// Makes conversions that cannot fail usable where an [`Error`] is expected.
impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl InvalidReason {
    pub(crate) fn of(self, what: &'static str) -> Error {
        Error::Invalid { what, reason: self }
    }
}

/// The way in which a file was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileLoss {
    /// It is gone.
    #[error("deleted")]
    Deleted,
    /// Another file has its name.
    #[error("replaced")]
    Replaced,
    /// It became shorter.
    #[error("cut short")]
    Truncated,
}

/// A process that holds the lock of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The number of the process.
    pub process: u32,
    /// The name of its program, if the system reports it.
    pub program: Option<String>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.program {
            Some(program) => write!(f, "{program} (process {})", self.process),
            None => write!(f, "process {}", self.process),
        }
    }
}

fn rescue_text(rescue: Option<&PathBuf>, missing: u64) -> String {
    let Some(path) = rescue.map(|path| path.display()) else { return String::new() };
    match missing {
        0 => format!("; everything is in {path}"),
        1 => format!("; what could be saved is in {path}, 1 entry is lost"),
        missing => format!("; what could be saved is in {path}, {missing} entries are lost"),
    }
}

fn holder_text(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(|| "another program".into(), LockHolder::to_string)
}

fn appended_text(appended: &[EntryId]) -> String {
    let ids: Vec<&str> = appended.iter().map(EntryId::as_str).collect();
    match ids.as_slice() {
        [] => String::new(),
        [id] => format!(" after appending entry {id}"),
        ids => format!(" after appending entries {}", ids.join(", ")),
    }
}

/// A result whose error is the engine's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Error::Journal { source }
    }
}

impl Error {
    /// Adds the entries that were appended before a sync failed.
    pub(crate) fn after_append(self, ids: &[EntryId]) -> Self {
        match self {
            Error::Sync { path, source, .. } => Error::Sync { path, source, appended: ids.to_vec() },
            error => error,
        }
    }

    /// Returns an error as the system would report it again.
    #[cfg(feature = "fs")]
    pub(crate) fn repeated(error: &io::Error) -> io::Error {
        match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        }
    }

    pub(crate) fn io_at(action: &'static str) -> impl FnOnce(PathBuf, io::Error) -> Error {
        move |path, source| Error::Io { action, path, source }
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }
}
