//! Complete rows of earlier runs, kept in one file that may be deleted at any time.
//!
//! A row is used only for the file, length and time of change that it was made from.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::read::{Fresh, Key};
use super::summary::{Damage, SessionSummary};
use crate::codec::{Codec, Format, encode, fields};
use crate::fs::{FileId, Fs};

const FORMAT: Format = Format { name: b"stcatlg\x03", parts: 1 };

/// The rows of earlier runs, and those of this one.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// By the path of the session; rows are decoded when they are used.
    records: HashMap<String, (Key, Box<[u8]>)>,
    is_changed: bool,
}

/// A stored row: the path of the file, the state of the file, the row.
type Record = (String, Key, Box<[u8]>);

impl Cache {
    /// Reads a cache. One that cannot be read, or has another version, counts as empty and is replaced later.
    pub(super) fn load(fs: &dyn Fs, path: &Path) -> Self {
        let records: Option<Vec<Record>> = FORMAT.open(fs, path).and_then(|parts| parts.decode(0));
        let records = records.unwrap_or_default().into_iter();
        Self { records: records.map(|(path, key, row)| (path, (key, row))).collect(), is_changed: false }
    }

    /// Returns the row of a file that has not changed.
    pub(super) fn get(&self, path: &Path, key: Key) -> Option<SessionSummary> {
        let (_, row) = self.records.get(path.to_str()?).filter(|(known, _)| *known == key)?;
        let row = SessionSummary::read(&mut &**row)?;
        Some(SessionSummary { path: path.to_path_buf(), size: key.len, is_complete: true, ..row })
    }

    /// Keeps a row. A file that could not be read is tried again next time.
    pub(super) fn put(&mut self, fresh: &Fresh) {
        let Some(path) = fresh.row.path.to_str() else { return };
        if !matches!(fresh.row.damage, Some(Damage::Unreadable { .. })) {
            self.records.insert(path.to_owned(), (fresh.key, encode(&fresh.row).into()));
            self.is_changed = true;
        }
    }

    /// Writes the rows of the paths that `keep` accepts, if any row is new.
    pub(super) fn save(&self, fs: &dyn Fs, path: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let mut records: Vec<(String, Key, Box<[u8]>)> = Vec::with_capacity(self.records.len());
        for (path, (key, row)) in self.records.iter().filter(|(path, _)| keep(Path::new(path))) {
            records.push((path.clone(), *key, row.clone()));
        }
        records.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        FORMAT.save(fs, path, &[encode(&records)])
    }
}

impl SessionSummary {
    /// Encodes the row for a store, without its path and its size.
    pub fn encode(&self) -> Vec<u8> {
        [FORMAT.name.to_vec(), encode(self)].concat()
    }

    /// Decodes a row; none if another version of the engine encoded it.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Self::read(&mut bytes.strip_prefix(FORMAT.name)?)
    }
}

fields! {
    FileId { device, number }
    Key { file, len, changed }
    SessionSummary {
        id, cwd, name, parent_session, created, modified, message_count, first_message, entry_count, tip_count,
        is_sub_agent, damage; path: PathBuf::new(), size: 0, is_complete: true
    }
}

impl Codec for Damage {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Damage::NotASession { reason } => (1_u8, reason.to_string()).write(out),
            Damage::Unreadable { reason } => (2_u8, reason.clone()).write(out),
            Damage::Lines { count } => (3_u8, *count).write(out),
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(bytes)? {
            1 => Damage::NotASession { reason: String::read(bytes)?.into() },
            2 => Damage::Unreadable { reason: Codec::read(bytes)? },
            3 => Damage::Lines { count: Codec::read(bytes)? },
            _ => return None,
        })
    }
}
