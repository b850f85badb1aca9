//! `/resume`: the session of a file takes the place of this one.

use std::path::Path;

use session_tree::Options;

use super::Replacement;
use super::replace::Reason;
use crate::agent::Agent;
use crate::error::Result;

impl Agent {
    /// Plans to go on in the session of a file. Changes nothing; see [`Agent::replace_session`].
    ///
    /// # Errors
    ///
    /// What [`Options::open`] refuses.
    pub fn plan_resume(&self, file: &Path, options: Options) -> Result<Replacement> {
        Ok(Replacement::new(options.open(file)?, Reason::Resume))
    }
}
