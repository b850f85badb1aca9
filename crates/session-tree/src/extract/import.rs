//! New sessions of whole files: import into a directory, and forks of a file.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::create::Destination;
use super::plan::Extract;
use crate::error::{Error, ReadOnlyReason, Result};
use crate::fs::{Access, Fs};
use crate::index::{LineAt, NonEntryKind};
use crate::journal::{FileJournal, Journal, ReadAt, copy_range};
use crate::json::{Edit, literal};
use crate::kind::Kind;
use crate::session::{NewSession, Options, Session};
use crate::tree::Node;

/// The most names that are tried.
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
        let mut journal: Box<dyn Journal> = match options.files.store_of(&path) {
            _ if fs.metadata(&path).is_ok() => continue,
            None => Box::new(FileJournal::unsaved(fs.clone(), path.clone())),
            Some(store) => match store.create(&path) {
                Err(Error::Exists { .. }) => continue,
                journal => journal?,
            },
        };
        let mut write = |_: &dyn ReadAt, out: &mut dyn Write| {
            if is_old_design {
                session.write_current_version(out)
            } else {
                copy_range(&*session.journal, 0..len, out)
            }
        };
        let result = journal.replace("", &mut write, &mut |_| Ok(()));
        match result {
            // Another program took the name in the meantime.
            Err(Error::Exists { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(path),
        }
    }
    Err(Error::Exists { path: directory.join(name(source, 0)) })
}

/// Makes a new session of a whole file: every branch, line by line, in the current version.
///
/// The new session is written at once. The source is only read.
pub fn fork_from(
    source: &Path,
    target_cwd: &str,
    to: Destination,
    options: Options,
    id: Option<String>,
) -> Result<Session> {
    let source = match options.files.store_of(source) {
        Some(store) => Session::load(store.open(source)?, Some(ReadOnlyReason::Asked))?,
        None => open_source(options.files.fs.clone(), source)?,
    };
    let plan = source.plan_extract(Extract::All)?;
    let new = NewSession { cwd: target_cwd.to_owned(), id, ..source.as_parent() };
    let session = to.start(new, options)?;
    source.fill(session, &plan, true)
}

fn open_source(fs: Arc<dyn Fs>, source: &Path) -> Result<Session> {
    let opened = open_to_read(fs, source);
    opened.map_err(|error| match error {
        Error::NotASession { path, .. } | Error::NotAFile { path } => Error::BadSource { path },
        Error::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Error::BadSource { path }
        }
        error => error,
    })
}

/// Opens a file for copying, without writing to it or locking it.
fn open_to_read(fs: Arc<dyn Fs>, path: &Path) -> Result<Session> {
    let journal = FileJournal::open(fs, path, Access::Read)?;
    Session::load(Box::new(journal), Some(ReadOnlyReason::Asked))
}

/// Returns the path of the source if it is in the directory already.
fn stored_already(fs: &Arc<dyn Fs>, session: &Session, directory: &Path) -> Option<PathBuf> {
    let source = session.file()?;
    let directory = fs.canonical(directory).ok()?;
    (source.parent() == Some(&directory)).then(|| source.to_path_buf())
}

/// Returns the name of the copy; lists only show names that end in `.jsonl`.
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
        self.copy_lines(out, |copier, line, bytes| match line {
            Some(LineAt::NonEntry(gap)) if gap.kind == NonEntryKind::Header => {
                copier.text(&self.plain_header())
            }
            Some(LineAt::Row(node)) => copier.text(&self.imported_line(node)?),
            Some(LineAt::NonEntry(_)) | None => copier.line(bytes),
        })
    }

    /// Returns the header without links, because it is no entry in version 3; its id stays.
    fn plain_header(&self) -> Vec<u8> {
        let header = self.header();
        let mut edit = Edit::new(header.value());
        edit.remove("uuid");
        edit.remove("parentUuid");
        edit.set("version", b"3");
        edit.object_text()
    }

    /// Returns a line as version 3 spells it. Branch summaries get a `fromId`, which the early design did not store.
    fn imported_line(&self, node: Node) -> io::Result<Vec<u8>> {
        let line = self.current(node)?;
        if !matches!(self.tree().kind(node), Kind::BranchSummary) {
            return Ok(line);
        }
        let Ok(doc) = crate::json::Doc::parse(line.as_slice()) else { return Ok(line) };
        if doc.root().get("fromId").is_some() {
            return Ok(line);
        }
        let mut edit = Edit::new(doc.root());
        let from = self.tree().parent(node).map(|parent| self.tree().id(parent));
        edit.append("fromId", literal(from.as_ref().map_or("root", |id| id.as_str())).as_bytes());
        Ok(edit.document())
    }
}
