//! Reads sessions for the picker on other threads, so that no key ever waits for a file.
//!
//! A reader is dropped with its picker; its threads notice that at the next row and stop.

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::picker::{Scope, SessionPreview};
use session_tree::{Catalog, Options, SessionSummary};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The number of rows that are sent at once, so that the first ones show soon.
const ROWS_AT_ONCE: usize = 50;

/// A result of the reader.
#[derive(Debug)]
pub(super) enum ReaderResult {
    /// Rows of a scope, and how far its list has come, once that is known.
    Rows { scope: Scope, rows: Vec<SessionSummary>, progress: Option<(usize, usize)> },
    /// The texts of these sessions.
    Texts(Vec<(PathBuf, String)>),
    /// The preview of a session; empty if it cannot be read.
    Preview(PathBuf, SessionPreview),
}

/// Reads sessions for the picker.
#[derive(Debug)]
pub(super) struct SessionReader {
    catalogs: Vec<Catalog>,
    cwd: String,
    send: UnboundedSender<ReaderResult>,
    found: UnboundedReceiver<ReaderResult>,
    reads_texts: bool,
    reads_preview: bool,
}

impl SessionReader {
    /// Makes a reader of the sessions of these catalogs.
    pub(super) fn new(catalogs: Vec<Catalog>, cwd: String) -> Self {
        let (send, found) = unbounded_channel();
        SessionReader { catalogs, cwd, send, found, reads_texts: false, reads_preview: false }
    }

    /// Waits for the next result.
    pub(super) async fn found(&mut self) -> ReaderResult {
        match self.found.recv().await {
            Some(found) => {
                match &found {
                    ReaderResult::Texts(_) => self.reads_texts = false,
                    ReaderResult::Preview(..) => self.reads_preview = false,
                    ReaderResult::Rows { .. } => {}
                }
                found
            }
            // The reader itself holds a sender.
            None => std::future::pending().await,
        }
    }

    /// Lists the sessions of a scope: first from the cache, then complete.
    pub(super) fn list(&self, scope: Scope) {
        let (catalogs, cwd, send) = (self.catalogs.clone(), self.cwd.clone(), self.send.clone());
        tokio::task::spawn_blocking(move || {
            let listings = || {
                catalogs.iter().map(|catalog| match scope {
                    Scope::Folder => catalog.list(&cwd),
                    Scope::All => catalog.list_all(),
                })
            };
            let mut list = List { scope, send, rows: Vec::new(), done: 0, total: None };
            for listing in listings() {
                if listing.quick().any(|row| list.put(row).is_break()) {
                    return;
                }
            }
            // All rows are known; now they are read in full.
            (list.total, list.done) = (Some(list.done), 0);
            if list.send(None).is_break() {
                return;
            }
            for listing in listings() {
                listing.complete(&mut |progress| {
                    progress.row.map_or(ControlFlow::Continue(()), |row| list.put(row.clone()))
                });
            }
            let _ = list.send(Some((list.done, list.done)));
        });
    }

    /// Reads the texts of sessions, unless it reads already.
    pub(super) fn read_texts(&mut self, paths: Vec<PathBuf>) {
        if self.reads_texts || paths.is_empty() {
            return;
        }
        self.reads_texts = true;
        let (catalog, send) = (self.catalogs.first().cloned(), self.send.clone());
        tokio::task::spawn_blocking(move || {
            let text = |path: &PathBuf| catalog.as_ref().and_then(|catalog| catalog.text(path).ok());
            let texts = paths.into_iter().map(|path| {
                let text = text(&path).unwrap_or_default();
                (path, text)
            });
            // The picker may be closed.
            drop(send.send(ReaderResult::Texts(texts.collect())));
        });
    }

    /// Reads the preview of a session, unless it reads already.
    pub(super) fn read_preview(&mut self, path: PathBuf, options: Options) {
        if std::mem::replace(&mut self.reads_preview, true) {
            return;
        }
        let send = self.send.clone();
        tokio::task::spawn_blocking(move || {
            let session = options.open_read_only(&path).ok();
            let preview = session.and_then(|session| SessionPreview::of(&session).ok()).unwrap_or_default();
            drop(send.send(ReaderResult::Preview(path, preview)));
        });
    }
}

/// Rows on their way to the picker.
struct List {
    scope: Scope,
    send: UnboundedSender<ReaderResult>,
    rows: Vec<SessionSummary>,
    done: usize,
    /// How many rows there will be, once they were counted.
    total: Option<usize>,
}

impl List {
    /// Adds a row; breaks off when the picker is closed.
    fn put(&mut self, row: SessionSummary) -> ControlFlow<()> {
        self.done += 1;
        if row.is_session() && !row.is_sub_agent {
            self.rows.push(row);
        }
        match self.rows.len() < ROWS_AT_ONCE {
            true if !self.send.is_closed() => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
            // Only the last message says that the list is complete.
            false => self.send(self.total.map(|total| (self.done.min(total.saturating_sub(1)), total))),
        }
    }

    fn send(&mut self, progress: Option<(usize, usize)>) -> ControlFlow<()> {
        let rows = std::mem::take(&mut self.rows);
        match self.send.send(ReaderResult::Rows { scope: self.scope, rows, progress }) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}
