//! `/switch`: to another branch, as it is.

use crate::agent::{Agent, Move, SummaryRequest};
use crate::error::Result;

/// Where to switch to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SwitchRequest {
    /// A reference to an entry; the newest end of what follows it becomes the leaf.
    pub target: String,
    /// Whether to go to the entry itself.
    pub exact: bool,
    /// What to tell of the branch that is left.
    pub summary: SummaryRequest,
}

impl Agent {
    /// Plans to switch to another branch; a prompt at its end stays where it is. Changes nothing; see [`Agent::go`].
    pub fn plan_switch(&self, request: &SwitchRequest) -> Result<Move> {
        let target = self.resolve_id(&request.target)?;
        let plan = match request.exact {
            true => self.session().plan_exact_navigation(target.as_str())?,
            false => self.session().plan_switch(target.as_str())?,
        };
        Ok(Move::new(&self.session(), plan).telling(request.summary.clone()))
    }
}
