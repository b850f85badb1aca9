//! The credentials file: one JSON object, a key per provider, mode 0600.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use offshoot_agent::small_file::SmallFile;
use serde_json::{Map, Value as Json, json};

use crate::error::{Error, Result};
use crate::secret::Secret;

/// A file of keys that only its owner can read.
///
/// Fields other than keys are kept. The file is replaced as a whole, so a crash leaves the old one or the new one, and
/// changes by several processes at once are all kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsFile {
    path: PathBuf,
}

impl CredentialsFile {
    /// Names a file, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the keys by provider; none if there is no file. A file that others can read is refused.
    pub fn keys(&self) -> Result<Vec<(String, Secret)>> {
        let key =
            |(name, entry): (&String, &Json)| Some((name.clone(), Secret::new(entry.get("key")?.as_str()?)));
        let keys = self.read()?.iter().filter_map(key).filter(|(_, key)| !key.is_empty()).collect();
        Ok(keys)
    }

    /// Stores the key of a provider.
    pub fn set(&self, provider: &str, key: &Secret) -> Result<()> {
        let file = self.lock()?;
        let mut entries = self.read()?;
        entries.insert(provider.into(), json!({"type": "api_key", "key": key.reveal()}));
        self.write(&file, &entries)
    }

    /// Removes the key of a provider. Returns true if there was one.
    pub fn remove(&self, provider: &str) -> Result<bool> {
        let file = self.lock()?;
        let mut entries = self.read()?;
        if entries.shift_remove(provider).is_none() {
            return Ok(false);
        }
        self.write(&file, &entries)?;
        Ok(true)
    }

    fn lock(&self) -> Result<SmallFile> {
        SmallFile::lock(&self.path).map_err(|source| self.failed("write", source))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> Error {
        Error::Credentials { action, path: self.path.clone(), source }
    }

    fn read(&self) -> Result<Map<String, Json>> {
        let failed = |source| self.failed("read", source);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(failed(error)),
        };
        // Checked on the open file, so that it cannot be replaced in between.
        if let Some(mode) = exposure(&file).map_err(failed)? {
            return Err(Error::ExposedCredentials { path: self.path.clone(), mode });
        }
        let text = io::read_to_string(file).map_err(failed)?;
        // The reason is not kept: it may quote the file.
        serde_json::from_str(&text).map_err(|_| Error::BadCredentials { path: self.path.clone() })
    }

    fn write(&self, file: &SmallFile, entries: &Map<String, Json>) -> Result<()> {
        let text = format!("{:#}\n", Json::Object(entries.clone()));
        file.replace(text.as_bytes()).map_err(|source| self.failed("write", source))
    }
}

/// The mode of a file that others can read or write; none if only its owner can.
fn exposure(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}
