//! A list of sessions on its way: files found, quick rows, complete rows.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::cache::Cache;
use super::read::{self, Fresh, Key};
use super::summary::{Damage, SessionSummary};
use super::{Catalog, Layout};
use crate::error::Error;
use crate::fs::{Fs, Meta};
use crate::naming::same_cwd;
use crate::time::Timestamp;

/// Below this many bytes a second thread costs more than it brings.
const WORTH_A_THREAD: u64 = 4 << 20;
const MOST_THREADS: usize = 4;

/// The files of a list, found but not read yet.
///
/// [`quick`](Listing::quick) gives rows from the beginning of each file at once; [`complete`](Listing::complete)
/// reads everything that is not in the cache and gives all rows in order.
#[derive(Debug)]
pub struct Listing {
    catalog: Catalog,
    cwd: Option<String>,
    dirs: Vec<PathBuf>,
    /// Latest change first.
    files: Vec<FoundFile>,
    /// The rows of a store, which are complete.
    stored: Vec<SessionSummary>,
    problems: Vec<Error>,
    cache: Cache,
}

/// A file of the list.
#[derive(Debug)]
struct FoundFile {
    path: PathBuf,
    meta: io::Result<Meta>,
}

/// How far a list has come.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'r> {
    /// How many files have been read.
    pub done: usize,
    /// How many files there are.
    pub total: usize,
    /// The row that was just completed; none if the file turned out to belong to another project.
    pub row: Option<&'r SessionSummary>,
}

impl Listing {
    pub(super) fn gather(catalog: &Catalog, dirs: &[PathBuf], cwd: Option<&str>) -> Self {
        let mut listing = Self {
            catalog: catalog.clone(),
            cwd: cwd.map(str::to_owned),
            dirs: dirs.to_vec(),
            files: Vec::new(),
            stored: Vec::new(),
            problems: Vec::new(),
            cache: catalog.cache.as_ref().map(|path| Cache::load(&*catalog.fs, path)).unwrap_or_default(),
        };
        match &catalog.store {
            Some(store) => match store.list(&catalog.root) {
                Ok(rows) => listing.stored = rows,
                Err(error) => listing.problems.push(error),
            },
            None => dirs.iter().for_each(|dir| listing.gather_dir(dir)),
        }
        listing.files.sort_by(|a, b| b.changed().cmp(&a.changed()).then_with(|| a.path.cmp(&b.path)));
        listing
    }

    fn gather_dir(&mut self, dir: &Path) {
        let paths = match self.catalog.fs.read_dir(dir) {
            Ok(paths) => paths,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.problems.push(Error::io("list", dir)(error)),
        };
        for path in paths {
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            match self.catalog.fs.metadata(&path) {
                Ok(meta) if meta.is_dir => {}
                // The file was deleted after the directory was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                meta => self.files.push(FoundFile { path, meta }),
            }
        }
    }

    /// Returns the directories that could not be listed.
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }

    /// Returns a row for every session as soon as the beginning of its file is read; latest change first.
    ///
    /// Rows from the cache and of small files are complete already.
    pub fn quick(&self) -> impl Iterator<Item = SessionSummary> + '_ {
        let mut buffer = Vec::new();
        let rows = self.files.iter().map(move |found| match &found.meta {
            Err(error) => unreadable(&found.path, error),
            Ok(meta) => self
                .cache
                .get(&found.path, Key::of(meta))
                .unwrap_or_else(|| read::quick(&*self.catalog.fs, &found.path, meta, &mut buffer)),
        });
        self.stored.iter().cloned().chain(rows).filter(|row| self.belongs(row))
    }

    /// Returns complete rows, latest activity first.
    pub fn rows(self) -> Vec<SessionSummary> {
        self.complete(&mut |_| ControlFlow::Continue(()))
    }

    /// Returns complete rows, latest activity first, and calls `watch` with each as soon as it is done.
    ///
    /// If `watch` breaks off, the rows that are done so far are given.
    pub fn complete(mut self, watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>) -> Vec<SessionSummary> {
        let (files, mut cache) = (std::mem::take(&mut self.files), std::mem::take(&mut self.cache));
        let stored = std::mem::take(&mut self.stored);
        let total = files.len() + stored.len();
        let (mut rows, mut done) = (Vec::new(), 0);
        let mut take = |row: SessionSummary| {
            done += 1;
            let row = Some(row).filter(|row| self.belongs(row));
            let flow = watch(Progress { done, total, row: row.as_ref() });
            rows.extend(row);
            flow
        };
        let mut jobs = Vec::new();
        let wanted = match stored.into_iter().try_for_each(&mut take) {
            ControlFlow::Continue(()) => files.as_slice(),
            ControlFlow::Break(()) => &[],
        };
        let known = wanted.iter().try_for_each(|FoundFile { path, meta }| match meta {
            Err(error) => take(unreadable(path, error)),
            Ok(meta) => match cache.get(path, Key::of(meta)) {
                Some(row) => take(row),
                None => {
                    jobs.push((path.as_path(), meta));
                    ControlFlow::Continue(())
                }
            },
        });
        if known.is_continue() {
            // Rows that were read are kept even if `watch` stopped the listing.
            let _ = read_all(&*self.catalog.fs, &jobs, &mut |fresh| {
                cache.put(&fresh);
                take(fresh.row)
            });
        }
        self.save(&cache, &files);
        rows.sort_by(|a, b| {
            b.modified
                .cmp(&a.modified)
                .then_with(|| b.created.cmp(&a.created))
                .then_with(|| a.path.cmp(&b.path))
        });
        rows
    }

    /// Several projects can share a directory; the header names the project of a session.
    fn belongs(&self, row: &SessionSummary) -> bool {
        match &self.cwd {
            None => true,
            // The project of a damaged file is unknown, so every project lists it.
            Some(_) if !row.is_session() => true,
            Some(_) if row.cwd.is_empty() => self.catalog.layout == Layout::PerProject,
            Some(cwd) => same_cwd(cwd, &row.cwd),
        }
    }

    /// Rows of files that are gone from the listed directories are dropped. A cache that cannot be written costs
    /// time, nothing else.
    fn save(&self, cache: &Cache, files: &[FoundFile]) {
        let Some(path) = &self.catalog.cache else { return };
        let found: HashSet<&Path> = files.iter().map(|found| found.path.as_path()).collect();
        let keep = |path: &Path| {
            found.contains(path) || !path.parent().is_some_and(|dir| self.dirs.iter().any(|d| d == dir))
        };
        let _ = cache.save(&*self.catalog.fs, path, keep);
    }
}

impl FoundFile {
    fn changed(&self) -> Option<Timestamp> {
        self.meta.as_ref().ok().map(|meta| meta.modified)
    }
}

/// Reads files, with a few threads if it pays; `take` is called in this thread.
fn read_all(
    fs: &dyn Fs,
    jobs: &[(&Path, &Meta)],
    take: &mut dyn FnMut(Fresh) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let threads = thread_count(jobs);
    if threads < 2 {
        return read_here(fs, jobs, take);
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    let work = |send: mpsc::Sender<Fresh>| {
        let mut buffer = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let Some((path, meta)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            if send.send(read::complete(fs, path, meta, &mut buffer)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let work = &work;
        let start = |send| std::thread::Builder::new().spawn_scoped(scope, move || work(send)).is_ok();
        // A system that is short of threads refuses some; the others do their work.
        if std::iter::repeat_n(send, threads).filter(|send| start(send.clone())).count() == 0 {
            return read_here(fs, jobs, take);
        }
        let told = receive.iter().try_for_each(take);
        stop.store(true, Ordering::Relaxed);
        told
    })
}

/// Reads files one after another.
fn read_here(
    fs: &dyn Fs,
    jobs: &[(&Path, &Meta)],
    take: &mut dyn FnMut(Fresh) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut buffer = Vec::new();
    jobs.iter().try_for_each(|(path, meta)| take(read::complete(fs, path, meta, &mut buffer)))
}

fn thread_count(jobs: &[(&Path, &Meta)]) -> usize {
    let bytes: u64 = jobs.iter().map(|(_, meta)| meta.len).sum();
    let paying = usize::try_from(bytes / WORTH_A_THREAD).unwrap_or(MOST_THREADS);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    paying.min(cores).min(MOST_THREADS).min(jobs.len())
}

fn unreadable(path: &Path, error: &io::Error) -> SessionSummary {
    let damage = Some(Damage::Unreadable { reason: error.to_string() });
    SessionSummary { damage, ..SessionSummary::bare(path.to_path_buf(), 0, Timestamp::from_millis(0)) }
}
