//! `/undo`: what was asked or brought last is taken back.

use session_tree::cherry_pick::CHERRY_PICK;
use session_tree::json::ValueRef;
use session_tree::{Entry, EntryId, NavigationPlan, Node, Position, Role};

use super::Applied;
use crate::agent::{Agent, Move, NavigationResult};
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};

/// What an undo would do.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The move.
    pub movement: Move,
    /// Where the leaf is; going there brings everything back.
    pub came_from: Option<EntryId>,
}

/// What came of an undo that nobody stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undone {
    /// What came of the move.
    pub arrival: NavigationResult,
    /// Where the leaf was: going back, or switching exactly there, brings everything back.
    pub came_from: Option<EntryId>,
}

impl Agent {
    /// Plans to take back the last prompt of the path with all that followed, or a pick or merge that nothing
    /// followed. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToUndo`] if the path has neither.
    pub fn plan_undo(&self) -> Result<Undo> {
        let plan = match self.last_graft()? {
            Some(graft) => self.plan_before(graft)?,
            None => {
                let prompt = self.last_prompt().ok_or(AgentError::NothingToUndo)?;
                self.session().plan_pop(Some(prompt))?.navigation
            }
        };
        let session = self.session();
        Ok(Undo { movement: Move::new(&session, plan), came_from: session.leaf_id() })
    }

    /// Takes back what was planned. Nothing is lost: what was taken back stays in the tree.
    pub async fn undo(&mut self, undo: Undo, cancel: &Cancel) -> Result<Applied<Undone>> {
        let applied = self.go(undo.movement, cancel).await?;
        Ok(applied.map(|arrival| {
            let came_from = undo.came_from.filter(|_| arrival.moved);
            Undone { arrival, came_from }
        }))
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
    fn last_graft(&self) -> Result<Option<Node>> {
        let Some(last) = self.said_last() else { return Ok(None) };
        let session = self.session();
        let Some(graft) = graft_of(&session.entry_at(last)?) else { return Ok(None) };
        let mut first = last;
        for node in session.tree().ancestors(last).skip(1) {
            // One pick may have made several entries.
            if graft != Graft::Merge && graft_of(&session.entry_at(node)?).as_ref() == Some(&graft) {
                first = node;
            } else {
                break;
            }
        }
        Ok(Some(first))
    }
}

/// What brought an entry here.
#[derive(Debug, PartialEq, Eq)]
enum Graft {
    /// The pick of this time.
    Pick(String),
    Merge,
}

/// Tells whether a pick or a merge brought an entry here.
pub(crate) fn is_grafted(entry: &Entry) -> bool {
    graft_of(entry).is_some()
}

fn graft_of(entry: &Entry) -> Option<Graft> {
    let details = entry.value()?.get("details");
    if entry.body().merge().is_some() {
        return Some(Graft::Merge);
    }
    let is_pick = |note: &ValueRef<'_>| note.get("kind").is_some_and(|kind| kind.is_str(CHERRY_PICK));
    let note = details.filter(is_pick).or_else(|| entry.value()?.get("origin").filter(is_pick))?;
    // The last step of a pick of a pick is the one that brought it here.
    let step = note.get("via").and_then(|via| via.items().last()).unwrap_or(note);
    Some(Graft::Pick(step.get("pickedAt")?.as_str()?.into_owned()))
}
