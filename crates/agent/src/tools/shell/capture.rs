//! The output of a command: the end in memory, all of it in a file if it is long.

use std::io::Write;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use super::logs::{MAX_FILE, new_file};
use crate::tools::output::{Capped, Tail};

/// The output of a running command.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    tail: Tail,
    file: LogFile,
}

/// The file with the whole output.
#[derive(Debug, Default)]
enum LogFile {
    #[default]
    NotNeeded,
    File(NamedTempFile, u64),
    /// The file could not be written.
    Failed,
}

impl Capture {
    /// Returns the end of the output so far.
    pub(crate) fn so_far(&self) -> Capped {
        self.tail.capped()
    }

    /// Adds output. The file is written off the async thread.
    pub(super) async fn push(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        if self.tail.is_over() {
            let log = std::mem::take(&mut self.file);
            let new = if matches!(log, LogFile::NotNeeded) { self.tail.held() } else { bytes }.to_vec();
            let written = tokio::task::spawn_blocking(move || log.with(&new)).await;
            self.file = written.unwrap_or(LogFile::Failed);
        }
        self.tail.trim();
    }

    /// Returns the end of the output, and the file with all of it if it was cut.
    pub(super) async fn finish(self) -> (Capped, Option<PathBuf>) {
        let log = tokio::task::spawn_blocking(move || self.file.keep()).await;
        (self.tail.capped(), log.ok().flatten())
    }
}

impl LogFile {
    fn with(self, bytes: &[u8]) -> Self {
        let written = match self {
            LogFile::NotNeeded => new_file().map(|file| (file, 0)),
            LogFile::File(file, size) => Ok((file, size)),
            LogFile::Failed => return LogFile::Failed,
        };
        let written = written.and_then(|(mut file, size)| {
            let room = usize::try_from(MAX_FILE - size).unwrap_or(usize::MAX);
            let bytes = &bytes[..bytes.len().min(room)];
            file.write_all(bytes)?;
            Ok(LogFile::File(file, size + bytes.len() as u64))
        });
        written.unwrap_or(LogFile::Failed)
    }

    /// Makes the file permanent.
    fn keep(self) -> Option<PathBuf> {
        match self {
            LogFile::File(file, _) => file.keep().ok().map(|(_, path)| path),
            LogFile::NotNeeded | LogFile::Failed => None,
        }
    }
}
