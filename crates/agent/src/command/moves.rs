//! `/switch`, `/branch-here`, `/back` and `/forward`: plans of moves of the leaf.

use session_tree::{NavigationPlan, Session};

use super::history::Position;
use crate::agent::{Agent, Move, Step, SummaryRequest};
use crate::error::{AgentError, Result};

/// The target of a move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveRequest {
    /// A reference to an entry.
    pub target: String,
    /// Whether to go to the entry itself, not to where the command usually goes from there.
    pub exact: bool,
    /// The summary of the branch that the leaf leaves.
    pub summary: SummaryRequest,
}

impl Agent {
    /// Plans to switch to the newest end of what follows an entry; a prompt there stays where it is. Changes nothing; see
    /// [`Agent::go`].
    pub fn plan_switch(&self, request: &MoveRequest) -> Result<Move> {
        self.plan_move(request, |session, target| session.plan_switch(target))
    }

    /// Plans to go to where another attempt can begin; a prompt is taken back. Changes nothing; see [`Agent::go`].
    pub fn plan_branch_here(&self, request: &MoveRequest) -> Result<Move> {
        self.plan_move(request, |session, target| session.plan_navigation(target))
    }

    fn plan_move(
        &self,
        request: &MoveRequest,
        usual: fn(&Session, &str) -> session_tree::Result<NavigationPlan>,
    ) -> Result<Move> {
        let target = self.resolve_id(&request.target)?;
        let session = self.session();
        let plan = match request.exact {
            true => session.plan_exact_navigation(target.as_str())?,
            false => usual(&session, target.as_str())?,
        };
        Ok(Move { summary: request.summary.clone(), ..Move::new(&session, plan) })
    }

    /// Plans to go to where the leaf was before. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if the leaf was nowhere else.
    pub fn plan_back(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.behind())?.ok_or(AgentError::NothingBehind)?;
        Ok(Move { step: Step::Back(steps), ..Move::new(&self.session(), plan) })
    }

    /// Plans to go to where the leaf was before it went back. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingAhead`] if it did not go back.
    pub fn plan_forward(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.ahead())?.ok_or(AgentError::NothingAhead)?;
        Ok(Move { step: Step::Forward(steps), ..Move::new(&self.session(), plan) })
    }

    /// Finds the nearest place that is not this one, and how many places that is away.
    fn nearest(&self, places: &[Position]) -> Result<Option<(NavigationPlan, usize)>> {
        for (skipped, place) in places.iter().rev().enumerate() {
            let plan = match place {
                None => self.session().plan_reset(),
                Some(id) if self.session().tree().node(id.as_str()).is_some() => {
                    Some(self.session().plan_exact_navigation(id.as_str())?)
                }
                // Somebody rewrote the file.
                Some(_) => None,
            };
            if let Some(plan) = plan.filter(|plan| !plan.is_noop) {
                return Ok(Some((plan, skipped + 1)));
            }
        }
        Ok(None)
    }
}
