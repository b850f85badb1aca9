//! What a command said: the end in memory, everything in a file if it is long.

use std::io::Write;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use super::logs::{MAX_FILE, new_file};
use crate::tools::output::{Capped, Tail};

/// What a command says, while it says it.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    tail: Tail,
    file: Kept,
}

/// The file with the whole output.
#[derive(Debug, Default)]
enum Kept {
    #[default]
    NotNeeded,
    File(NamedTempFile, u64),
    /// It cannot be written, so there is none.
    Failed,
}

impl Capture {
    /// The end of what was said so far.
    pub(crate) fn so_far(&self) -> Capped {
        self.tail.capped()
    }

    /// Takes more in. Writes to the file happen off the async thread.
    pub(super) async fn push(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        if self.tail.is_over() {
            let kept = std::mem::take(&mut self.file);
            let news = if matches!(kept, Kept::NotNeeded) { self.tail.held() } else { bytes }.to_vec();
            let written = tokio::task::spawn_blocking(move || kept.with(&news)).await;
            self.file = written.unwrap_or(Kept::Failed);
        }
        self.tail.trim();
    }

    /// Returns the end of what was said, and the file with all of it if the end is not all.
    pub(super) async fn finish(self) -> (Capped, Option<PathBuf>) {
        let kept = tokio::task::spawn_blocking(move || self.file.keep()).await;
        (self.tail.capped(), kept.ok().flatten())
    }
}

impl Kept {
    fn with(self, bytes: &[u8]) -> Self {
        let written = match self {
            Kept::NotNeeded => new_file().map(|file| (file, 0)),
            Kept::File(file, size) => Ok((file, size)),
            Kept::Failed => return Kept::Failed,
        };
        let written = written.and_then(|(mut file, size)| {
            let room = usize::try_from(MAX_FILE - size).unwrap_or(usize::MAX);
            let bytes = &bytes[..bytes.len().min(room)];
            file.write_all(bytes)?;
            Ok(Kept::File(file, size + bytes.len() as u64))
        });
        written.unwrap_or(Kept::Failed)
    }

    /// Lets the file outlive us.
    fn keep(self) -> Option<PathBuf> {
        match self {
            Kept::File(file, _) => file.keep().ok().map(|(_, path)| path),
            Kept::NotNeeded | Kept::Failed => None,
        }
    }
}
