//! `/branch-here`: to where another attempt can begin.

use crate::agent::{Agent, Move, SummaryRequest};
use crate::error::Result;

/// Where another attempt begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchHereRequest {
    /// A reference to an entry; a prompt is taken back.
    pub target: String,
    /// Whether to go to the entry itself, also if it is a prompt.
    pub exact: bool,
    /// What to tell of the branch that is left.
    pub summary: SummaryRequest,
}

impl Agent {
    /// Plans to go to where another attempt can begin. Changes nothing; see [`Agent::go`].
    pub fn plan_branch_here(&self, request: &BranchHereRequest) -> Result<Move> {
        let target = self.resolve_id(&request.target)?;
        let plan = match request.exact {
            true => self.session().plan_exact_navigation(target.as_str())?,
            false => self.session().plan_navigation(target.as_str())?,
        };
        Ok(Move::new(&self.session(), plan).telling(request.summary.clone()))
    }
}
