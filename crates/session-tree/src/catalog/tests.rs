//! The promises of the catalog, on real directories that live as long as a test.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::time::Timestamp;

mod cached;
mod finding;
mod hostile;
mod listing;

/// A directory of sessions and a place for the cache, both gone after the test.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn sessions(&self) -> PathBuf {
        self.dir.path().join("sessions")
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("state/catalog")
    }

    fn catalog(&self) -> Catalog {
        Catalog::new(self.sessions())
    }

    fn cached(&self) -> Catalog {
        self.catalog().cache_file(self.cache())
    }

    /// Writes a file into the directory of a project; its time of change is the same in all tests.
    fn write(&self, cwd: &str, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.catalog().project_dir(cwd).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        touch(&path, 1_000_000);
        path
    }
}

fn touch(path: &Path, millis: u64) {
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_millis(millis)).unwrap();
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"1970-01-01T00:00:01.000Z","cwd":"{cwd}"}}"#
    ) + "\n"
}

/// A message at a time in milliseconds; `id<parent` as in the drawings, and its content as JSON.
fn message(link: &str, role: &str, millis: u64, content: &str) -> String {
    let (id, parent) =
        link.split_once('<').map_or((link, "null".to_owned()), |(id, parent)| (id, format!("\"{parent}\"")));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"1970-01-01T00:00:02.000Z","message":{{"role":"{role}","content":{content},"timestamp":{millis}}}}}"#
    ) + "\n"
}

/// A session with one prompt at a time in milliseconds.
fn session(id: &str, cwd: &str, millis: u64) -> String {
    header(id, cwd) + &message("a", "user", millis, r#""hello""#)
}

fn ids(rows: &[SessionSummary]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}
