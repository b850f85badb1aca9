//! The reference files: made when a row first asks for them, from the seeded generator of `testkit`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use testkit::corpus::{self, Shape};

use crate::Failure;

/// A directory of reference files. Without a directory to keep, it is deleted at the end.
pub(crate) struct Files {
    directory: PathBuf,
    scratch: tempfile::TempDir,
}

impl Files {
    /// Uses a directory that is kept, or a temporary one.
    pub(crate) fn in_directory(keep: Option<&Path>) -> Result<Self, Failure> {
        let scratch = match keep {
            Some(keep) => {
                fs::create_dir_all(keep)?;
                tempfile::tempdir_in(keep)?
            }
            None => tempfile::tempdir()?,
        };
        let directory = keep.map_or_else(|| scratch.path().join("files"), Path::to_path_buf);
        fs::create_dir_all(&directory)?;
        Ok(Self { directory, scratch })
    }

    /// Returns a path for something that lives as long as the run.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A coding session of so many entries with bodies as people have them.
    pub(crate) fn realistic(&self, entries: usize) -> Result<PathBuf, Failure> {
        self.made(&format!("realistic-{entries}.jsonl"), &Shape::realistic(entries))
    }

    /// A coding session of so many entries with small bodies, about 1 KB each.
    pub(crate) fn small(&self, entries: usize) -> Result<PathBuf, Failure> {
        self.made(&format!("small-{entries}.jsonl"), &Shape::small(entries))
    }

    /// A coding session of so many small entries in which most turns start a branch.
    pub(crate) fn bushy(&self, entries: usize) -> Result<PathBuf, Failure> {
        self.made(&format!("bushy-{entries}.jsonl"), &Shape::bushy(entries))
    }

    /// One path of tiny messages.
    pub(crate) fn chain(&self, entries: usize) -> Result<PathBuf, Failure> {
        self.made(&format!("chain-{entries}.jsonl"), &Shape::chain(entries))
    }

    /// Tiny messages, each with a sibling.
    pub(crate) fn comb(&self, entries: usize) -> Result<PathBuf, Failure> {
        self.made(&format!("comb-{entries}.jsonl"), &Shape::comb(entries))
    }

    /// One path of realistic entries without compactions: all of it is context.
    pub(crate) fn one_path(&self, entries: usize) -> Result<PathBuf, Failure> {
        let shape = Shape { branch_rate: 0.0, compact_after: u32::MAX, ..Shape::realistic(entries) };
        self.made(&format!("path-{entries}.jsonl"), &shape)
    }

    /// A directory of 1,000 sessions of together 211 MB.
    pub(crate) fn directory(&self) -> Result<PathBuf, Failure> {
        let path = self.directory.join("sessions");
        if !path.exists() {
            let unfinished = self.scratch("sessions");
            corpus::write_directory(&unfinished, 1_000, 211_000_000, 1)?;
            fs::rename(unfinished, &path)?;
        }
        Ok(path)
    }

    /// A copy of a reference file, to be written to.
    pub(crate) fn copy(&self, file: &Path, name: &str) -> Result<PathBuf, Failure> {
        let copy = self.scratch(name);
        fs::copy(file, &copy)?;
        Ok(copy)
    }

    fn made(&self, name: &str, shape: &Shape) -> Result<PathBuf, Failure> {
        let path = self.directory.join(name);
        if !path.exists() {
            // Under another name first: a file that is there is whole.
            let unfinished = self.scratch(name);
            let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
            corpus::write(shape, &mut out)?;
            out.flush()?;
            fs::rename(unfinished, &path)?;
        }
        Ok(path)
    }
}
