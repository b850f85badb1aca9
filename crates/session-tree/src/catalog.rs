//! The catalog: the sessions found in a directory.
//!
//! Beside the straight walk: uses the index of each file, never opens a session for writing. It reads no environment
//! and no home directory; the application hands in where sessions lie and where the cache may be kept. What it cannot
//! read it lists and marks: one bad file never hides another.

mod cache;
mod listing;
mod query;
mod read;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fs::{Fs, RealFs};
use crate::journal::Store;
use crate::naming::encode_cwd;
use crate::session::{Options, Session};

pub use listing::{Listing, Progress};
pub use query::{Relevance, SessionQuery};
pub use read::SUB_AGENT_MARKER;
pub use summary::{Damage, SessionSummary};

/// The sessions below a directory.
///
/// ```
/// # fn main() -> Result<(), session_tree::Error> {
/// # let sessions = tempfile::tempdir().unwrap();
/// # let state = tempfile::tempdir().unwrap();
/// use session_tree::Catalog;
///
/// let catalog = Catalog::new(sessions.path()).cache_file(state.path().join("catalog"));
/// for row in catalog.list("/home/me/project").rows() {
///     println!("{} {}", row.modified, row.title());
/// }
/// assert!(catalog.most_recent("/home/me/project").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    fs: Arc<dyn Fs>,
    root: PathBuf,
    layout: Layout,
    cache: Option<PathBuf>,
    store: Option<Arc<dyn CatalogStore>>,
}

/// A store that can list its sessions.
pub trait CatalogStore: Store {
    /// Returns complete rows of all sessions at the address of a place for sessions, in any order.
    fn list(&self, address: &Path) -> Result<Vec<SessionSummary>>;
}

/// How session files are laid out below the directory of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One sub-directory per working directory.
    PerProject,
    /// All files in the directory itself.
    Flat,
}

impl Catalog {
    /// Makes a catalog of a directory that has one sub-directory per project. The directory need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { fs: Arc::new(RealFs), root: root.into(), layout: Layout::PerProject, cache: None, store: None }
    }

    /// Makes a catalog of the sessions at an address of a store. The sessions of all projects are side by side there.
    pub fn of_store(store: Arc<dyn CatalogStore>, address: impl Into<PathBuf>) -> Self {
        Self { store: Some(store), ..Self::new(address).flat() }
    }

    /// Says that all files lie in the directory itself, whatever their project.
    #[must_use]
    pub fn flat(mut self) -> Self {
        self.layout = Layout::Flat;
        self
    }

    /// Names the file in which finished rows are kept between runs.
    ///
    /// The cache is disposable: a row counts only for the same file with the same size and time of change. A path
    /// inside the directory of the sessions is not used, because reading never writes there.
    #[must_use]
    pub fn cache_file(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.cache = (!path.starts_with(&self.root)).then_some(path);
        self
    }

    /// Uses another file system than that of the operating system.
    #[must_use]
    pub fn file_system(mut self, fs: Arc<dyn Fs>) -> Self {
        self.fs = fs;
        self
    }

    /// Returns the directory that holds the sessions of a working directory. It need not exist.
    pub fn project_dir(&self, cwd: &str) -> PathBuf {
        match self.layout {
            Layout::PerProject => self.root.join(encode_cwd(without_end_slash(cwd))),
            Layout::Flat => self.root.clone(),
        }
    }

    /// Lists the sessions of one working directory.
    ///
    /// Several working directories can share a directory of sessions; a session that names another one in its header
    /// is left out. A session that names none belongs to the project in whose own directory it lies.
    pub fn list(&self, cwd: &str) -> Listing {
        Listing::gather(self, &[self.project_dir(cwd)], Some(cwd))
    }

    /// Lists the sessions of all working directories. Links to directories are followed, each directory once.
    pub fn list_all(&self) -> Listing {
        Listing::gather(self, &self.all_dirs(), None)
    }

    /// Finds the session to continue: the one with the latest activity in a working directory.
    ///
    /// The clock is that of the lists: the last message of person or model, not the file. Sessions that a sub-agent
    /// made never win (see [`SUB_AGENT_MARKER`]); forks that a person made do.
    pub fn most_recent(&self, cwd: &str) -> Option<SessionSummary> {
        self.list(cwd).rows().into_iter().find(|row| row.is_session() && !row.is_sub_agent)
    }

    /// Reads what person and model said in a session, in file order, separated by blanks: the text to search in.
    pub fn text(&self, path: &Path) -> Result<String> {
        match &self.store {
            Some(store) => read::text_of(&*store.open(path)?, path),
            None => read::text(&*self.fs, path),
        }
    }

    /// Finds a session by its path, its id, the beginning of its id, or its name.
    ///
    /// A text that looks like a path and names a file means that file; a file name alone is also searched in the
    /// directories of sessions. Otherwise the sessions of the working directory are searched before all others, each time by
    /// id, then by the beginning of an id, then by name.
    pub fn find(&self, wanted: &str, cwd: Option<&str>) -> Result<PathBuf> {
        if wanted.is_empty() {
            return Err(unknown(wanted));
        }
        if let Some(path) = self.find_path(wanted, cwd) {
            return Ok(path);
        }
        if let Some(store) = &self.store {
            let is_called = |row: &SessionSummary| row.path.file_name().is_some_and(|name| name == wanted);
            if let Some(row) = store.list(&self.root)?.into_iter().find(is_called) {
                return Ok(row.path);
            }
        }
        let own = cwd.map(|cwd| self.list(cwd));
        for listing in own.into_iter().chain(std::iter::once_with(|| self.list_all())) {
            if let Some(path) = find_in(listing, wanted)? {
                return Ok(path);
            }
        }
        Err(unknown(wanted))
    }

    fn find_path(&self, wanted: &str, cwd: Option<&str>) -> Option<PathBuf> {
        let is_file_name = wanted.ends_with(".jsonl");
        let has_parts = wanted.contains(['/', '\\']);
        if !is_file_name && !has_parts {
            return None;
        }
        let mut places = vec![PathBuf::from(wanted)];
        if !has_parts {
            places.extend(cwd.map(|cwd| self.project_dir(cwd).join(wanted)));
            places.extend(self.all_dirs().into_iter().map(|dir| dir.join(wanted)));
        }
        places.into_iter().find(|path| self.fs.metadata(path).is_ok_and(|meta| meta.is_file))
    }

    /// The directory itself and, with one per project, those below it; in order of their names.
    fn all_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.root.clone()];
        if self.layout == Layout::Flat {
            return dirs;
        }
        let mut below = self.fs.read_dir(&self.root).unwrap_or_default();
        below.retain(|path| self.fs.metadata(path).is_ok_and(|meta| meta.is_dir));
        below.sort_unstable();
        // A project that was moved and linked from its old name would be listed twice.
        let mut seen = std::collections::HashSet::new();
        below.retain(|path| seen.insert(self.fs.canonical(path).unwrap_or_else(|_| path.clone())));
        dirs.append(&mut below);
        dirs
    }
}

/// The name of a directory is made of its path without a slash at the end, as the operating system gives it.
fn without_end_slash(cwd: &str) -> &str {
    if cwd.starts_with('/') { cwd.trim_end_matches('/') } else { cwd }
}

fn find_in(listing: Listing, wanted: &str) -> Result<Option<PathBuf>> {
    let rows: Vec<SessionSummary> = listing.quick().filter(SessionSummary::is_session).collect();
    let by_id = only(wanted, &rows, |row| row.id == wanted)?;
    if let Some(found) =
        by_id.map_or_else(|| only(wanted, &rows, |row| row.id.starts_with(wanted)), |id| Ok(Some(id)))?
    {
        return Ok(Some(found));
    }
    let is_named = |row: &SessionSummary| row.is_session() && row.name.as_deref() == Some(wanted.trim());
    only(wanted, &listing.rows(), is_named)
}

/// Returns the path of the one row that fits.
fn only(
    wanted: &str,
    rows: &[SessionSummary],
    fits: impl Fn(&SessionSummary) -> bool,
) -> Result<Option<PathBuf>> {
    let mut candidates: Vec<PathBuf> =
        rows.iter().filter(|row| fits(row)).map(|row| row.path.clone()).collect();
    match candidates.len() {
        0 | 1 => Ok(candidates.pop()),
        _ => Err(Error::AmbiguousSession { wanted: wanted.to_owned(), candidates }),
    }
}

fn unknown(wanted: &str) -> Error {
    Error::UnknownSession { wanted: wanted.to_owned() }
}

impl Options {
    /// Opens the session with the latest activity among those of a working directory, or prepares a new one.
    ///
    /// `directory` holds the session files; those of other working directories may lie there too. A new session gets its
    /// file with the first message.
    pub fn continue_in(self, directory: impl AsRef<Path>, cwd: impl AsRef<str>) -> Result<Session> {
        let (directory, cwd) = (directory.as_ref(), cwd.as_ref());
        let catalog = Catalog::new(directory).flat().file_system(self.files.fs.clone());
        match catalog.most_recent(cwd) {
            Some(latest) => self.open(latest.path),
            None => self.create_in(directory, cwd),
        }
    }
}

impl Session {
    /// Opens the latest session of a working directory, or prepares a new one: see [`Options::continue_in`].
    pub fn continue_in(directory: impl AsRef<Path>, cwd: impl AsRef<str>) -> Result<Session> {
        Options::new().continue_in(directory, cwd)
    }
}

#[cfg(test)]
mod tests;
