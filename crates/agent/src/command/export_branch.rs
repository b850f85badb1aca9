//! `/export-branch`: a part of the session as a session file of its own.

use std::path::PathBuf;

use session_tree::{Destination, Error, Extract, ExtractPlan, Options, Session};

use super::PlannedIn;
use crate::agent::Agent;
use crate::error::Result;

/// What to export, and where to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRequest {
    /// A reference to an entry.
    pub entry: String,
    /// How much around it.
    pub scope: ExportScope,
    /// The new file.
    pub file: PathBuf,
}

/// How much around an entry is exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExportScope {
    /// The path to it, and everything below it.
    #[default]
    Branch,
    /// Only the path to it.
    Path,
    /// Only itself, which becomes a root, and everything below it.
    Subtree,
}

/// What an export would write.
#[derive(Debug, Clone)]
pub struct Export {
    /// The entries, and what changes on the way.
    pub plan: ExtractPlan,
    /// The new file.
    pub file: PathBuf,
    planned_in: PlannedIn,
}

impl Agent {
    /// Plans an export. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::Exists`] if there is such a file.
    pub fn plan_export(&self, request: &ExportRequest) -> Result<Export> {
        let at = self.resolve(&request.entry)?;
        let what = match request.scope {
            ExportScope::Branch => Extract::Branch { at },
            ExportScope::Path => Extract::Path { at },
            ExportScope::Subtree => Extract::Subtree { root: at },
        };
        if request.file.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: request.file.clone() }.into());
        }
        let plan = self.session().plan_extract(what)?;
        Ok(Export { plan, file: request.file.clone(), planned_in: PlannedIn::of(&self.session()) })
    }

    /// Writes the file as planned, and returns its session. The agent's session stays as it is.
    pub fn export_branch(&self, export: &Export, options: Options) -> Result<Session> {
        export.planned_in.check(&self.session())?;
        let to = Destination::File(export.file.clone());
        let mut session = self.session().extract(&export.plan, to, options)?;
        session.save()?;
        session.sync()?;
        Ok(session)
    }
}
