//! Whether a project's own settings and code are used: what there is, what was decided, and what that means for a run.
//!
//! directory -> **project** (what would load, and its digest) -> decision on file -> **standing**
//!
//! Nothing of a project is used before somebody said yes to exactly these bytes. Never asks anybody: who wants to ask
//! looks at the [`Standing`] first and [remembers](TrustFile::remember) the answer.

mod file;
mod project;

use std::path::Path;

use crate::error::CommandError;
use crate::settings::DefaultTrust;

pub(crate) use file::TrustFile;
pub(crate) use project::{CODE, Project};

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

/// How a project stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Somebody said yes, and nothing changed since.
    Trusted,
    /// Somebody said no.
    Refused,
    /// Somebody said yes to other content.
    Changed,
    /// Nobody said anything.
    Undecided,
}

impl Args {
    /// Uses nothing of the project.
    pub(crate) fn none_of_project() -> Self {
        Args { approve: false, no_approve: true }
    }

    /// Tells whether anything was said.
    pub(crate) fn is_used(self) -> bool {
        self.approve || self.no_approve
    }

    /// Tells whether the project is to be used in this run, whatever was decided before.
    pub(crate) fn approves(self) -> bool {
        self.approve
    }

    /// Tells whether nothing of the project is to be used.
    pub(crate) fn refuses(self) -> bool {
        self.no_approve
    }

    /// Decides about a project: the command line, then what is on file, then what is usual.
    ///
    /// [`Standing::Changed`] and [`Standing::Undecided`] mean: ask, or else do not trust.
    pub(crate) fn standing(
        self,
        project: &Project,
        file: &TrustFile,
        usual: DefaultTrust,
    ) -> Result<Standing, CommandError> {
        if self.approve {
            return Ok(Standing::Trusted);
        }
        if self.no_approve {
            return Ok(Standing::Refused);
        }
        let saved = file.standing(project)?;
        Ok(match (saved, usual) {
            (Standing::Undecided, DefaultTrust::Always) => Standing::Trusted,
            (Standing::Undecided, DefaultTrust::Never) => Standing::Refused,
            (saved, _) => saved,
        })
    }
}

/// Returns the directory that holds everything of the project a directory belongs to: the nearest one with `.git`, else
/// the directory itself.
pub(crate) fn root(cwd: &Path) -> &Path {
    cwd.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(cwd)
}

#[cfg(test)]
mod tests;
