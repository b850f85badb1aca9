//! `/import`: a session file from elsewhere joins ours and takes the place of this session.

use std::path::{Path, PathBuf};

use session_tree::{Options, Session, import};

use super::replace::Reason;
use super::{Applied, Replaced};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::Result;

/// A file that is about to be imported.
#[derive(Debug)]
pub struct Import {
    /// What is in it.
    pub source: Session,
    /// The file.
    pub file: PathBuf,
    /// The directory that its copy goes into; no file there is ever replaced.
    pub directory: PathBuf,
}

impl Agent {
    /// Plans to copy a session file into a directory of sessions and to go on in the copy. Changes nothing.
    ///
    /// # Errors
    ///
    /// What [`Options::open_read_only`] refuses.
    pub fn plan_import(&self, file: &Path, directory: &Path, options: Options) -> Result<Import> {
        let source = options.open_read_only(file)?;
        Ok(Import { source, file: file.to_path_buf(), directory: directory.to_path_buf() })
    }

    /// Copies the file as planned and goes on in the copy.
    pub async fn import(
        &mut self,
        planned: Import,
        options: Options,
        cancel: &Cancel,
    ) -> Result<Applied<Replaced>> {
        if let Applied::Cancelled(by) = self.may_switch(Reason::Resume, Some(&planned.file), cancel).await {
            return Ok(Applied::Cancelled(by));
        }
        let copy = import(&planned.file, &planned.directory, &options)?;
        let session = options.open(copy)?;
        let replaced = self.replace(session, Reason::Resume, cancel).await?;
        self.is_imported = true;
        Ok(Applied::Done(replaced))
    }
}
