//! Temporary files: private, named after their purpose, and removed by a later run if their process was killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use offshoot_agent::small_file::without_path;
use tempfile::{Builder, NamedTempFile};

/// Files younger than this may not be locked by their process yet.
const SETTLED: Duration = Duration::from_secs(60);
/// The end of the names of unfinished files.
const SUFFIX: &str = ".offshoot.tmp";

/// Creates an unfinished file in a directory and locks it for as long as it is open.
pub(crate) fn create_in(
    directory: &Path,
    purpose: &str,
    configure: impl FnOnce(&mut Builder<'_, '_>),
) -> io::Result<NamedTempFile> {
    let prefix = format!(".{purpose}-");
    remove_leftovers(directory, &prefix);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    configure(&mut builder);
    let file = builder.tempfile_in(directory).map_err(|error| without_path(&error))?;
    // Without locks a leftover is recognised only by its age.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes temporary files of killed processes. Best effort.
fn remove_leftovers(directory: &Path, prefix: &str) {
    let Ok(files) = fs::read_dir(directory) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(prefix.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes()) {
            let _ = remove_leftover(&file.path());
        }
    }
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(path)?;
    let age = SystemTime::now().duration_since(meta.modified()?).unwrap_or_default();
    if !meta.is_file() || age < SETTLED {
        return Ok(());
    }
    let file = File::open(path)?;
    if file.try_lock().is_ok() { fs::remove_file(path) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
