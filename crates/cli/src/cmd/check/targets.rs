//! What is to be checked: sessions by name, and everything below directories.

use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use crate::app::App;
use crate::error::CommandError;
use crate::ui::Progress;

/// One file to check.
pub(super) struct Target {
    /// What to call it.
    pub(super) name: String,
    /// The file.
    pub(super) path: PathBuf,
    /// It was named, not found in a directory.
    pub(super) is_named: bool,
}

type Check<'c> = &'c mut dyn FnMut(&mut App, &Target) -> Result<(), CommandError>;

/// Calls `check` with every file. Names that stand for nothing end it.
pub(super) fn each(
    names: &[String],
    batch: bool,
    app: &mut App,
    check: Check<'_>,
) -> Result<(), CommandError> {
    if batch {
        return each_line(app, check);
    }
    let mut targets = Vec::new();
    for name in names {
        targets.extend(targets_of(name, app)?);
    }
    let mut progress = Progress::new("checking", targets.len());
    for (at, target) in targets.iter().enumerate() {
        check(app, target)?;
        progress.set(at + 1, targets.len());
    }
    Ok(())
}

fn each_line(app: &mut App, check: Check<'_>) -> Result<(), CommandError> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))?;
        if line.trim().is_empty() {
            continue;
        }
        for target in targets_of(line.trim(), app)? {
            check(app, &target)?;
        }
        // Whoever feeds us may wait for the answer before the next line.
        app.ui.flush()?;
    }
    Ok(())
}

fn targets_of(name: &str, app: &App) -> Result<Vec<Target>, CommandError> {
    let path = Path::new(name);
    if !path.is_dir() {
        let path = app.find(name)?;
        return Ok(vec![Target { name: path.display().to_string(), path, is_named: true }]);
    }
    let files = files_below(path).map_err(|error| CommandError::system("list", path, &error))?;
    let targets = files.into_iter();
    Ok(targets.map(|path| Target { name: path.display().to_string(), path, is_named: false }).collect())
}

/// The session files below a directory, in order. Links to directories are not followed: they may lead in circles.
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
