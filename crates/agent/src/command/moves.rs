//! `/switch`, `/branch-here`, `/back`, `/forward`, `/pop` and `/undo`: plan moves of the leaf.
//!
//! The history of positions is kept in memory; a file stores only the last position. An append is not a move.

use session_tree::cherry_pick::pick_origin;
use session_tree::{Entry, EntryId, NavigationPlan, Node, PopPlan, Position, Role, Session};

use crate::agent::{Agent, Move, Step, SummaryRequest};
use crate::error::{AgentError, Result};

/// The maximum length of the history.
const MAX_POSITIONS: usize = 200;

/// The target of a move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveRequest {
    /// A reference to an entry.
    pub target: String,
    /// True to go to the entry itself instead of the command's default position near it.
    pub exact: bool,
    /// The summary of the branch that the leaf leaves.
    pub summary: SummaryRequest,
}

/// A request to go back to where a piece of work began, with a summary of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PopRequest {
    /// A reference to an entry. The default is the last push of the path, or its last prompt.
    pub target: Option<String>,
    /// The summary. Without it a model writes one.
    pub note: Option<String>,
    /// The subject that the model should focus on.
    pub focus: Option<String>,
}

/// A planned pop.
#[derive(Debug, Clone)]
pub struct Pop {
    /// The target, and the entries that are left behind.
    pub plan: PopPlan,
    /// The move, for [`Agent::go`].
    pub movement: Move,
}

impl Agent {
    /// Plans a move to the newest tip below an entry, even if that is a prompt. Changes nothing; see [`Agent::go`].
    pub fn plan_switch(&self, request: &MoveRequest) -> Result<Move> {
        self.plan_move(request, |session, target| session.plan_switch(target))
    }

    /// Plans a move to where a new branch can start; a prompt is taken back. Changes nothing; see [`Agent::go`].
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

    /// Plans a move to the previous position. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if there is no previous position.
    pub fn plan_back(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.behind())?.ok_or(AgentError::NothingBehind)?;
        Ok(Move { step: Step::Back(steps), ..Move::new(&self.session(), plan) })
    }

    /// Plans a move to the position before the last `/back`. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingAhead`] if the leaf did not go back.
    pub fn plan_forward(&self) -> Result<Move> {
        let (plan, steps) = self.nearest(self.history.ahead())?.ok_or(AgentError::NothingAhead)?;
        Ok(Move { step: Step::Forward(steps), ..Move::new(&self.session(), plan) })
    }

    /// Finds the nearest position that differs from the current one, and its distance.
    fn nearest(&self, places: &[Place]) -> Result<Option<(NavigationPlan, usize)>> {
        for (skipped, place) in places.iter().rev().enumerate() {
            let plan = match place {
                None => self.session().plan_reset(),
                Some(id) if self.session().tree().node(id.as_str()).is_some() => {
                    Some(self.session().plan_exact_navigation(id.as_str())?)
                }
                // The file was replaced and no longer has this entry.
                Some(_) => None,
            };
            if let Some(plan) = plan.filter(|plan| !plan.is_noop) {
                return Ok(Some((plan, skipped + 1)));
            }
        }
        Ok(None)
    }

    /// Plans a move back with a summary. Changes nothing.
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
        let movement = Move {
            summary,
            // The prompt is abandoned too, so the summary covers it.
            summary_target: plan.new_leaf().cloned(),
            ..Move::new(&self.session(), plan.navigation.clone())
        };
        Ok(Pop { plan, movement })
    }

    /// Plans to take back the last prompt of the path with everything below it, or a pick or merge at the end of the
    /// path. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToUndo`] if the path has neither.
    pub fn plan_undo(&self) -> Result<Move> {
        let plan = match self.last_pick_or_merge()? {
            Some(graft) => self.plan_before(graft)?,
            None => {
                let prompt = self.last_prompt().ok_or(AgentError::NothingToUndo)?;
                self.session().plan_pop(Some(prompt))?.navigation
            }
        };
        Ok(Move::new(&self.session(), plan))
    }

    fn plan_before(&self, node: Node) -> Result<NavigationPlan> {
        let session = self.session();
        let tree = session.tree();
        match tree.parent(node) {
            Some(parent) => Ok(session.plan_exact_navigation(tree.id(parent).as_str())?),
            None => session.plan_reset().ok_or(AgentError::NothingToUndo),
        }
    }

    fn last_prompt(&self) -> Option<Node> {
        let session = self.session();
        let path = session.branch_path(Position::Leaf);
        path.into_iter().rev().find(|node| session.tree().role(*node) == Some(Role::User))
    }

    /// Finds the first entry of the pick or merge that the path ends with.
    fn last_pick_or_merge(&self) -> Result<Option<Node>> {
        let Some(last) = self.last_conversational() else { return Ok(None) };
        let session = self.session();
        let Some(source) = PickOrMerge::of(&session.entry_at(last)?) else { return Ok(None) };
        let mut first = last;
        for node in session.tree().ancestors(last).skip(1) {
            // One pick may have made several entries.
            if source != PickOrMerge::Merge
                && PickOrMerge::of(&session.entry_at(node)?).as_ref() == Some(&source)
            {
                first = node;
            } else {
                break;
            }
        }
        Ok(Some(first))
    }
}

/// The operation that copied an entry from another branch.
#[derive(Debug, PartialEq, Eq)]
enum PickOrMerge {
    /// A cherry-pick at this time.
    Pick(String),
    Merge,
}

impl PickOrMerge {
    fn of(entry: &Entry) -> Option<Self> {
        if entry.body().merge().is_some() {
            return Some(PickOrMerge::Merge);
        }
        let origin = pick_origin(entry)?;
        // In a pick of a pick, the last step copied the entry to this branch.
        let step = origin.get("via").and_then(|via| via.items().last()).unwrap_or(origin);
        Some(PickOrMerge::Pick(step.get("pickedAt")?.as_str()?.into_owned()))
    }
}

/// Returns true if a pick or a merge copied an entry from another branch.
pub(crate) fn is_picked_or_merged(entry: &Entry) -> bool {
    PickOrMerge::of(entry).is_some()
}

/// A position of the leaf; `None` is before the first entry.
type Place = Option<EntryId>;

/// The earlier positions of the leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    behind: Vec<Place>,
    ahead: Vec<Place>,
}

impl History {
    /// Returns the positions to go back to, the nearest last.
    pub fn behind(&self) -> &[Place] {
        &self.behind
    }

    /// Returns the positions to go forward to, the nearest last.
    pub fn ahead(&self) -> &[Place] {
        &self.ahead
    }

    /// Adds a position that a move left. Clears the positions ahead.
    pub(crate) fn leave(&mut self, place: Place) {
        self.ahead.clear();
        push(&mut self.behind, place);
    }

    /// Records a move back from a position, over `steps` positions.
    pub(crate) fn go_back(&mut self, from: Place, steps: usize) {
        self.behind.truncate(self.behind.len().saturating_sub(steps));
        push(&mut self.ahead, from);
    }

    /// Records a move forward from a position, over `steps` positions.
    pub(crate) fn go_forward(&mut self, from: Place, steps: usize) {
        self.ahead.truncate(self.ahead.len().saturating_sub(steps));
        push(&mut self.behind, from);
    }
}

fn push(places: &mut Vec<Place>, place: Place) {
    if places.len() == MAX_POSITIONS {
        places.remove(0);
    }
    places.push(place);
}
