//! Finished rows between two runs: one file, disposable, never the truth.
//!
//! A row is used only for the file, length and time of change that it was made from. A cache that is damaged, of another
//! version or no cache at all reads as an empty one and is made anew. It is written beside itself and takes its name in
//! one step, so a reader never sees half of one; nobody waits for the disk, since a lost cache costs only time.

mod codec;

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::read::{Fresh, Key};
use super::summary::{Damage, SessionSummary};
use crate::fs::{Access, Fs, replace_cache};
use crate::journal::{OpenFile, read_range};
use codec::{Reader, Writer};

/// Names the format. The number at the end changes with every change of a row.
const MAGIC: &[u8; 8] = b"stcatlg\x02";
const PREFIX: usize = MAGIC.len() + 4;
/// No list of sessions needs more; what is larger is something else.
const LARGEST: u64 = 256 << 20;

/// The rows of earlier runs, and those of this one.
#[derive(Debug, Default)]
pub(super) struct Cache {
    bytes: Vec<u8>,
    /// Where the record of each path stands in `bytes`.
    records: HashMap<String, Record>,
    is_changed: bool,
}

#[derive(Debug, Clone)]
struct Record {
    key: Key,
    row: Range<usize>,
}

impl Cache {
    /// Reads a cache; one that cannot be used is empty.
    pub(super) fn load(fs: &dyn Fs, path: &Path) -> Self {
        let bytes = read_file(fs, path).unwrap_or_default();
        match index(&bytes) {
            Some(records) => Self { bytes, records, is_changed: false },
            None => Self::default(),
        }
    }

    /// Returns the row of a file that is still as it was.
    pub(super) fn get(&self, path: &Path, key: Key) -> Option<SessionSummary> {
        let record = self.records.get(path.to_str()?).filter(|record| record.key == key)?;
        codec::read_row(&mut Reader(self.bytes.get(record.row.clone())?), path, key.len)
    }

    /// Keeps a row. A file that could not be read is tried again next time.
    pub(super) fn put(&mut self, fresh: &Fresh) {
        let Some(path) = fresh.row.path.to_str() else { return };
        if matches!(fresh.row.damage, Some(Damage::Unreadable { .. })) {
            return;
        }
        let start = self.bytes.len();
        codec::write_row(&mut Writer(&mut self.bytes), &fresh.row);
        let record = Record { key: fresh.key, row: start..self.bytes.len() };
        self.records.insert(path.to_owned(), record);
        self.is_changed = true;
    }

    /// Writes the rows that `keep` wants, if any is new.
    pub(super) fn save(&self, fs: &dyn Fs, path: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        replace_cache(fs, path, &self.encode(keep))
    }

    fn encode(&self, keep: impl Fn(&Path) -> bool) -> Vec<u8> {
        let mut paths: Vec<&String> = self.records.keys().filter(|path| keep(Path::new(path))).collect();
        paths.sort_unstable();
        let mut out = vec![0; PREFIX];
        for path in paths {
            let record = &self.records[path];
            let mut writer = Writer(&mut out);
            writer.text(path);
            writer.u64(record.key.file.device);
            writer.u64(record.key.file.number);
            writer.u64(record.key.len);
            writer.u64(record.key.changed.cast_unsigned());
            writer.bytes(&self.bytes[record.row.clone()]);
        }
        let sum = crc32c::crc32c(&out[PREFIX..]);
        out[..MAGIC.len()].copy_from_slice(MAGIC);
        out[MAGIC.len()..PREFIX].copy_from_slice(&sum.to_le_bytes());
        out
    }
}

/// Finds the records; `None` if the bytes are no cache of ours.
fn index(bytes: &[u8]) -> Option<HashMap<String, Record>> {
    let payload = bytes.strip_prefix(MAGIC)?;
    let (sum, payload) = payload.split_first_chunk()?;
    if crc32c::crc32c(payload) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut records = HashMap::new();
    let mut reader = Reader(payload);
    while !reader.0.is_empty() {
        let path = reader.text()?;
        let file = crate::fs::FileId { device: reader.u64()?, number: reader.u64()? };
        let key = Key { file, len: reader.u64()?, changed: reader.u64()?.cast_signed() };
        let row = reader.bytes()?;
        let end = bytes.len() - reader.0.len();
        records.insert(path, Record { key, row: end - row.len()..end });
    }
    Some(records)
}

fn read_file(fs: &dyn Fs, path: &Path) -> io::Result<Vec<u8>> {
    let file = fs.open(path, Access::Read)?;
    let meta = file.metadata()?;
    if !meta.is_file || meta.len > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    read_range(&OpenFile(&*file), 0, meta.len as usize)
}
