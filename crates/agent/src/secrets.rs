//! Recognises environment variables and files that hold credentials.
//!
//! Programs that an agent or an extension starts inherit the environment of this process, and with it the API keys of
//! the user. This module decides which variables are withheld. It looks at names and values only and never reads the
//! environment itself. Files are judged by what a path leads to: links are followed, and a hard link is recognised by
//! device and inode.

mod mask;
mod places;

use std::borrow::Cow;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use self::mask::Mask;
use self::places::SecretPlaces;
use crate::tool::ToolOutput;
use crate::tools::paths;

/// Words that mark a credential wherever they stand in a name.
const CREDENTIAL_WORDS: [&str; 12] = [
    "apikey",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "secrets",
    "token",
    "authtoken",
    "bearer",
    "jwt",
];

/// Words that mark a credential only at the end of a name: `SSH_AUTH_SOCK` is a socket, `NPM_AUTH` a credential.
const LAST_WORDS: [&str; 6] = ["auth", "authorization", "cookie", "pass", "pat", "pin"];

/// Returns true if a variable of this name usually holds a credential: an API key, a token, a password.
///
/// Compares whole words, so that `KEYMAP`, `TOKENIZERS_PARALLELISM` and `MAX_OUTPUT_TOKENS` pass.
///
/// ```
/// use offshoot_agent::secrets::is_credential_name;
///
/// assert!(is_credential_name("ANTHROPIC_API_KEY") && is_credential_name("MYSQL_PWD"));
/// assert!(!is_credential_name("PATH") && !is_credential_name("PWD"));
/// ```
pub fn is_credential_name(name: &str) -> bool {
    let words = words(name);
    let marks = |word: &String| {
        CREDENTIAL_WORDS.contains(&word.as_str())
            // `PGPASSWORD`, `SSHPASS`, `CLIENTSECRET`, `ACCESSKEY`
            || ["password", "secret", "apikey", "accesskey", "sshpass"].iter().any(|end| word.ends_with(end))
    };
    // A key is named by what it is for (`OPENAI_API_KEY`); `KEY` alone and `KEY_REPEAT` name something else.
    let is_key = words.iter().skip(1).any(|word| word == "key");
    let last = words.last().map(String::as_str).unwrap_or_default();
    let is_named_last = words.len() > 1 && (LAST_WORDS.contains(&last) || last == "pwd");
    words.iter().any(marks) || is_key || is_named_last || name.to_lowercase().ends_with("connection_string")
}

/// Returns true for `scheme://user:password@host`.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Splits a name into lower-case words, at everything that is no letter or digit and before a capital in camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (after_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Secrets of the user: what commands do not inherit, what tools do not open, what no output contains.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    credential_files: CredentialFiles,
    private_files: Vec<PathBuf>,
    mask: Mask,
    withheld: Vec<String>,
    passed: Vec<String>,
}

/// How a file is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    /// No tool may open it.
    Denied,
    /// The user is asked, whatever rule allows it.
    Asked,
}

impl Secrets {
    /// Withholds what looks like a credential, and protects well-known places of secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Denies these files to every tool.
    #[must_use]
    pub fn denying(mut self, files: CredentialFiles) -> Self {
        self.credential_files = files;
        self
    }

    /// Asks the user before a tool opens one of these files, in addition to well-known places of secrets.
    #[must_use]
    pub fn asking_for(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.private_files.extend(files.into_iter().filter_map(|file| paths::real(&file).ok()));
        self
    }

    /// Masks these values in the output of tools.
    #[must_use]
    pub fn masking<'v>(mut self, values: impl IntoIterator<Item = &'v str>) -> Self {
        values.into_iter().for_each(|value| self.mask.add(value));
        self
    }

    /// Withholds these environment variables from commands, in addition to those that look like credentials.
    #[must_use]
    pub fn withholding(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.withheld.extend(names);
        self
    }

    /// Passes these environment variables to commands, whatever they look like.
    #[must_use]
    pub fn passing(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.passed.extend(names);
        self
    }

    /// Tells whether commands do not inherit the environment variable of this name.
    pub fn withholds(&self, name: &str) -> bool {
        let is_listed = |names: &[String]| names.iter().any(|listed| listed == name);
        !is_listed(&self.passed) && (is_listed(&self.withheld) || is_credential_name(name))
    }

    /// Tells the same of a variable and its value: a URL with a password is withheld too.
    pub fn withholds_variable(&self, name: &str, value: &str) -> bool {
        let is_passed = self.passed.iter().any(|passed| passed == name);
        !is_passed && (self.withholds(name) || has_password(value))
    }

    /// Returns a text without the values of keys.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask.apply(text)
    }

    /// Removes the values of keys from the output of a tool.
    pub(crate) fn mask_output(&self, output: &mut ToolOutput) {
        output.content.iter_mut().for_each(|block| self.mask.apply_to_json(block));
        output.details.iter_mut().for_each(|details| self.mask_json(details));
    }

    /// Removes the values of keys from every string of a JSON value.
    pub(crate) fn mask_json(&self, value: &mut Json) {
        self.mask.apply_to_json(value);
    }

    /// Tells whether an absolute path leads to a credential file.
    pub fn is_denied(&self, path: &Path) -> bool {
        self.credential_files.contains(path)
    }

    /// Tells whether a credential file lies in a directory, at any depth.
    pub fn is_any_denied_below(&self, directory: &Path) -> bool {
        self.credential_files.any_below(directory)
    }

    /// Returns how a file is protected, by its path with all links followed.
    pub(crate) fn protection(&self, real: &Path) -> Option<Protection> {
        self.guard().protection(real, None)
    }

    /// Looks the protected files up on the disk once, for a walk through many files.
    pub(crate) fn guard(&self) -> FileGuard {
        FileGuard {
            denied: self.credential_files.known(),
            asked: self.private_files.clone(),
            places: SecretPlaces::look_up(),
        }
    }
}

/// Tells protected files from others.
#[derive(Debug)]
pub(crate) struct FileGuard {
    denied: KnownFiles,
    asked: Vec<PathBuf>,
    places: SecretPlaces,
}

impl FileGuard {
    /// Returns how a file is protected, by its path with all links followed and its inode if that is known.
    pub(crate) fn protection(&self, real: &Path, inode: Option<u64>) -> Option<Protection> {
        if self.denied.contains_entry(real, inode) {
            return Some(Protection::Denied);
        }
        let is_asked = self.asked.iter().any(|file| real.starts_with(file)) || self.places.contains(real);
        is_asked.then_some(Protection::Asked)
    }
}

/// Files that hold our own credentials. No tool and no extension may open them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CredentialFiles(Vec<PathBuf>);

impl CredentialFiles {
    /// Makes the list of these files; they need not exist.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        CredentialFiles(files.into_iter().collect())
    }

    /// Tells whether an absolute path leads to one of the files: by its name, through links, or as a hard link.
    ///
    /// A temporary file or backup beside a credential file, whose name begins with the same name, counts too.
    pub fn contains(&self, path: &Path) -> bool {
        let Ok(real) = paths::real(path) else { return false };
        self.known().contains(&real)
    }

    /// Tells whether one of the files lies in a directory, at any depth.
    fn any_below(&self, directory: &Path) -> bool {
        let Ok(directory) = paths::real(directory) else { return false };
        self.0.iter().any(|file| paths::real(file).is_ok_and(|file| file.starts_with(&directory)))
    }

    /// Looks the files up on the disk.
    fn known(&self) -> KnownFiles {
        let inode = |file: &PathBuf| fs::metadata(file).ok().map(|found| (found.dev(), found.ino()));
        KnownFiles {
            paths: self.0.iter().filter_map(|file| paths::real(file).ok()).collect(),
            inodes: self.0.iter().filter_map(inode).collect(),
        }
    }
}

/// Credential files as they are on the disk now.
#[derive(Debug)]
struct KnownFiles {
    paths: Vec<PathBuf>,
    /// Device and inode of each file that exists.
    inodes: Vec<(u64, u64)>,
}

impl KnownFiles {
    fn contains(&self, real: &Path) -> bool {
        self.contains_entry(real, None)
    }

    /// Does the same for an entry of a directory, whose inode may be known already.
    fn contains_entry(&self, real: &Path, inode: Option<u64>) -> bool {
        let may_be_same = inode.is_none_or(|inode| self.inodes.iter().any(|known| known.1 == inode));
        let is_same = || {
            let found = fs::metadata(real).ok().map(|found| (found.dev(), found.ino()));
            found.is_some_and(|found| self.inodes.contains(&found))
        };
        self.paths.iter().any(|file| is_beside(file, real)) || (may_be_same && is_same())
    }
}

/// Tells whether `real` is `file`, or lies beside it under a name that begins with the name of `file`.
fn is_beside(file: &Path, real: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    match (name(file), name(real)) {
        (Some(own), Some(found)) => file.parent() == real.parent() && found.starts_with(&own),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
