//! The sidecar: the index of a large session on disk, so that opening it again does not read it again.
//!
//! A side branch of *index*. A cache and never the truth: it lies in a directory that the application chooses, not beside
//! the session, may be deleted at any time, and is used only if its checksums hold and the indexed part of the journal is
//! unchanged. A journal that did not change at all since is recognised by its length and time of change; the indexed part
//! of any other is compared with its checksum, which is several times faster than indexing it. Appended lines are read from
//! the journal.
//!
//! Its parts: the head, the gaps, the labels, then those of the tree.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::Header;
use crate::fs::{FileId, Fs, Meta, replace_cache};
use crate::index::{Dialect, Index, Labels, NonEntryKind, NonEntryLine};
use crate::journal::{ReadAt, read_into, read_range};
use crate::json::Doc;
use crate::parts::{Parts, join};
use crate::time::Timestamp;
use crate::tree::{TREE_PARTS, Tree};

const MAGIC: &[u8; 8] = b"stsidec3";
/// How many bytes are read at once for a checksum.
const BLOCK: u64 = 1 << 20;
/// How long a change of a file may share its time with an earlier one, in nanoseconds: on file systems with fine times,
/// and on those that count seconds.
const FINE_TICK: i64 = 20_000_000;
const COARSE_TICK: i64 = 2_000_000_000;
/// Smaller files are read faster than a second file is opened.
const WORTH_IT: u64 = 1 << 20;

/// Where the sidecar of a journal lies.
#[derive(Debug, Clone)]
pub(crate) struct Sidecar {
    path: PathBuf,
}

impl Sidecar {
    /// Finds the place of the sidecar of a file; it depends on the file, not on its name.
    pub(crate) fn of(directory: &Path, FileId { device, number }: FileId) -> Self {
        Sidecar { path: directory.join(format!("{device:x}-{number:x}.index")) }
    }

    /// Reads the index of a journal from its sidecar, if that still fits. What was appended since is not in it.
    pub(crate) fn load(&self, fs: &dyn Fs, journal: &dyn ReadAt, meta: &Meta) -> Option<Index> {
        let parts = Parts::open(fs, &self.path, MAGIC, 3 + TREE_PARTS)?;
        let head = parts.bytes(0)?;
        let mut head = Fields(&head);
        let (end, changed, sum) = (head.number()?, head.number()?.cast_signed(), head.number()?);
        let is_untouched = meta.len == end && changed == meta.changed && is_settled(changed, parts.changed);
        if meta.len < end || !is_untouched && sum != checksum(journal, end).ok()? {
            return None;
        }
        let dialect = dialect_from(head.number()?)?;
        let (header_at, header_len) = (head.number()?, head.number()?);
        let flags = head.number()?;
        let header = read_range(journal, header_at, usize::try_from(header_len).ok()?).ok()?;
        let header = header.strip_prefix(b"\xEF\xBB\xBF").map_or(header.clone(), <[u8]>::to_vec);
        let header = Header::read(Doc::parse(header).ok()?)?;
        let gaps = read_gaps(&parts.bytes(1)?)?;
        let labels = read_labels(&parts.bytes(2)?)?;
        let places: Vec<(u32, u64)> =
            gaps.iter().map(|gap| (gap.rows, gap.position + u64::from(gap.len) + 1)).collect();
        let tree = Tree::from_parts(&parts, 3, &places)?;
        Some(Index::restore(header, tree, labels, dialect, gaps, end, flags))
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
        // A last line that is damaged is a placeholder only while it is the last one.
        if index.torn.is_some() || index.end < WORTH_IT || index.ends_with_placeholder() {
            return Ok(());
        }
        let sum = checksum(journal, index.end)?;
        if !is_unchanged() {
            // The index may be older than the bytes that were just read.
            return Ok(());
        }
        let Some(header) = index.non_entries.iter().find(|gap| gap.kind == NonEntryKind::Header) else {
            return Ok(());
        };
        let mut head = Vec::new();
        let numbers = [
            index.end,
            meta.changed.cast_unsigned(),
            sum,
            dialect_number(index.dialect),
            header.position,
            u64::from(header.len),
            index.flags(),
        ];
        for number in numbers {
            head.extend_from_slice(&number.to_le_bytes());
        }
        let Some(gaps) = write_gaps(&index.non_entries) else { return Ok(()) };
        let mut parts = vec![head, gaps, write_labels(&index.labels)];
        parts.extend(index.tree.to_parts());
        replace_cache(fs, &self.path, &join(MAGIC, &parts))
    }
}

/// Tells whether the index grew enough since its sidecar was written to write it anew.
pub(crate) fn is_outdated(sidecar_end: Option<u64>, end: u64) -> bool {
    sidecar_end.is_none_or(|known| end - known > WORTH_IT)
}

/// Returns true if a file that had this time of change when its sidecar was written must have another one if it changed
/// later: times are not finer than the ticks of the system.
fn is_settled(changed: i64, sidecar_changed: i64) -> bool {
    let tick = if changed % 1_000_000_000 == 0 { COARSE_TICK } else { FINE_TICK };
    sidecar_changed.saturating_sub(changed) > tick
}

/// Returns the checksum of the indexed part of a journal.
fn checksum(journal: &dyn ReadAt, end: u64) -> io::Result<u64> {
    let mut buffer = vec![0; end.min(BLOCK) as usize];
    let (mut at, mut sum) = (0, 0);
    while at < end {
        let part = &mut buffer[..(end - at).min(BLOCK) as usize];
        read_into(journal, at, part)?;
        sum = crc32c::crc32c_append(sum, part);
        at += part.len() as u64;
    }
    Ok(u64::from(sum))
}

fn dialect_number(dialect: Dialect) -> u64 {
    match dialect {
        Dialect::V1 => 1,
        Dialect::V2 => 2,
        Dialect::V3 => 3,
        Dialect::Newer(version) => version,
    }
}

fn dialect_from(number: u64) -> Option<Dialect> {
    match number {
        0 => None,
        1 => Some(Dialect::V1),
        2 => Some(Dialect::V2),
        3 => Some(Dialect::V3),
        version => Some(Dialect::Newer(version)),
    }
}

/// Gaps with a reason are rare and their text is not stored: a session with bad lines is read anew.
fn write_gaps(gaps: &[NonEntryLine]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(gaps.len() * 17);
    for gap in gaps {
        let kind = match gap.kind {
            NonEntryKind::Blank => 0_u8,
            NonEntryKind::Header => 1,
            NonEntryKind::TitleSlot => 2,
            NonEntryKind::SecondHeader => 3,
            NonEntryKind::NotAnObject => 4,
            NonEntryKind::NoId => 5,
            NonEntryKind::TooLong | NonEntryKind::NotJson { .. } => return None,
        };
        out.extend_from_slice(&gap.rows.to_le_bytes());
        out.extend_from_slice(&gap.position.to_le_bytes());
        out.extend_from_slice(&gap.len.to_le_bytes());
        out.push(kind);
    }
    Some(out)
}

fn read_gaps(bytes: &[u8]) -> Option<Vec<NonEntryLine>> {
    let records = bytes.chunks_exact(17);
    records
        .map(|record| {
            let kind = match record.last()? {
                0 => NonEntryKind::Blank,
                1 => NonEntryKind::Header,
                2 => NonEntryKind::TitleSlot,
                3 => NonEntryKind::SecondHeader,
                4 => NonEntryKind::NotAnObject,
                5 => NonEntryKind::NoId,
                _ => return None,
            };
            Some(NonEntryLine {
                rows: u32::from_le_bytes(record[..4].try_into().ok()?),
                position: u64::from_le_bytes(record[4..12].try_into().ok()?),
                len: u32::from_le_bytes(record[12..16].try_into().ok()?),
                kind,
            })
        })
        .collect()
}

fn write_labels(labels: &Labels) -> Vec<u8> {
    let mut out = Vec::new();
    let (name, title) = labels.names();
    for text in [name, title] {
        push_text(&mut out, text);
    }
    for (target, label) in labels.in_order() {
        push_text(&mut out, Some(target.as_str()));
        push_text(&mut out, Some(&label.text));
        out.extend_from_slice(&label.set_at.as_millis().to_le_bytes());
    }
    out
}

fn read_labels(bytes: &[u8]) -> Option<Labels> {
    let mut fields = Fields(bytes);
    let mut labels = Labels::default();
    let (name, title) = (fields.text()?, fields.text()?);
    labels.set_names(name, title);
    while !fields.0.is_empty() {
        let (target, text) = (fields.text()??, fields.text()??);
        let set_at = Timestamp::from_millis(fields.number()?.cast_signed());
        labels.set(&target, Some(&text), set_at);
    }
    Some(labels)
}

fn push_text(out: &mut Vec<u8>, text: Option<&str>) {
    let length = text.map_or(u64::MAX, |text| text.len() as u64);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Numbers and texts one after the other.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// The outer `None` is the end of the bytes, the inner one an absent text.
    fn text(&mut self) -> Option<Option<String>> {
        let length = self.number()?;
        if length == u64::MAX {
            return Some(None);
        }
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(String::from_utf8(text.to_vec()).ok()?))
    }
}

#[cfg(test)]
mod tests;
