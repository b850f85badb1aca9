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

use self::mask::Mask;
use crate::tool::ToolOutput;
use crate::tools::paths;

/// Words that mark a credential anywhere in a name.
const CREDENTIAL_WORDS: &str =
    "apikey credential credentials passphrase passwd password secret secrets token authtoken bearer jwt";

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
        CREDENTIAL_WORDS.split(' ').any(|credential| credential == word)
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

/// Splits a name into lower-case words, at all characters except letters and digits and before a capital in camel case.
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

/// The secrets of the user: variables hidden from commands, files closed to tools, texts masked in output.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Files with offshoot's own credentials; they need not exist.
    credential_files: Vec<PathBuf>,
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
    /// The user is asked, regardless of allowing rules.
    Asked,
}

impl Secrets {
    /// Creates the default: variables that look like credentials are withheld, well-known places of secrets are
    /// protected.
    pub fn new() -> Self {
        Self::default()
    }

    /// Denies these files to every tool and every extension.
    ///
    /// A file is recognised by its name, through links, and as a hard link. Temporary files and backups beside it, whose
    /// names begin with its name, count too.
    #[must_use]
    pub fn denying(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.credential_files.extend(files);
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

    /// Passes these environment variables to commands, even if they look like credentials.
    #[must_use]
    pub fn passing(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.passed.extend(names);
        self
    }

    /// Returns true if this environment variable is one of those that [`withholding`](Secrets::withholding) names.
    pub fn is_listed(&self, name: &str) -> bool {
        self.withheld.iter().any(|listed| listed == name)
    }

    /// Returns true if commands do not inherit the environment variable of this name.
    pub fn withholds(&self, name: &str) -> bool {
        let is_passed = self.passed.iter().any(|passed| passed == name);
        !is_passed && (self.is_listed(name) || is_credential_name(name))
    }

    /// Returns true if commands do not inherit this variable. A URL with a password is withheld too.
    pub fn withholds_variable(&self, name: &str, value: &str) -> bool {
        let is_passed = self.passed.iter().any(|passed| passed == name);
        !is_passed && (self.withholds(name) || has_password(value))
    }

    /// Masks the values of keys in a text.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask.apply(text)
    }

    /// Masks the values of keys in the output of a tool.
    pub(crate) fn mask_output(&self, output: &mut ToolOutput) {
        let values = output.content.iter_mut().chain(&mut output.details);
        values.for_each(|value| self.mask.apply_to_json(value));
    }

    /// Returns true if an absolute path leads to a credential file.
    pub fn is_denied(&self, path: &Path) -> bool {
        paths::real(path).is_ok_and(|real| self.guard().is_denied(&real, None))
    }

    /// Returns true if a credential file lies in a directory, at any depth.
    pub fn is_any_denied_below(&self, directory: &Path) -> bool {
        let Ok(directory) = paths::real(directory) else { return false };
        self.guard().denied.iter().any(|file| file.starts_with(&directory))
    }

    /// Returns how a file is protected, by its path with all links followed.
    pub(crate) fn protection(&self, real: &Path) -> Option<Protection> {
        self.guard().protection(real, None)
    }

    /// Looks up the protected files on disk once, for a walk through many files.
    pub(crate) fn guard(&self) -> FileGuard {
        let mut asked = self.private_files.clone();
        asked.extend(places::in_home());
        FileGuard {
            denied: self.credential_files.iter().filter_map(|file| paths::real(file).ok()).collect(),
            inodes: self.credential_files.iter().filter_map(|file| identity(file)).collect(),
            asked,
        }
    }
}

/// The protected files that exist on disk.
#[derive(Debug)]
pub(crate) struct FileGuard {
    denied: Vec<PathBuf>,
    /// Device and inode of each denied file that exists.
    inodes: Vec<(u64, u64)>,
    asked: Vec<PathBuf>,
}

impl FileGuard {
    /// Returns how a file is protected, given its path with links followed and its inode if known.
    pub(crate) fn protection(&self, real: &Path, inode: Option<u64>) -> Option<Protection> {
        if self.is_denied(real, inode) {
            return Some(Protection::Denied);
        }
        let is_asked = self.asked.iter().any(|file| real.starts_with(file)) || places::contains(real);
        is_asked.then_some(Protection::Asked)
    }

    fn is_denied(&self, real: &Path, inode: Option<u64>) -> bool {
        let may_be_same = inode.is_none_or(|inode| self.inodes.iter().any(|known| known.1 == inode));
        let is_same = || identity(real).is_some_and(|found| self.inodes.contains(&found));
        self.denied.iter().any(|file| is_beside(file, real)) || (may_be_same && is_same())
    }
}

fn identity(file: &Path) -> Option<(u64, u64)> {
    fs::metadata(file).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns true if `real` is `file`, or lies beside it under a name that begins with the name of `file`.
fn is_beside(file: &Path, real: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    match (name(file), name(real)) {
        (Some(own), Some(found)) => file.parent() == real.parent() && found.starts_with(&own),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
