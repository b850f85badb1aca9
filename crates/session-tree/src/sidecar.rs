//! The sidecar: the index of a large session on disk, so that opening it again does not read it again.
//!
//! A side branch of *index*. A cache and never the truth: it lies in a directory that the application chooses, not beside
//! the session, may be deleted at any time, and is used only if its checksums hold and the indexed part of the journal is
//! unchanged. A journal that did not change at all since is recognised by its length and time of change; the indexed part
//! of any other is compared with its checksum, which is several times faster than indexing it. Appended lines are read from
//! the journal.
//!
//! Its parts: the head, the lines that are not entries, the labels, then those of the tree.

use std::io;
use std::path::{Path, PathBuf};

use crate::codec::{Codec, Format, encode, fields};
use crate::entry::Header;
use crate::fs::{FileId, Fs, Meta};
use crate::index::{Index, Labels, NonEntryKind, NonEntryLine};
use crate::journal::{ReadAt, checksum, read_range};
use crate::json::Doc;
use crate::time::Timestamp;
use crate::tree::{TREE_PARTS, Tree};

const FORMAT: Format = Format { name: b"stsidec\x05", parts: 3 + TREE_PARTS };
/// How long a change of a file may share its time with an earlier one, in nanoseconds: on file systems with fine times,
/// and on those that count seconds.
const FINE_TICK: i64 = 20_000_000;
const COARSE_TICK: i64 = 2_000_000_000;
/// Smaller files are read faster than a second file is opened.
const WORTH_IT: u64 = 1 << 20;

/// The sidecar of a journal.
#[derive(Debug, Clone)]
pub(crate) struct Sidecar {
    path: PathBuf,
}

impl Sidecar {
    /// Finds the place of the sidecar of a file; it depends on the file, not on its name.
    pub(crate) fn of(directory: &Path, FileId { device, number }: FileId) -> Self {
        Sidecar { path: directory.join(format!("{device:x}-{number:x}.index")) }
    }

    /// Reads the index of a journal from its sidecar, if that still fits. It lacks what was appended since.
    pub(crate) fn load(&self, fs: &dyn Fs, journal: &dyn ReadAt, meta: &Meta) -> Option<Index> {
        let parts = FORMAT.open(fs, &self.path)?;
        let head: Head = parts.decode(0)?;
        let is_untouched =
            meta.len == head.end && head.changed == meta.changed && is_settled(head.changed, parts.changed);
        if meta.len < head.end
            || !is_untouched && head.checksum != u64::from(checksum(journal, head.end).ok()?)
        {
            return None;
        }
        let non_entries: Vec<NonEntryLine> = parts.decode(1)?;
        let header = non_entries.iter().find(|line| line.kind == NonEntryKind::Header)?;
        let header = read_range(journal, header.position, header.len as usize).ok()?;
        let header = Header::read(Doc::parse(header.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&header)).ok()?)?;
        let places: Vec<(u32, u64)> =
            non_entries.iter().map(|line| (line.rows, line.position + u64::from(line.len) + 1)).collect();
        let tree = Tree::from_parts(&parts, 3, &places)?;
        let mut index = Index::new(header, 1);
        (index.tree, index.labels) = (tree, parts.decode(2)?);
        (index.version, index.end) = (head.version, head.end);
        index.uuid_spelling = head.uuid_spelling;
        index.open_tail = head.open_tail;
        index.byte_order_mark = head.byte_order_mark;
        index.object_lines = non_entries.iter().filter(|line| line.kind.is_object()).count();
        index.non_entries = non_entries;
        Some(index)
    }

    /// Writes the sidecar of a journal that was indexed. `meta` is its state before that. A failure costs the next start
    /// some time, nothing else.
    pub(crate) fn store(
        &self,
        fs: &dyn Fs,
        journal: &dyn ReadAt,
        index: &Index,
        meta: &Meta,
        is_unchanged: impl FnOnce() -> bool,
    ) -> io::Result<()> {
        // A last line that is damaged is a placeholder only while it is the last one. The reason why a line is bad is not
        // stored: a session with such lines is read from its file.
        let is_stored = |line: &NonEntryLine| NonEntryKind::STORED.contains(&line.kind);
        if index.torn.is_some()
            || index.end < WORTH_IT
            || index.ends_with_placeholder()
            || !index.non_entries.iter().all(is_stored)
        {
            return Ok(());
        }
        let checksum = u64::from(checksum(journal, index.end)?);
        if !is_unchanged() {
            // The index may be older than the bytes that were just read.
            return Ok(());
        }
        let head = Head {
            end: index.end,
            changed: meta.changed,
            checksum,
            version: index.version,
            uuid_spelling: index.uuid_spelling,
            open_tail: index.open_tail,
            byte_order_mark: index.byte_order_mark,
        };
        let mut parts = vec![encode(&head), encode(&index.non_entries), encode(&index.labels)];
        parts.extend(index.tree.to_parts());
        FORMAT.save(fs, &self.path, &parts)
    }
}

/// The state of the journal that the sidecar belongs to.
struct Head {
    end: u64,
    changed: i64,
    checksum: u64,
    version: u64,
    uuid_spelling: bool,
    open_tail: bool,
    byte_order_mark: bool,
}

fields! {
    Head { end, changed, checksum, version, uuid_spelling, open_tail, byte_order_mark }
    NonEntryLine { rows, position, len, kind }
}

impl Codec for Labels {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        self.title.write(out);
        let labels = self.in_order().into_iter();
        let labels = labels.map(|(target, label)| (target.to_string(), label.text.clone(), label.set_at));
        labels.collect::<Vec<_>>().write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let name = Codec::read(bytes)?;
        let mut labels = Labels::titled(Codec::read(bytes)?);
        labels.name = name;
        for (target, text, set_at) in Vec::<(String, String, Timestamp)>::read(bytes)? {
            labels.set(&target, Some(&text), set_at);
        }
        Some(labels)
    }
}

impl Codec for NonEntryKind {
    fn write(&self, out: &mut Vec<u8>) {
        let place = Self::STORED.iter().position(|kind| kind == self);
        place.map_or(u8::MAX, |place| place as u8).write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Self::STORED.get(usize::from(u8::read(bytes)?)).copied()
    }
}

/// Returns true if the index grew enough since its sidecar was written to write it again.
pub(crate) fn is_outdated(sidecar_end: Option<u64>, end: u64) -> bool {
    sidecar_end.is_none_or(|known| end - known > WORTH_IT)
}

/// Returns true if a file that had this time of change when its sidecar was written must have another one if it changed
/// later: times are not finer than the ticks of the system.
fn is_settled(changed: i64, sidecar_changed: i64) -> bool {
    let tick = if changed % 1_000_000_000 == 0 { COARSE_TICK } else { FINE_TICK };
    sidecar_changed.saturating_sub(changed) > tick
}

#[cfg(test)]
mod tests;
