//! `/clone`: a new session that stands where this one stands.

use session_tree::Destination;

use super::Fork;
use crate::agent::Agent;
use crate::error::Result;

impl Agent {
    /// Plans a copy of the path to the leaf. Changes nothing; see [`Agent::fork`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToClone`](crate::error::AgentError::NothingToClone) before the first entry.
    pub fn plan_clone(&self, to: Option<Destination>) -> Result<Fork> {
        self.plan_fork_here(to)
    }
}
