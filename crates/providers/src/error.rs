//! The errors of models and keys.

use std::io;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a model or a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No model has this name.
    #[error("no model `{name}`")]
    UnknownModel {
        /// The requested name.
        name: String,
        /// The full names of models with a similar name, nearest first.
        suggestions: Vec<String>,
    },
    /// Several models have this name, or a name that contains it.
    #[error("`{name}` could be {}", listed(candidates))]
    AmbiguousModel {
        /// The name that was asked for.
        name: String,
        /// The full names of the models.
        candidates: Vec<String>,
    },
    /// The program was built without the feature `network`.
    #[error("cannot ask {provider}: this program was built without network support")]
    NoNetwork {
        /// The provider.
        provider: String,
    },
    /// The provider requires a key, and none is configured.
    #[error("no key for {provider}")]
    MissingKey {
        /// The provider.
        provider: String,
        /// The environment variables that were looked at.
        variables: Vec<String>,
    },
    /// A setting of the provider cannot be used: its wire format, its address, a header or its key.
    #[error("{provider} cannot be used: {reason}")]
    BadProvider {
        /// The provider.
        provider: String,
        /// The reason.
        reason: String,
    },
    /// Others can read the credentials file.
    #[error("others can read {} (mode {mode:o})", path.display())]
    ExposedCredentials {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The credentials file is not what it should be.
    #[error("{} is no JSON object of providers", path.display())]
    BadCredentials {
        /// The file.
        path: PathBuf,
    },
    /// The credentials file cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Credentials {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The most names that a message lists.
const MOST_NAMES: usize = 8;

/// The first names of a list, and how many more there are.
fn listed(names: &[String]) -> String {
    match names.get(..MOST_NAMES) {
        Some(first) if names.len() > MOST_NAMES => {
            format!("{} and {} more", first.join(", "), names.len() - MOST_NAMES)
        }
        _ => names.join(", "),
    }
}

impl Error {
    pub(crate) fn bad_provider(provider: &str, reason: String) -> Self {
        Error::BadProvider { provider: provider.to_owned(), reason }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::MissingKey { variables, .. } => {
                variables.first().map(|variable| format!("set {variable}"))
            }
            Error::ExposedCredentials { path, .. } => Some(format!("chmod 600 {}", path.display())),
            Error::NoNetwork { .. } => {
                Some("use `offshoot/offline`, or a build with the feature `network`".to_owned())
            }
            Error::UnknownModel { suggestions, .. } => Some(match suggestions.as_slice() {
                [] => "`offshoot models` lists the models".to_owned(),
                names => format!("did you mean {}?", names.join(" or ")),
            }),
            _ => None,
        }
    }
}
