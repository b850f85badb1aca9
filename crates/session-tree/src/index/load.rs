//! Loading: one pass over a journal, which finds the header first and then hands lines to the index.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::{IncomingLine, Index, NonEntryKind, NonEntryLine, read_line};
use crate::entry::Header;
use crate::error::{Error, Result};
use crate::journal::{IndexLine, Journal, Piece, ReadAt, each_line_while};
use crate::json::{self, Doc, ValueRef};
use crate::line::{Parent, Scan, Scanner, trim};

/// How many entries are read before the size of the rest is guessed.
const SAMPLE: usize = 256;
/// How far a header is looked for: what has none by then is some other file, of any size.
const EARLY_BYTES: u64 = 16 << 20;
const EARLY_LINES: usize = 100_000;

/// The reason why bytes are not a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no header, as far as the bytes go.
    NoHeader,
    /// The first line is not a header.
    AnotherBeginning,
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Refusal::NoHeader => "it has no session header",
            Refusal::AnotherBeginning => "its first entry is not a session header",
        }
    }

    /// Makes an error of it.
    pub(crate) fn of(self, path: Option<&Path>) -> Error {
        Error::NotASession { path: name(path), reason: self.reason() }
    }
}

/// The name of the journal in errors.
fn name(path: Option<&Path>) -> PathBuf {
    path.map_or_else(|| PathBuf::from("memory"), Path::to_path_buf)
}

/// Reads the journal of a session from its beginning.
pub(crate) fn load(source: &dyn ReadAt, path: Option<&Path>) -> Result<Index> {
    try_load(source).map_err(Error::io("read", name(path)))?.map_err(|refusal| refusal.of(path))
}

/// Reads the journal of a session from its beginning, without bodies if it has an index.
pub(crate) fn load_journal(journal: &dyn Journal) -> Result<Index> {
    let path = journal.path();
    if !journal.capabilities().index {
        return load(journal, path);
    }
    let index = load_with(journal, |loader| loader.read_index(journal));
    index.map_err(Error::io("read", name(path)))?.map_err(|refusal| refusal.of(path))
}

/// An index, or the reason why bytes are not a session.
type Loaded = std::result::Result<Index, Refusal>;

/// Reads the journal of a session from its beginning, or returns why it is not a session.
pub(crate) fn try_load(source: &dyn ReadAt) -> io::Result<Loaded> {
    let len = source.len()?;
    load_with(source, |loader| loader.read(source, len))
}

fn load_with(source: &dyn ReadAt, read: impl Fn(&mut Loader) -> io::Result<()>) -> io::Result<Loaded> {
    let mut loader = Loader::default();
    read(&mut loader)?;
    if loader.first_has_id == Some(true) {
        // The version is missing but the entries form a tree: new numbers would flatten it.
        loader = Loader { forced: Some(2), ..Loader::default() };
        read(&mut loader)?;
    }
    loader.finish(source)
}

impl Index {
    /// Reads the journal again from its beginning.
    pub(super) fn reload(&mut self, source: &dyn ReadAt, to: u64) -> io::Result<()> {
        // The version was decided when the file was opened.
        let mut loader =
            Loader { forced: Some(self.version), first_has_id: Some(false), ..Loader::default() };
        loader.read(source, to)?;
        let index = loader.finish(source)?;
        let mut index = index.map_err(|refusal| io::Error::other(refusal.of(None)))?;
        // The lines that were known have the same rows as before.
        index.tree.keep_nodes_of(&self.tree);
        *self = index;
        Ok(())
    }
}

/// Reads a journal from its beginning: finds the header first, then hands lines to the index.
#[derive(Default)]
struct Loader {
    forced: Option<u64>,
    index: Option<Index>,
    /// Lines before the header.
    early: Vec<NonEntryLine>,
    title_slot: Option<String>,
    byte_order_mark: bool,
    refusal: Option<Refusal>,
    /// Whether the first entry of a file without version has an id and a parent. It decides for all: a stray
    /// line further down must not hide every entry that has no id.
    first_has_id: Option<bool>,
}

impl Loader {
    /// Reads the lines up to a position.
    fn read(&mut self, source: &dyn ReadAt, len: u64) -> io::Result<()> {
        let scanner = Scanner::default();
        // A file of zero bytes is one line; without a header its end does not matter.
        let has_header = Cell::new(false);
        let goes_on = |position| has_header.get() || position < 2 * EARLY_BYTES;
        each_line_while(source, 0, len, &goes_on, &mut |position, piece, ended| {
            let flow = self.take(&IncomingLine::new(source, &scanner, position, piece), ended, len)?;
            has_header.set(self.index.is_some());
            Ok(flow)
        })
    }

    /// Reads the index of a journal instead of its lines.
    fn read_index(&mut self, journal: &dyn Journal) -> io::Result<()> {
        let (scanner, mut flow) = (Scanner::default(), ControlFlow::Continue(()));
        journal.index(0, &mut |IndexLine { position, len, head }| {
            if flow.is_continue() {
                let piece = Piece::Whole(head);
                let line = IncomingLine { source: journal, scanner: &scanner, position, piece, len };
                flow = self.take(&line, true, 0)?;
            }
            Ok(())
        })
    }

    /// Takes a line. `expected` is the position at which the journal is likely to end.
    fn take(&mut self, line: &IncomingLine<'_>, ended: bool, expected: u64) -> io::Result<ControlFlow<()>> {
        match &mut self.index {
            Some(index) => {
                if index.version == 1 && self.first_has_id.is_none() {
                    self.first_has_id = forms_a_tree(line);
                }
                if self.first_has_id == Some(true) {
                    // The caller starts again with another version.
                    return Ok(ControlFlow::Break(()));
                }
                index.take(line, ended)?;
                if index.tree.node_bound() == SAMPLE {
                    // The number of entries is estimated from the first ones; growing the columns step by step would copy them.
                    let expected = expected.saturating_sub(index.end) / (index.end / SAMPLE as u64 + 1);
                    index.tree.reserve(usize::try_from(expected + expected / 16).unwrap_or(0));
                }
            }
            None => self.take_early(line, ended)?,
        }
        Ok(if self.refusal.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Takes a line while the header has not been seen.
    fn take_early(&mut self, line: &IncomingLine<'_>, ended: bool) -> io::Result<()> {
        if line.position > EARLY_BYTES || self.early.len() > EARLY_LINES {
            self.refusal = Some(Refusal::NoHeader);
            return Ok(());
        }
        let Some(bytes) = line.read_whole()? else {
            self.add_early(line, NonEntryKind::TooLong);
            return Ok(());
        };
        let bytes = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if line.position == 0 => {
                self.byte_order_mark = true;
                rest.to_vec()
            }
            _ => bytes,
        };
        let kind = match Doc::parse(bytes.as_slice()) {
            Err(_) if trim(&bytes).is_empty() => NonEntryKind::Blank,
            Err(error) => NonEntryKind::NotJson { reason: error.reason },
            Ok(doc) if doc.root().kind() != json::Kind::Object => NonEntryKind::NotAnObject,
            Ok(doc) if self.early.iter().all(|gap| !gap.kind.is_object()) && is_title_slot(doc.root()) => {
                self.title_slot =
                    doc.root().get("title").and_then(ValueRef::as_str).map(|title| title.into_owned());
                NonEntryKind::TitleSlot
            }
            Ok(doc) => {
                self.take_header(doc, line, ended);
                return Ok(());
            }
        };
        self.add_early(line, kind);
        Ok(())
    }

    fn add_early(&mut self, line: &IncomingLine<'_>, kind: NonEntryKind) {
        let len = u32::try_from(line.len).unwrap_or(u32::MAX);
        self.early.push(NonEntryLine { rows: 0, position: line.position, len, kind });
    }

    fn take_header(&mut self, doc: Doc, line: &IncomingLine<'_>, ended: bool) {
        let Some(header) = Header::read(doc) else {
            self.refusal = Some(Refusal::AnotherBeginning);
            return;
        };
        let mut index = Index::new(header, line.len + 1);
        index.non_entries = std::mem::take(&mut self.early);
        index.object_lines = index.non_entries.iter().filter(|gap| gap.kind.is_object()).count();
        index.byte_order_mark = self.byte_order_mark;
        index.end = line.position + line.len + u64::from(ended);
        index.open_tail = !ended;
        let header_title = index.header.title().map(|title| title.into_owned());
        index.labels.title = self.title_slot.take().or(header_title);
        index.version = self.forced.unwrap_or(index.version);
        index.add_non_entry(line, NonEntryKind::Header);
        self.index = Some(index);
    }

    fn finish(self, source: &dyn ReadAt) -> io::Result<Loaded> {
        let Some(mut index) = self.index else { return Ok(Err(self.refusal.unwrap_or(Refusal::NoHeader))) };
        index.complete(source)?;
        Ok(Ok(index))
    }
}

impl Index {
    /// Finishes the index after all lines were read.
    pub(crate) fn complete(&mut self, source: &dyn ReadAt) -> io::Result<()> {
        validate_last_line(self, source)?;
        self.resolve_links(source)?;
        if self.tree.has_withdrawals(0) {
            self.reread_labels(source)?;
        }
        Ok(())
    }

    /// Returns true if the last entry in the file is a placeholder.
    #[cfg(feature = "fs")]
    pub(crate) fn ends_with_placeholder(&self) -> bool {
        self.tree.last_row().is_some_and(|last| self.tree.is_placeholder(last))
    }
}

/// The last line is where a crash leaves its mark, so it alone is checked at once.
fn validate_last_line(index: &mut Index, source: &dyn ReadAt) -> io::Result<()> {
    let Some(last) = index.tree.last_row() else { return Ok(()) };
    let place = index.tree.place(last);
    if index.non_entries.last().is_some_and(|gap| gap.position > place.0) {
        return Ok(());
    }
    if read_line(source, place)?.is_some_and(|line| json::validate(&line).is_err()) {
        index.tree.demote_last();
    }
    Ok(())
}

/// Returns true if an entry of a file without version has an id and a parent; `None` if the line is no entry.
fn forms_a_tree(line: &IncomingLine<'_>) -> Option<bool> {
    let Some(Scan::Object(head)) = line.scan() else { return None };
    head.kind.as_ref()?;
    Some(head.id.is_some() && head.parent != Parent::Absent)
}

/// oh-my-pi keeps the title in a line of fixed size before the header.
fn is_title_slot(object: ValueRef<'_>) -> bool {
    object.get("type").is_some_and(|kind| kind.is_str("title"))
}
