//! `/export-branch`: writes a part of the session to a new session file.

use std::path::PathBuf;

use session_tree::{Destination, Error, Extract, ExtractPlan, Options, Session};

use super::PlannedIn;
use crate::agent::Agent;
use crate::error::Result;

/// A request to export a part of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRequest {
    /// A reference to an entry.
    pub entry: String,
    /// How much of the tree around it to export.
    pub scope: ExportScope,
    /// The new file.
    pub file: PathBuf,
}

/// The part of the tree to export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExportScope {
    /// The path to the entry, and everything below it.
    #[default]
    Branch,
    /// The path to the entry.
    Path,
    /// The entry as a root, and everything below it.
    Subtree,
}

/// A planned export.
#[derive(Debug, Clone)]
pub struct Export {
    /// The entries, and how they change.
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
    /// [`session_tree::Error::Exists`] if the file exists.
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

    /// Writes the file as planned and returns its session. The agent's session is not changed.
    pub fn export_branch(&self, export: &Export, options: Options) -> Result<Session> {
        export.planned_in.check(&self.session())?;
        let to = Destination::File(export.file.clone());
        let mut session = self.session().extract(&export.plan, to, options)?;
        session.save()?;
        session.sync()?;
        Ok(session)
    }
}
