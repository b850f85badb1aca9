//! `/pop` and `/push`: back to where a piece of work began, with a summary of it.

use session_tree::{PopPlan, push_label};

use super::{Applied, LabelPlan};
use crate::agent::{Agent, Move, NavigationResult, SummaryRequest};
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};

/// What to go back to, and what to tell there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PopRequest {
    /// A reference to an entry; without one, the last push of the path, or before its last prompt.
    pub target: Option<String>,
    /// What was tried and how it went; without it a model tells.
    pub note: Option<String>,
    /// What the model should pay attention to.
    pub focus: Option<String>,
    /// Whether the prompt goes into the editor, not only into the input history.
    pub edit: bool,
}

/// What a pop would do.
#[derive(Debug, Clone)]
pub struct Pop {
    /// Where it goes, and what it leaves behind.
    pub plan: PopPlan,
    /// What is told of that.
    pub summary: SummaryRequest,
    /// Whether the prompt goes into the editor.
    pub edit: bool,
    movement: Move,
}

/// What came of a pop that nobody stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Popped {
    /// What came of the move.
    pub arrival: NavigationResult,
    /// The prompt that was taken back; it belongs into the input history.
    pub prompt: Option<String>,
    /// The name of the push that it went back to.
    pub push: Option<String>,
}

impl Agent {
    /// Plans to go back and leave a summary. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::NothingToPop`] if the path has neither a push nor a prompt.
    pub fn plan_pop(&self, request: &PopRequest) -> Result<Pop> {
        let target = request.target.as_deref().map(|reference| self.resolve(reference)).transpose()?;
        let plan = self.session().plan_pop(target)?;
        let summary = match (&request.note, &request.focus) {
            (Some(note), _) => SummaryRequest::Note(note.clone()),
            (None, Some(focus)) => SummaryRequest::Focus(focus.clone()),
            (None, None) => SummaryRequest::Standard,
        };
        // The prompt is taken back too, so the summary tells of it.
        let movement = Move {
            summary: summary.clone(),
            summary_target: plan.new_leaf().cloned(),
            ..Move::new(&self.session(), plan.navigation.clone())
        };
        Ok(Pop { plan, summary, edit: request.edit, movement })
    }

    /// Goes back as planned.
    pub async fn pop(&mut self, pop: Pop, cancel: &Cancel) -> Result<Applied<Popped>> {
        let applied = self.go(pop.movement, cancel).await?;
        Ok(applied.map(|mut arrival| {
            if !arrival.moved {
                return Popped { arrival, ..Popped::default() };
            }
            let prompt = arrival.editor_text.clone();
            arrival.editor_text = arrival.editor_text.filter(|_| pop.edit);
            Popped { arrival, prompt, push: pop.plan.push }
        }))
    }

    /// Plans to remember the leaf as a place to come back to: a label for [`Agent::label`]. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToLabel`] if nothing was said yet.
    pub fn plan_push(&self, name: &str) -> Result<LabelPlan> {
        let node = self.said_last().ok_or(AgentError::NothingToLabel)?;
        Ok(self.label_plan(node, Some(&push_label(name))))
    }
}
