//! Pops: back to where a piece of work began, with a summary of it.
//!
//! A pop is a navigation that always leaves something behind. A push is a label on the place to come back to.

use crate::draft::NewBranchSummary;
use crate::error::{Error, Result};
use crate::kind::{Kind, Role};
use crate::navigate::{Navigated, NavigationPlan};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// What the label of a push begins with.
pub const PUSH_PREFIX: &str = "⤓";

/// Returns the label that a push puts on the leaf.
///
/// ```
/// assert_eq!(session_tree::push_label("parser"), "⤓parser");
/// ```
pub fn push_label(name: &str) -> String {
    format!("{PUSH_PREFIX}{}", name.trim())
}

/// What a pop would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopPlan {
    /// The move: where it goes, and the text of the prompt that is taken back.
    pub navigation: NavigationPlan,
    /// The name of the push that it goes back to.
    pub push: Option<String>,
}

impl PopPlan {
    /// Returns where the leaf would go; `None` is before the first entry.
    pub fn new_leaf(&self) -> Option<Node> {
        self.navigation.new_leaf
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
    /// [`Error::StalePlan`] if the leaf moved since, other than over entries that keep books.
    pub fn apply_pop(&mut self, plan: &PopPlan, summary: &NewBranchSummary) -> Result<Navigated> {
        self.apply_navigation(&plan.navigation, Some(summary), None)
    }

    fn plan_pop_to(&self, target: Node) -> Result<PopPlan> {
        let tree = self.tree();
        let mut navigation = self.plan_navigation(tree.id(target).as_str())?;
        if navigation.is_noop && tree.role(target) == Some(Role::User) {
            // Navigation leaves an unanswered prompt alone; who pops takes it back.
            let (text, images) = self.prompt(target)?;
            navigation.editor_text = Some(text);
            navigation.images = images;
            navigation.land_on(tree, self.readable(tree.parent(target)));
            navigation.is_noop = false;
        }
        if !navigation.is_noop {
            navigation.abandoned = self.abandoned_entries(self.leaf(), navigation.new_leaf).entries;
            let plan = self.plan_branch_summary(self.leaf(), navigation.new_leaf, &Default::default())?;
            navigation.can_summarize = !plan.is_empty();
        }
        Ok(PopPlan { navigation, push: None })
    }

    /// Finds the push nearest to the leaf that nobody came back to yet.
    fn innermost_push(&self) -> Option<(Node, String)> {
        let tree = self.tree();
        // What is said next on the path, seen from the place that is looked at.
        let mut next = None;
        for node in tree.ancestors(self.leaf()?) {
            // Who came back left a summary there.
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

    /// Tells whether an entry summarises a branch that was left for the place above it.
    fn is_return(&self, node: Node) -> bool {
        if self.tree().kind(node) != Kind::BranchSummary {
            return false;
        }
        let entry = self.entry_at(node).ok();
        let merge = entry.as_ref().and_then(|entry| entry.value()?.get("details")?.get("merge"));
        merge.is_none()
    }
}
