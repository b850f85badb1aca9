//! The trash of session files, a directory in the state directory.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The sessions that were moved to the trash here, and their paths in it.
#[derive(Debug, Default)]
pub(crate) struct Trash(HashMap<PathBuf, PathBuf>);

impl Trash {
    /// Moves a file to the trash.
    pub(crate) fn add(&mut self, state: &Path, file: &Path) -> io::Result<()> {
        let place = free_place(state, file)?;
        move_file(file, &place)?;
        self.0.insert(file.to_path_buf(), place);
        Ok(())
    }

    /// Moves a file back.
    pub(crate) fn restore(&mut self, file: &Path) -> io::Result<()> {
        let Some(place) = self.0.get(file) else { return Ok(()) };
        if file.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        move_file(place, file)?;
        self.0.remove(file);
        Ok(())
    }
}

/// Returns a free path in the trash.
fn free_place(state: &Path, file: &Path) -> io::Result<PathBuf> {
    let trash = state.join("trash");
    fs::create_dir_all(&trash)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names = std::iter::once(format!("{stem}.jsonl"))
        .chain((1..1000).map(|number| format!("{stem}-{number}.jsonl")));
    let free = names.map(|name| trash.join(name)).find(|place| !place.exists());
    free.ok_or_else(|| io::Error::other("the trash is full of sessions of this name"))
}

/// Moves a file, also to another file system.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::copy(from, to)?;
            fs::File::open(to)?.sync_all()?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}
