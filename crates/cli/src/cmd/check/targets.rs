//! Finds the files to check: sessions by name, and all session files below directories.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::app::{App, is_stream};
use crate::database;
use crate::error::CommandError;
use crate::reading::each_line;
use crate::ui::Progress;

/// One file to check.
pub(super) struct Target {
    /// The file.
    pub(super) path: PathBuf,
    /// True if the file was named, not found in a directory.
    pub(super) is_named: bool,
}

/// The function that checks a file, or reports a name without a file.
type Check<'c> = &'c mut dyn FnMut(&mut App, &str, Result<Target, CommandError>) -> Result<(), CommandError>;

/// Calls `check` with every file. A name without a file does not stop the others, unless it is the only one.
pub(super) fn each(
    names: &[OsString],
    batch: bool,
    app: &mut App,
    check: Check<'_>,
) -> Result<(), CommandError> {
    if batch {
        return each_line(app, &mut |app, name| {
            targets_of(name.as_ref(), app)
                .into_iter()
                .try_for_each(|(name, target)| check(app, &name, target))
        });
    }
    let targets: Vec<_> = names.iter().flat_map(|name| targets_of(name, app)).collect();
    let (total, mut progress) = (targets.len(), Progress::new("checking", targets.len()));
    for (at, (name, target)) in targets.into_iter().enumerate() {
        match target {
            Err(error) if names.len() == 1 => return Err(error),
            target => check(app, &name, target)?,
        }
        progress.set(at + 1, total);
    }
    Ok(())
}

/// Returns the files of a name, each with its display name.
fn targets_of(name: &OsStr, app: &App) -> Vec<(String, Result<Target, CommandError>)> {
    let path = Path::new(name);
    let found = match path.is_dir() {
        false if is_stream(path) => Ok(vec![Target { path: path.to_path_buf(), is_named: true }]),
        false => app.find(name).map(|path| vec![Target { path, is_named: true }]),
        true => files_below(path)
            .map(|files| files.into_iter().map(|path| Target { path, is_named: false }).collect())
            .map_err(|error| CommandError::system("list", path, &error)),
    };
    match found {
        Ok(targets) => {
            let named = |target: Target| (database::shown(target.path.as_os_str()).into_owned(), Ok(target));
            targets.into_iter().map(named).collect()
        }
        Err(error) => vec![(database::shown(name).into_owned(), Err(error))],
    }
}

/// Returns the session files below a directory, in order. Links to directories are not followed, because they may form
/// circles.
fn files_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for item in fs::read_dir(dir)? {
            let item = item?;
            let path = item.path();
            if item.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
