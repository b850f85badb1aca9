//! Reading one file for a list: its beginning for a quick row, all of it for a complete one.
//!
//! A row is made from the same index as an open session, so the two never disagree.
//! Only the prompt that becomes the title is decoded; of other messages only the time is looked at. Reads, never
//! writes.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::summary::{Damage, SessionSummary};
use crate::diagnostic::Severity;
use crate::entry::{Block, Content, Header};
use crate::error::{Error, Result};
use crate::fs::{Access, FileId, Fs, FsFile, Meta};
use crate::index::{self, Index, LONGEST_LINE, Refusal};
use crate::journal::{Journal, ReadAt, read_range, read_up_to};
use crate::json::{Cursor, Doc, ValueRef};
use crate::kind::{Kind, Role};
use crate::time::Timestamp;
use crate::tree::{Node, Tree};

/// The `customType` of the entry that marks a session as made by a sub-agent.
///
/// Its data is `{"sessionId": ID}` with the id of that session; a fork has another id, so the copied marker has no
/// effect there. Two marks of other programs in the header count as well: a `kind` (at the top or in `metadata`)
/// that reads `subagent` in any spelling, and an `agentType`. A parent session alone is no such mark: every fork has
/// one.
pub const SUB_AGENT_MARKER: &str = "session-tree.sub-agent";

/// How much of a file a quick row may cost.
const HEAD: u64 = 8 * 1024;
/// Files up to this size are read in one go; larger ones are read line by line, and a second time where needed.
const READ_AT_ONCE: u64 = 4 << 20;
/// The longest name or prompt that is kept in a row, in bytes.
const LONGEST_TITLE: usize = 1000;

/// The state of a file for which a cached row is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) file: FileId,
    pub(super) len: u64,
    pub(super) changed: i64,
}

impl Key {
    pub(super) fn of(meta: &Meta) -> Self {
        Self { file: meta.id, len: meta.len, changed: meta.changed }
    }
}

/// A complete row, and the state of the file that it was made from.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) key: Key,
    pub(super) row: SessionSummary,
}

/// Reads the beginning of a file. A small file, or one whose header does not come soon, is read completely; one that
/// begins with something else is no session, whatever follows.
pub(super) fn quick(fs: &dyn Fs, path: &Path, meta: &Meta, buffer: &mut Vec<u8>) -> SessionSummary {
    let row = || SessionSummary::bare(path.to_path_buf(), meta.len, meta.modified);
    if meta.len <= HEAD {
        return complete(fs, path, meta, buffer).row;
    }
    let opened = match Opened::open(fs, path) {
        Ok(opened) => opened,
        Err(error) => return SessionSummary { damage: Some(damage_of(error)), ..row() },
    };
    let Ok(head) = opened.read(HEAD, buffer) else { return complete(fs, path, meta, buffer).row };
    // The last line may go on.
    let source = Source::Memory(&head[..memchr::memrchr(b'\n', head).map_or(0, |feed| feed + 1)]);
    let index = match index::try_load(&source) {
        Ok(Ok(index)) => index,
        Ok(Err(refusal @ Refusal::AnotherBeginning)) => {
            return SessionSummary { damage: Some(damage_of(refusal.of(Some(path)))), ..row() };
        }
        Ok(Err(Refusal::NoHeader)) | Err(_) => return complete(fs, path, meta, buffer).row,
    };
    let mut row = SessionSummary { is_complete: false, ..row() };
    set_header_fields(&mut row, &index);
    row.first_message = first_prompt(&index.tree, &source).ok().flatten();
    row
}

/// Reads all of a file.
pub(super) fn complete(fs: &dyn Fs, path: &Path, meta: &Meta, buffer: &mut Vec<u8>) -> Fresh {
    let mut fresh =
        Fresh { key: Key::of(meta), row: SessionSummary::bare(path.to_path_buf(), meta.len, meta.modified) };
    if let Err(error) = fill(&mut fresh, fs, path, buffer) {
        fresh.row.damage = Some(damage_of(error));
    }
    fresh
}

/// Reads what person and model said.
pub(super) fn text(fs: &dyn Fs, path: &Path) -> Result<String> {
    let opened = Opened::open(fs, path)?;
    let mut buffer = Vec::new();
    let source = opened.source(&mut buffer).map_err(Error::io("read", path))?;
    spoken(&source, path)
}

/// Reads what person and model said in a session of a store.
pub(super) fn text_of(journal: &dyn Journal, path: &Path) -> Result<String> {
    let len = journal.len().map_err(Error::io("read", path))?;
    let bytes = read_range(journal, 0, usize::try_from(len).unwrap_or(usize::MAX));
    spoken(&Source::Memory(&bytes.map_err(Error::io("read", path))?), path)
}

fn spoken(source: &Source<'_>, path: &Path) -> Result<String> {
    let index = index::load(source, Some(path))?;
    let mut all = String::new();
    for node in index.tree.nodes().filter(|node| is_spoken(&index.tree, *node)) {
        let said = text_at(&index.tree, source, node).map_err(Error::io("read", path))?;
        if !all.is_empty() && !said.is_empty() {
            all.push(' ');
        }
        all.push_str(&said);
    }
    Ok(all)
}

fn fill(fresh: &mut Fresh, fs: &dyn Fs, path: &Path, buffer: &mut Vec<u8>) -> Result<()> {
    let opened = Opened::open(fs, path)?;
    // The file may have grown since it was found; the row describes the bytes that are read now.
    fresh.key = Key::of(&opened.meta);
    let row = &mut fresh.row;
    (row.size, row.modified) = (opened.meta.len, opened.meta.modified);
    let source = opened.source(buffer).map_err(Error::io("read", path))?;
    let index = index::load(&source, Some(path))?;
    set_header_fields(row, &index);
    set_content_fields(row, &index, &source).map_err(Error::io("read", path))
}

impl SessionSummary {
    /// Makes the row of a session from its bytes. Its path is empty.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::NotASession`] if there is no header.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let mut row = Self::bare(Path::new("").into(), bytes.len() as u64, Timestamp::from_millis(0));
        let (source, index) = (Source::Memory(bytes), index::load(&bytes, None)?);
        set_header_fields(&mut row, &index);
        set_content_fields(&mut row, &index, &source).map_err(Error::io("read", "memory"))?;
        Ok(row)
    }
}

fn set_header_fields(row: &mut SessionSummary, index: &Index) {
    let header = &index.header;
    let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
    row.id = header.id().into_owned();
    row.cwd = owned(header.cwd()).unwrap_or_default();
    row.parent_session = owned(header.parent_session());
    row.created = header.timestamp();
    row.name = index.labels.name().map(|name| cut(name).to_owned());
    row.is_sub_agent = is_marked_as_sub_agent(header);
}

fn set_content_fields(row: &mut SessionSummary, index: &Index, source: &Source<'_>) -> io::Result<()> {
    let tree = &index.tree;
    row.message_count = tree.nodes().filter(|node| tree.kind(*node) == Kind::Message).count() as u64;
    row.entry_count = tree.len() as u64;
    row.tip_count = tree.tips().len() as u64;
    row.first_message = first_prompt(tree, source)?;
    let activity = last_activity(tree, source)?.filter(|time| time.as_millis() > 0);
    row.modified = activity.or(row.created).unwrap_or(row.modified);
    row.is_sub_agent |= has_marker(index, source)?;
    let damaged = index.diagnostics().iter().filter(|d| d.problem.severity() == Severity::Damage).count();
    row.damage = (damaged > 0).then_some(Damage::Lines { count: damaged as u64 });
    Ok(())
}

/// Finds the latest time of a message that person or model made.
fn last_activity(tree: &Tree, source: &Source<'_>) -> io::Result<Option<Timestamp>> {
    let mut latest = None;
    for node in tree.nodes().filter(|node| is_spoken(tree, *node)) {
        let of_entry = (!tree.has_bad_timestamp(node)).then(|| tree.timestamp(node));
        let of_message = source.line(tree, node)?.and_then(|line| message_time(&line));
        latest = latest.max(of_message.or(of_entry));
    }
    Ok(latest)
}

fn is_spoken(tree: &Tree, node: Node) -> bool {
    matches!(tree.role(node), Some(Role::User | Role::Assistant)) && !tree.is_placeholder(node)
}

/// Returns the `timestamp` of the message on a line, if it is a number. One that is out of range becomes the nearest time.
fn message_time(line: &[u8]) -> Option<Timestamp> {
    let millis = Cursor::new(line).at(&["message", "timestamp"])?.as_f64()?;
    Some(Timestamp::from_millis(millis as i64))
}

/// Finds the first prompt with text, on any branch.
fn first_prompt(tree: &Tree, source: &Source<'_>) -> io::Result<Option<String>> {
    for node in tree.nodes().filter(|node| tree.role(*node) == Some(Role::User)) {
        let text = text_at(tree, source, node)?;
        if !text.trim().is_empty() {
            return Ok(Some(cut(&text).to_owned()));
        }
    }
    Ok(None)
}

/// Reads the text blocks of a message, separated by blanks.
fn text_at(tree: &Tree, source: &Source<'_>, node: Node) -> io::Result<String> {
    let Some(line) = source.line(tree, node)? else { return Ok(String::new()) };
    let Ok(doc) = Doc::parse(&*line) else { return Ok(String::new()) };
    let content = doc.root().get("message").and_then(|message| message.get("content"));
    let texts = Content::of(content).blocks().filter_map(|block| match block {
        Block::Text(text) => Some(text),
        Block::Image { .. } | Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => None,
    });
    Ok(texts.collect::<Vec<_>>().join(" "))
}

fn is_marked_as_sub_agent(header: &Header) -> bool {
    let value = header.value();
    let is_child = |kind: Option<ValueRef<'_>>| {
        let letters = |text: Cow<'_, str>| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        kind.and_then(ValueRef::as_str).is_some_and(|kind| letters(kind).eq_ignore_ascii_case("subagent"))
    };
    let in_metadata = value.get("metadata").and_then(|metadata| metadata.get("kind"));
    let agent_type = value.get("agentType").and_then(ValueRef::as_str);
    is_child(value.get("kind")) || is_child(in_metadata) || agent_type.is_some_and(|name| !name.is_empty())
}

fn has_marker(index: &Index, source: &Source<'_>) -> io::Result<bool> {
    let tree = &index.tree;
    let ours = |node: &Node| tree.is_internal(*node) && !tree.is_leaf_marker(*node);
    for node in tree.nodes().filter(ours) {
        let Some(doc) = source.line(tree, node)?.and_then(|line| Doc::parse(&*line).ok()) else { continue };
        let marked = doc.root().get("data").and_then(|data| data.get("sessionId"));
        if doc.root().get("customType").is_some_and(|custom| custom.is_str(SUB_AGENT_MARKER))
            && marked.is_some_and(|id| id.is_str(&index.header.id()))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn damage_of(error: Error) -> Damage {
    match error {
        Error::NotASession { reason, .. } => Damage::NotASession { reason: reason.into() },
        Error::NotAFile { .. } => Damage::NotASession { reason: "it is not a regular file".into() },
        Error::Io { source, .. } => Damage::Unreadable { reason: source.to_string() },
        other => Damage::Unreadable { reason: other.to_string() },
    }
}

/// Cuts a text to what a row keeps.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_TITLE)]
}

/// A file and what it was when it was opened.
struct Opened {
    file: Box<dyn FsFile>,
    meta: Meta,
}

impl Opened {
    fn open(fs: &dyn Fs, path: &Path) -> Result<Self> {
        let file = fs.open(path, Access::Read).map_err(Error::io("open", path))?;
        let meta = file.metadata().map_err(Error::io("open", path))?;
        if !meta.is_file {
            return Err(Error::NotAFile { path: path.into() });
        }
        Ok(Self { file, meta })
    }

    fn source<'s>(&'s self, buffer: &'s mut Vec<u8>) -> io::Result<Source<'s>> {
        if self.meta.len > READ_AT_ONCE {
            return Ok(Source::File(self));
        }
        self.read(self.meta.len, buffer).map(Source::Memory)
    }

    /// Reads the first bytes, or fewer if the file was truncated since it was opened.
    fn read<'b>(&self, len: u64, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        let len = usize::try_from(len.min(self.meta.len)).unwrap_or(usize::MAX);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        let filled = read_up_to(&self.file, 0, &mut buffer[..len])?;
        Ok(&buffer[..filled])
    }
}

/// The bytes of a file, in memory or not.
enum Source<'s> {
    Memory(&'s [u8]),
    File(&'s Opened),
}

impl ReadAt for Source<'_> {
    fn len(&self) -> io::Result<u64> {
        match self {
            Source::Memory(bytes) => bytes.len(),
            Source::File(opened) => Ok(opened.meta.len),
        }
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Memory(bytes) => bytes.read_at(position, buffer),
            Source::File(opened) => opened.file.read_at(position, buffer),
        }
    }
}

impl<'s> Source<'s> {
    /// Returns the line of an entry; none if it is longer than the engine reads.
    fn line(&self, tree: &Tree, node: Node) -> io::Result<Option<Cow<'s, [u8]>>> {
        let (position, len) = tree.place(node);
        if u64::from(len) > LONGEST_LINE {
            return Ok(None);
        }
        match self {
            Source::Memory(bytes) => {
                let start = usize::try_from(position).unwrap_or(usize::MAX);
                Ok(bytes.get(start..).and_then(|rest| rest.get(..len as usize)).map(Cow::Borrowed))
            }
            Source::File(_) => read_range(self, position, len as usize).map(|line| Some(Cow::Owned(line))),
        }
    }
}
