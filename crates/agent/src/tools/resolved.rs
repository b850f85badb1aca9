//! Paths that a call names, resolved once: permissions judge the same file that a tool opens.
//!
//! ```text
//!   a/../../notes   with a -> b/c in /project   =>   real: /project/notes   (without links: /notes)
//! ```

use std::path::{Component, Path, PathBuf};

use super::paths;

/// A path that a call names, and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path as the model wrote it.
    pub written: PathBuf,
    /// The absolute path without `.` and `..`, with links as they are. For patterns of rules and for display only.
    pub(crate) lexical: PathBuf,
    /// The path with all links followed; none if links form a circle.
    pub(crate) real: Option<PathBuf>,
    /// The absolute path to show: as it was written where that is unambiguous, or else the real one.
    pub(crate) shown: PathBuf,
}

impl ResolvedPath {
    /// Resolves a path, starting at `cwd` if it is relative. Reads links from the disk.
    pub fn new(cwd: &Path, written: &Path) -> Self {
        let absolute = paths::resolve(cwd, written);
        let lexical = paths::normalised(&absolute);
        let real = paths::real(&absolute).ok();
        let leads_up = absolute.components().any(|part| part == Component::ParentDir);
        let shown = match &real {
            Some(real) if leads_up => inside(cwd, real),
            _ => lexical.clone(),
        };
        ResolvedPath { written: written.to_owned(), lexical, real, shown }
    }

    /// Returns the path with all links followed; none if links form a circle.
    pub fn real(&self) -> Option<&Path> {
        self.real.as_deref()
    }
}

/// Writes a real path as one below `cwd` if it is there, although `cwd` may be a link.
fn inside(cwd: &Path, real: &Path) -> PathBuf {
    let start = paths::real(cwd).ok();
    match start.and_then(|start| real.strip_prefix(start).ok().map(Path::to_owned)) {
        Some(inside) => cwd.join(inside),
        None => real.to_owned(),
    }
}
