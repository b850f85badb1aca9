//! Keys: from the environment, or from a file that only its owner can read.
//!
//! A variable that is set goes before the file, so that one run can use another key. Keys are looked up when a model is
//! asked for, and live nowhere but in [`Secret`]s.

mod file;

use std::fmt;
use std::sync::Arc;

use crate::catalogue::Target;
use crate::secret::Secret;

pub use file::CredentialsFile;

/// The sources of keys.
#[derive(Clone)]
pub struct Credentials {
    variable: Arc<Lookup>,
    stored: Vec<(String, Secret)>,
}

/// The source of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In this variable of the environment.
    Variable(String),
    /// In the credentials file.
    File,
}

/// The name of a variable in, its value out.
type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("stored", &self.stored).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Looks nowhere.
    pub fn none() -> Self {
        Self::of(|_| None)
    }

    /// Looks in the environment of the process.
    pub fn from_environment() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// Looks where the function says: the name of a variable in, its value out.
    pub fn of(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { variable: Arc::new(variable), stored: Vec::new() }
    }

    /// Also takes the keys of a file.
    pub fn with_file(mut self, file: &CredentialsFile) -> crate::Result<Self> {
        self.stored = file.keys()?;
        Ok(self)
    }

    /// Returns the key for a model.
    pub(crate) fn key(&self, target: &Target) -> Option<Secret> {
        let set = self.set_variable(&target.key_variables).map(|(_, key)| key);
        set.or_else(|| self.stored_key(&target.spec.provider))
    }

    /// Returns the source of the key of a provider.
    pub(crate) fn source(&self, provider: &str, variables: &[String]) -> Option<KeySource> {
        let set = self.set_variable(variables).map(|(name, _)| KeySource::Variable(name.to_owned()));
        set.or_else(|| self.stored_key(provider).map(|_| KeySource::File))
    }

    /// Returns the keys in these variables, and all that are stored.
    pub(crate) fn all<'v>(&self, variables: impl Iterator<Item = &'v String>) -> Vec<Secret> {
        let set = variables.filter_map(|name| Some(Secret::new(&(self.variable)(name)?)));
        set.chain(self.stored.iter().map(|(_, key)| key.clone())).collect()
    }

    fn set_variable<'v>(&self, names: &'v [String]) -> Option<(&'v str, Secret)> {
        let set = names.iter().filter_map(|name| Some((name.as_str(), Secret::new(&(self.variable)(name)?))));
        set.into_iter().find(|(_, key)| !key.is_empty())
    }

    fn stored_key(&self, provider: &str) -> Option<Secret> {
        self.stored.iter().find(|(name, _)| name == provider).map(|(_, key)| key.clone())
    }
}

#[cfg(test)]
mod tests;
