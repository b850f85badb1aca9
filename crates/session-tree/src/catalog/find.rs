//! Finding one session by what a person typed.

use std::path::PathBuf;

use super::summary::SessionSummary;
use super::{Catalog, Listing};
use crate::error::{Error, Result};

impl Catalog {
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
