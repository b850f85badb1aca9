//! Trust in a project: its settings and code, the stored decision, and the effect on a run.
//!
//! directory -> **project** (its files and their digest) -> stored decision -> **trust state**
//!
//! Nothing of a project is used before the user trusts exactly these bytes. This module asks no questions: a caller
//! that asks checks the [`TrustState`] first and [stores](TrustFile::remember) the answer.

mod file;
mod project;

use std::path::Path;

use crate::error::CommandError;
use crate::settings::DefaultTrust;

pub(crate) use file::TrustFile;
pub(crate) use project::Project;

// The options about trust. (A documentation comment would replace the help of a command.)
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Use the settings and the code of this project in this run.
    #[arg(long, conflicts_with = "no_approve")]
    approve: bool,
    /// Use nothing of this project in this run.
    #[arg(long)]
    no_approve: bool,
}

/// The state of trust in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// The user trusts it, and nothing has changed since.
    Trusted,
    /// The user refused it.
    Refused,
    /// The user trusted other content.
    Changed,
    /// There is no decision.
    Undecided,
}

impl Args {
    /// Creates options that use nothing of the project.
    pub(crate) fn none_of_project() -> Self {
        Args { approve: false, no_approve: true }
    }

    /// Returns true if an option was given.
    pub(crate) fn is_used(self) -> bool {
        self.approve || self.no_approve
    }

    /// Returns true if the project is used in this run regardless of decisions.
    pub(crate) fn approves(self) -> bool {
        self.approve
    }

    /// Returns true if nothing of the project is used.
    pub(crate) fn refuses(self) -> bool {
        self.no_approve
    }

    /// Decides about a project: by the command line, then the stored decision, then the default.
    ///
    /// [`TrustState::Changed`] and [`TrustState::Undecided`] mean: ask, or else do not trust.
    pub(crate) fn standing(
        self,
        project: &Project,
        file: &TrustFile,
        usual: DefaultTrust,
    ) -> Result<TrustState, CommandError> {
        if self.approve {
            return Ok(TrustState::Trusted);
        }
        if self.no_approve {
            return Ok(TrustState::Refused);
        }
        let saved = file.standing(project)?;
        Ok(match (saved, usual) {
            (TrustState::Undecided, DefaultTrust::Always) => TrustState::Trusted,
            (TrustState::Undecided, DefaultTrust::Never) => TrustState::Refused,
            (saved, _) => saved,
        })
    }
}

/// Returns the directory that holds everything of the project a directory belongs to: the nearest one with `.git`, else
/// the directory itself.
pub(crate) fn root(cwd: &Path) -> &Path {
    cwd.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(cwd)
}

/// A note for a project with extensions that the user is asked to trust.
pub(crate) const CODE_NOTE: &str = "a loaded extension runs with your rights: it can read, change and delete your files, \
                                    start programs, and send what it reads to others";

#[cfg(test)]
mod tests;
