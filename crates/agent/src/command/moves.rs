//! `/switch`, `/branch-here`, `/back`, `/forward`, `/pop` and `/undo`: plans of moves of the leaf.
//!
//! The places where the leaf was are in memory only: a file stores its last position. An append is no move.

use session_tree::cherry_pick::pick_origin;
use session_tree::{Entry, EntryId, NavigationPlan, Node, PopPlan, Position, Role, Session};

use crate::agent::{Agent, Move, Step, SummaryRequest};
use crate::error::{AgentError, Result};

/// How many places are remembered.
const MOST: usize = 200;

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

/// A request to go back to where a piece of work began, with a summary of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PopRequest {
    /// A reference to an entry; without one, the last push of the path, or before its last prompt.
    pub target: Option<String>,
    /// The summary; without it a model writes one.
    pub note: Option<String>,
    /// What the model should pay attention to.
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
    fn nearest(&self, places: &[Place]) -> Result<Option<(NavigationPlan, usize)>> {
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
        let movement = Move {
            summary,
            // The prompt is taken back too, so the summary tells of it.
            summary_target: plan.new_leaf().cloned(),
            ..Move::new(&self.session(), plan.navigation.clone())
        };
        Ok(Pop { plan, movement })
    }

    /// Plans to take back the last prompt of the path with all that followed, or a pick or merge that nothing
    /// followed. Changes nothing; see [`Agent::go`].
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
        let Some(last) = self.said_last() else { return Ok(None) };
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
    /// The pick of this time.
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

/// A place of the leaf; `None` is before the first entry.
type Place = Option<EntryId>;

/// The places where the leaf was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    behind: Vec<Place>,
    ahead: Vec<Place>,
}

impl History {
    /// Returns the places behind, the nearest last.
    pub fn behind(&self) -> &[Place] {
        &self.behind
    }

    /// Returns the places ahead, the nearest last.
    pub fn ahead(&self) -> &[Place] {
        &self.ahead
    }

    /// Notes that a place was left for a new one. What was ahead is forgotten.
    pub(crate) fn leave(&mut self, place: Place) {
        self.ahead.clear();
        push(&mut self.behind, place);
    }

    /// Notes that the leaf went back from a place, over `steps` places.
    pub(crate) fn go_back(&mut self, from: Place, steps: usize) {
        self.behind.truncate(self.behind.len().saturating_sub(steps));
        push(&mut self.ahead, from);
    }

    /// Notes that the leaf went forward from a place, over `steps` places.
    pub(crate) fn go_forward(&mut self, from: Place, steps: usize) {
        self.ahead.truncate(self.ahead.len().saturating_sub(steps));
        push(&mut self.behind, from);
    }
}

fn push(places: &mut Vec<Place>, place: Place) {
    if places.len() == MOST {
        places.remove(0);
    }
    places.push(place);
}
