//! `/clone`: a new session that stands where this one stands.

use session_tree::{Destination, ForkPosition};

use super::{Fork, ForkRequest};
use crate::agent::Agent;
use crate::error::{AgentError, Result};

impl Agent {
    /// Plans a copy of the path to the leaf. Changes nothing; see [`Agent::fork`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToClone`] before the first entry.
    pub fn plan_clone(&self, to: Option<Destination>) -> Result<Fork> {
        let leaf = self.session().leaf_id().ok_or(AgentError::NothingToClone)?;
        let entry = leaf.to_string();
        self.plan_fork(&ForkRequest { entry, position: Some(ForkPosition::At), to, stay: false })
    }
}
