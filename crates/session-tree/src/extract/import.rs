//! Taking a session file from elsewhere into a directory of sessions.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::create::open_to_read;
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::index::{LineAt, NonEntryKind};
use crate::journal::{FileJournal, Journal, ReadAt, copy_range};
use crate::json::{Edit, literal};
use crate::kind::Kind;
use crate::session::{Options, Session};
use crate::tree::Node;

/// How often another name is tried.
const MOST_NAMES: u32 = 10_000;

/// Copies a session file into a directory, byte for byte, and returns the new path.
///
/// If the name is taken the copy is called `name-1.jsonl`, and so on; no file is ever replaced. A file that lies in
/// the directory already stays where it is. A file that spells its ids `uuid` is written in the current version.
pub fn import(source: &Path, directory: &Path, options: &Options) -> Result<PathBuf> {
    let fs = &options.files.fs;
    let session = open_to_read(fs.clone(), source)?;
    let is_old_design = session.index.uuid_spelling;
    if !is_old_design && let Some(stored) = stored_already(fs, &session, directory) {
        return Ok(stored);
    }
    let len = session.journal.len().map_err(Error::io("read", source))?;
    for count in 0..MOST_NAMES {
        let path = directory.join(name(source, count));
        let mut journal = FileJournal::unsaved(fs.clone(), path.clone());
        if fs.metadata(&path).is_ok() {
            continue;
        }
        let mut write = |_: &dyn ReadAt, out: &mut dyn Write| {
            if is_old_design {
                session.write_current_version(out)
            } else {
                copy_range(&*session.journal, 0..len, out)
            }
        };
        let result = journal.replace("", &mut write, &mut |_| Ok(()));
        match result {
            // Somebody took the name while we wrote.
            Err(Error::Exists { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(path),
        }
    }
    Err(Error::Exists { path: directory.join(name(source, 0)) })
}

/// Returns true if the source lies in the directory already.
fn stored_already(fs: &Arc<dyn Fs>, session: &Session, directory: &Path) -> Option<PathBuf> {
    let source = session.file()?;
    let directory = fs.canonical(directory).ok()?;
    (source.parent() == Some(&directory)).then(|| source.to_path_buf())
}

/// Gives the name of the copy; lists only show names that end in `.jsonl`.
fn name(source: &Path, count: u32) -> OsString {
    let is_jsonl = source.extension().is_some_and(|extension| extension == "jsonl");
    let stem = if is_jsonl { source.file_stem() } else { source.file_name() };
    let mut name = stem.unwrap_or_default().to_os_string();
    if count > 0 {
        name.push(format!("-{count}"));
    }
    name.push(".jsonl");
    name
}

impl Session {
    /// Writes a session of the early design as version 3; bad lines and blank ones stay as they are.
    fn write_current_version(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.index.lines() {
            let (position, len) = self.index.place_of(line);
            match line {
                LineAt::NonEntry(gap) if gap.kind == NonEntryKind::Header => {
                    out.write_all(&self.plain_header())?;
                }
                LineAt::NonEntry(_) => copy_range(&*self.journal, position..position + u64::from(len), out)?,
                LineAt::Row(node) => out.write_all(&self.imported_line(node)?)?,
            }
            out.write_all(b"\n")?;
        }
        match &self.index.torn {
            Some(torn) => {
                copy_range(&*self.journal, torn.clone(), out)?;
                out.write_all(b"\n")
            }
            None => Ok(()),
        }
    }

    /// The header is no entry, so it has no links; its id stays.
    fn plain_header(&self) -> Vec<u8> {
        let header = self.header();
        let Some(mut edit) = Edit::new(header.value()) else { return header.raw().to_vec() };
        edit.remove("uuid");
        edit.remove("parentUuid");
        edit.set("version", b"3");
        edit.object_text()
    }

    /// A branch summary has to say where it came from; the early design did not store that.
    fn imported_line(&self, node: Node) -> io::Result<Vec<u8>> {
        let line = self.current(node)?;
        if !matches!(self.tree().kind(node), Kind::BranchSummary) {
            return Ok(line);
        }
        let Ok(doc) = crate::json::Doc::parse(line.as_slice()) else { return Ok(line) };
        let Some(mut edit) = Edit::new(doc.root()).filter(|_| doc.root().get("fromId").is_none()) else {
            return Ok(line);
        };
        let from = self.tree().parent(node).map(|parent| self.tree().id(parent));
        edit.append("fromId", literal(from.as_ref().map_or("root", |id| id.as_str())).as_bytes());
        Ok(edit.document())
    }
}
