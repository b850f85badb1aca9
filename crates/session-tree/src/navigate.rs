//! Navigation: moving the leaf inside one session.
//!
//! session -> **plan** -> apply
//!
//! A plan contains the new position of the leaf, the entries that would be abandoned and the text for the editor; making
//! one changes nothing. Applying it moves the leaf, and appends a summary and a label if they are given. The application
//! asks people, extensions and models.

mod pop;

use crate::draft::NewBranchSummary;
use crate::entry::{Body, Content, Image};
use crate::error::{Error, Result};
use crate::id::{EntryId, Stamp};
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

pub use pop::{PUSH_PREFIX, PopPlan, push_label};

/// A planned move of the leaf.
///
/// Entries are named by their ids, so a plan outlives a reload of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NavigationPlan {
    /// The entry that was selected.
    pub target: EntryId,
    /// The leaf when the plan was made.
    pub old_leaf: Option<EntryId>,
    /// The leaf after the move; `None` is before the first entry.
    pub new_leaf: Option<EntryId>,
    /// The text of the selected prompt, to be edited and sent again.
    pub editor_text: Option<String>,
    /// The images of the selected prompt.
    pub images: Vec<Image>,
    /// The deepest entry on both paths.
    pub common_ancestor: Option<EntryId>,
    /// The abandoned entries, oldest first.
    pub abandoned: Vec<Node>,
    /// True if some abandoned entry has content for a summary.
    pub can_summarize: bool,
    /// True if the leaf is already there: applying the plan does nothing.
    pub is_noop: bool,
    session: Stamp,
}

/// The result of a navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigated {
    /// The new leaf: the label or the summary if one was appended.
    pub new_leaf: Option<Node>,
    /// The branch summary that was appended.
    pub summary_entry: Option<EntryId>,
    /// The label entry that was appended.
    pub label_entry: Option<EntryId>,
}

/// How a target becomes a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveMode {
    /// A prompt is taken back into the editor, a root without conversation means "before everything".
    Select,
    /// The leaf goes onto the entry itself.
    Exact,
}

impl Session {
    /// Plans a move to an entry that was selected. Changes nothing.
    ///
    /// A prompt (a message of a user or an extension) is taken back: the leaf goes to its parent, and the plan contains
    /// the text. A root that is a bookkeeping entry means "before everything". Any other entry becomes the leaf.
    ///
    /// ```
    /// # use session_tree::{Message, Options};
    /// let mut session = Options::new().in_memory("/project")?;
    /// let prompt = session.append(Message::user("Build a CLI"))?;
    /// session.append_thinking_level_change("high")?;
    /// session.append(Message::user("Now add a flag"))?;
    /// let plan = session.plan_navigation(prompt.as_str())?;
    /// assert_eq!(plan.editor_text.as_deref(), Some("Build a CLI"));
    /// assert_eq!(plan.new_leaf, None);
    /// assert_eq!(plan.abandoned.len(), 2);
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn plan_navigation(&self, target: impl AsRef<str>) -> Result<NavigationPlan> {
        self.plan_move(self.node(target)?, MoveMode::Select)
    }

    /// Plans a move onto an entry itself, whatever it is. Changes nothing.
    pub fn plan_exact_navigation(&self, target: impl AsRef<str>) -> Result<NavigationPlan> {
        self.plan_move(self.node(target)?, MoveMode::Exact)
    }

    /// Plans a move to the newest tip at or below an entry. Changes nothing.
    ///
    /// A tip that is a prompt becomes the leaf: switching shows the branch as it is.
    pub fn plan_switch(&self, target: impl AsRef<str>) -> Result<NavigationPlan> {
        let node = self.node(target)?;
        self.plan_move(self.tree().newest_tip_below(node).unwrap_or(node), MoveMode::Exact)
    }

    /// Plans a move to before the first entry; none if the leaf is there. Changes nothing.
    pub fn plan_reset(&self) -> Option<NavigationPlan> {
        let leaf = self.leaf()?;
        let root = self.tree().path(leaf).first().copied()?;
        let mut plan = self.unmoved_plan(root);
        plan.new_leaf = None;
        plan.common_ancestor = None;
        plan.abandoned = self.tree().path(leaf);
        plan.can_summarize = plan.abandoned.iter().any(|node| self.has_content(*node));
        plan.is_noop = false;
        Some(plan)
    }

    /// Returns a plan that leaves the leaf where it is.
    fn unmoved_plan(&self, target: Node) -> NavigationPlan {
        let tree = self.tree();
        let common = self.leaf().and_then(|leaf| tree.common_ancestor(leaf, target));
        NavigationPlan {
            target: tree.id(target),
            old_leaf: self.leaf_id(),
            new_leaf: self.leaf_id(),
            editor_text: None,
            images: Vec::new(),
            common_ancestor: common.map(|node| tree.id(node)),
            abandoned: Vec::new(),
            can_summarize: false,
            is_noop: true,
            session: self.stamp,
        }
    }

    fn plan_move(&self, target: Node, mode: MoveMode) -> Result<NavigationPlan> {
        let tree = self.tree();
        let mut plan = self.unmoved_plan(target);
        if self.is_there(target, mode) {
            return Ok(plan);
        }
        plan.is_noop = false;
        plan.abandoned = self.leaf().map_or_else(Vec::new, |leaf| tree.abandoned(leaf, target));
        plan.can_summarize = plan.abandoned.iter().any(|node| self.has_content(*node));
        plan.new_leaf = self.readable_id(Some(target));
        if mode == MoveMode::Select {
            self.land_by_selection(target, &mut plan)?;
        }
        Ok(plan)
    }

    fn land_by_selection(&self, target: Node, plan: &mut NavigationPlan) -> Result<()> {
        let tree = self.tree();
        let is_prompt = tree.role(target) == Some(Role::User) || tree.kind(target) == Kind::CustomMessage;
        if is_prompt && !tree.is_placeholder(target) {
            self.take_back(target, plan)?;
        } else if tree.parent(target).is_none() && tree.is_bookkeeping(target) {
            plan.new_leaf = None;
        }
        Ok(())
    }

    /// Plans to move before a prompt, with its content in the editor.
    fn take_back(&self, prompt: Node, plan: &mut NavigationPlan) -> Result<()> {
        let (text, images) = self.prompt(prompt)?;
        plan.editor_text = Some(text);
        plan.images = images;
        plan.new_leaf = self.readable_id(self.tree().parent(prompt));
        Ok(())
    }

    /// Returns true if the leaf is already at the target, apart from bookkeeping entries.
    fn is_there(&self, target: Node, mode: MoveMode) -> bool {
        let tree = self.tree();
        if self.leaf() == Some(target) {
            return true;
        }
        let here = self.leaf().and_then(|leaf| tree.nearest_conversational(leaf));
        match mode {
            MoveMode::Select => tree.nearest_conversational(target) == here,
            // A bookkeeping entry that is asked for by name is itself the target.
            MoveMode::Exact => here == Some(target),
        }
    }

    fn readable_id(&self, node: Option<Node>) -> Option<EntryId> {
        self.readable(node).map(|node| self.tree().id(node))
    }

    /// Returns the nearest entry at or above `node` whose line can be read; nothing is appended below the others.
    pub(crate) fn readable(&self, node: Option<Node>) -> Option<Node> {
        let tree = self.tree();
        node.and_then(|node| tree.ancestors(node).find(|node| !tree.is_placeholder(*node)))
    }

    fn has_content(&self, node: Node) -> bool {
        let tree = self.tree();
        if tree.is_placeholder(node) {
            return false;
        }
        match tree.kind(node) {
            Kind::Message => tree.role(node) != Some(Role::System),
            Kind::Compaction | Kind::BranchSummary | Kind::CustomMessage => true,
            Kind::Opaque
            | Kind::ThinkingLevelChange
            | Kind::ModelChange
            | Kind::Usage
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::ContextEdit
            | Kind::LeafMove
            | Kind::ModeChange
            | Kind::RuleInjection
            | Kind::ResetBoundary => false,
        }
    }

    /// Reads the text and the images of a prompt.
    pub(crate) fn prompt(&self, node: Node) -> Result<(String, Vec<Image>)> {
        let entry = self.entry_at(node)?;
        let content = match entry.body() {
            Body::Message(message) => message.and_then(|message| message.get("content")),
            Body::CustomMessage { content, .. } => content,
            _ => None,
        };
        let content = Content::of(content);
        Ok((content.text().into_owned(), content.images()))
    }
}

impl Session {
    /// Moves the leaf as planned, and appends a summary of the abandoned branch and a label if they are given.
    ///
    /// The label goes onto the summary, or onto the target if there is no summary; its entry becomes the leaf. A
    /// summary without text counts as none. A move alone writes nothing: see [`mark_leaf`](Session::mark_leaf).
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session or its entries are gone. If the leaf moved since,
    /// other than over bookkeeping entries, a plain move is still done as planned, but a summary is refused because it
    /// describes another branch, and so is a plan that found the leaf in place.
    pub fn apply_navigation(
        &mut self,
        plan: &NavigationPlan,
        summary: Option<&NewBranchSummary>,
        label: Option<&str>,
    ) -> Result<Navigated> {
        self.check_plan(plan.session)?;
        let summary = summary.filter(|summary| !summary.summary.is_empty());
        if plan.is_noop || summary.is_some() {
            self.check_plan_at(plan.session, plan.old_leaf.as_ref())?;
        }
        if plan.is_noop {
            return Ok(Navigated { new_leaf: self.leaf(), summary_entry: None, label_entry: None });
        }
        let find = |id: &EntryId| self.tree().node(id.as_str()).ok_or(Error::StalePlan);
        find(&plan.target)?;
        let new_leaf = plan.new_leaf.as_ref().map(find).transpose()?;
        let before = self.leaf;
        let summary_entry = match summary {
            Some(summary) => {
                let target = Position::entry_or_start(plan.new_leaf.as_ref());
                Some(self.branch_with_summary(target, summary)?)
            }
            None => {
                self.leaf = new_leaf;
                None
            }
        };
        let label = label.map(str::trim).filter(|label| !label.is_empty());
        let labelled = summary_entry.as_ref().unwrap_or(&plan.target);
        let label_entry =
            label.map(|label| self.append_label_change(labelled.as_str(), Some(label))).transpose();
        if label_entry.is_err() && summary_entry.is_none() {
            self.leaf = before;
        }
        Ok(Navigated { label_entry: label_entry?, summary_entry, new_leaf: self.leaf() })
    }

    /// Checks that a plan was made for this session as it is now, with the leaf where it is.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] otherwise. Bookkeeping entries after the leaf do not count.
    pub fn check_navigation(&self, plan: &NavigationPlan) -> Result<()> {
        self.check_plan_at(plan.session, plan.old_leaf.as_ref())
    }

    /// Fails with [`Error::StalePlan`] if a plan was made for another session or another leaf.
    pub(crate) fn check_plan_at(&self, session: Stamp, leaf: Option<&EntryId>) -> Result<()> {
        self.check_plan(session)?;
        if self.is_still_at(leaf) { Ok(()) } else { Err(Error::StalePlan) }
    }

    /// Returns true if the leaf is still at the entry where it was when something was planned, apart from bookkeeping
    /// entries. The entry is named by its id: the file may have been replaced and read again since.
    pub fn is_still_at(&self, planned: Option<&EntryId>) -> bool {
        let tree = self.tree();
        let planned = match planned.map(|id| tree.node(id.as_str())) {
            Some(None) => return false,
            Some(found) => found,
            None => None,
        };
        let effective = |leaf: Option<Node>| leaf.and_then(|leaf| tree.nearest_conversational(leaf));
        self.leaf() == planned || effective(self.leaf()) == effective(planned)
    }
}
