//! Unfinished files: private, named after their purpose, and removed by a later run if their process was killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

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
    let file = builder.tempfile_in(directory)?;
    // Without locks, a leftover is only recognised by its age.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes the files of processes that were killed. A failure leaves clutter, nothing else.
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
mod tests {
    use super::*;

    #[test]
    fn files_of_killed_runs_are_removed_and_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - Duration::from_secs(3600);
        let put = |name: &str| {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        drop(put(".export-killed.offshoot.tmp"));
        drop(put(".export-foreign.tmp"));
        let in_use = put(".export-running.offshoot.tmp");
        in_use.lock().unwrap();
        let new = create_in(dir.path(), "export", |_| {}).unwrap();
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(!dir.path().join(".export-killed.offshoot.tmp").exists());
        drop(new);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "a run that ends removes its own");
    }
}
