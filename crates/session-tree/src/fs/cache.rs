//! Writing cache files, which can be rebuilt at any time.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Access, Fs, FsFile};

/// Writes a file, or replaces it, in one step.
///
/// No sync: a cache that was damaged by a power cut fails its checksums and is rebuilt.
pub(crate) fn replace_cache(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs.create_dir_all(directory)?;
    }
    let (beside, file) = create_beside(fs, path)?;
    let written = Appender(&*file).write_all(bytes).and_then(|()| fs.rename(&beside, path));
    if written.is_err() {
        drop(fs.remove_file(&beside));
    }
    written
}

/// Creates a temporary file beside `path`.
fn create_beside(fs: &dyn Fs, path: &Path) -> io::Result<(PathBuf, Box<dyn FsFile>)> {
    let mut tries = 0;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{tries}.tmp", std::process::id()));
        match fs.open(name.as_ref(), Access::CreateNew) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 1000 => tries += 1,
            opened => return opened.map(|file| (name.into(), file)),
        }
    }
}

/// Writes at the end of a file.
pub(crate) struct Appender<'f>(pub(crate) &'f dyn FsFile);

impl Write for Appender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
