//! Pop: a navigation back to the start of a piece of work, with a summary of it. A push labels that start.

use crate::draft::NewBranchSummary;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::navigate::{Navigated, NavigationPlan};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// The prefix of the label of a push.
pub const PUSH_PREFIX: &str = "⤓";

/// Returns the label that a push puts on the leaf.
///
/// ```
/// assert_eq!(session_tree::push_label("parser"), "⤓parser");
/// ```
pub fn push_label(name: &str) -> String {
    format!("{PUSH_PREFIX}{}", name.trim())
}

/// A planned pop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopPlan {
    /// The move, with the text of the prompt that is taken back.
    pub navigation: NavigationPlan,
    /// The name of the push that it goes back to.
    pub push: Option<String>,
}

impl PopPlan {
    /// Returns the leaf after the pop; `None` is before the first entry.
    pub fn new_leaf(&self) -> Option<&EntryId> {
        self.navigation.new_leaf.as_ref()
    }

    /// Returns the text of the prompt that is taken back; it belongs into the input history.
    pub fn prompt(&self) -> Option<&str> {
        self.navigation.editor_text.as_deref()
    }

    /// Returns the entries that the summary is about, the prompt included, oldest first.
    ///
    /// [`Session::plan_branch_summary`] from the old leaf to [`PopPlan::new_leaf`] prepares it.
    pub fn abandoned(&self) -> &[Node] {
        &self.navigation.abandoned
    }
}

impl Session {
    /// Plans to go back: to `target`, or to the innermost push of the path, or before its last prompt. Changes
    /// nothing.
    ///
    /// A prompt is taken back as in [`Session::plan_navigation`], a push becomes the leaf itself.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToPop`] if no target is given and the path has neither.
    pub fn plan_pop(&self, target: Option<Node>) -> Result<PopPlan> {
        if let Some(target) = target {
            return self.plan_pop_to(self.check_node(target)?);
        }
        if let Some((place, name)) = self.innermost_push() {
            let navigation = self.plan_exact_navigation(self.tree().id(place).as_str())?;
            return Ok(PopPlan { navigation, push: Some(name) });
        }
        let path = self.branch_path(Position::Leaf);
        let is_prompt = |node: &&Node| self.tree().role(**node) == Some(Role::User);
        self.plan_pop_to(*path.iter().rev().find(is_prompt).ok_or(Error::NothingToPop)?)
    }

    /// Goes back as planned and appends the summary there; a summary without text makes it a plain move.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] as for [`Session::apply_navigation`].
    pub fn apply_pop(&mut self, plan: &PopPlan, summary: &NewBranchSummary) -> Result<Navigated> {
        self.apply_navigation(&plan.navigation, Some(summary), None)
    }

    fn plan_pop_to(&self, target: Node) -> Result<PopPlan> {
        let tree = self.tree();
        let mut navigation = self.plan_navigation(tree.id(target).as_str())?;
        if navigation.is_noop && tree.role(target) == Some(Role::User) {
            // Navigation stays on an unanswered prompt; a pop takes it back.
            self.take_back(target, &mut navigation)?;
            navigation.is_noop = false;
        }
        if !navigation.is_noop {
            let new_leaf = Position::entry_or_start(navigation.new_leaf.as_ref());
            let plan = self.plan_branch_summary(Position::Leaf, new_leaf, &Default::default())?;
            navigation.can_summarize = !plan.is_empty();
            navigation.abandoned = plan.abandoned.entries;
        }
        Ok(PopPlan { navigation, push: None })
    }

    /// Finds the push nearest to the leaf that was not popped yet.
    fn innermost_push(&self) -> Option<(Node, String)> {
        let tree = self.tree();
        // The conversational entry below `node` on the path.
        let mut next = None;
        for node in tree.ancestors(self.leaf()?) {
            // An earlier pop left a summary there.
            let is_left = next.is_some_and(|next| !self.is_return(next));
            let name = self.label(node).and_then(|label| label.text.strip_prefix(PUSH_PREFIX));
            if let (Some(name), true) = (name, is_left) {
                return Some((node, name.to_owned()));
            }
            if !tree.is_bookkeeping(node) {
                next = Some(node);
            }
        }
        None
    }

    /// Returns true if an entry summarises a branch that was abandoned for the entry above it.
    fn is_return(&self, node: Node) -> bool {
        if self.tree().kind(node) != Kind::BranchSummary {
            return false;
        }
        let entry = self.entry_at(node).ok();
        let merge = entry.as_ref().and_then(|entry| entry.value()?.get("details")?.get("merge"));
        merge.is_none()
    }
}
