//! `/back` and `/forward`: through the places where the leaf was.

use session_tree::NavigationPlan;

use super::history::Position;
use crate::agent::{Agent, Move, Step};
use crate::error::{AgentError, Result};

impl Agent {
    /// Plans to go to where the leaf was before. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if the leaf was nowhere else.
    pub fn plan_back(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.behind())?.ok_or(AgentError::NothingBehind)?;
        Ok(Move::new(&self.session(), plan).stepping(Step::Back(steps)))
    }

    /// Plans to go to where the leaf was before it went back. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingAhead`] if it did not go back.
    pub fn plan_forward(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.ahead())?.ok_or(AgentError::NothingAhead)?;
        Ok(Move::new(&self.session(), plan).stepping(Step::Forward(steps)))
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
