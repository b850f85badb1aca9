//! Navigation: moving the leaf inside one session.
//!
//! session -> **plan** -> apply
//!
//! A plan says where the leaf would go, what would be left behind and what belongs into the editor; making one
//! changes nothing. Applying it moves the leaf and appends a summary and a label if there are any. Asking people,
//! extensions and models is the application's business.

mod pop;

use crate::draft::NewBranchSummary;
use crate::entry::{Body, Content, Image};
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::{Node, Tree};

pub use pop::{PUSH_PREFIX, PopPlan, push_label};

/// What a move of the leaf would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NavigationPlan {
    /// The entry that was selected.
    pub target: Node,
    /// Its id.
    pub target_id: EntryId,
    /// Where the leaf is.
    pub old_leaf: Option<Node>,
    /// The id of that entry.
    pub old_leaf_id: Option<EntryId>,
    /// Where the leaf would go; `None` is before the first entry.
    pub new_leaf: Option<Node>,
    /// The id of that entry, by which it is found if the file was replaced meanwhile.
    pub new_leaf_id: Option<EntryId>,
    /// The text of the prompt that was selected, to be edited and sent again.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<Image>,
    /// The deepest entry on both paths.
    pub common_ancestor: Option<Node>,
    /// The entries that would be left behind, oldest first.
    pub abandoned: Vec<Node>,
    /// Some abandoned entry says something, so a summary can be made of them.
    pub can_summarize: bool,
    /// The leaf is there already: applying the plan does nothing, whatever else is asked for.
    pub is_noop: bool,
}

/// What a navigation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigated {
    /// Where the leaf is now: on the label or the summary if one was appended.
    pub new_leaf: Option<Node>,
    /// The branch summary that was appended.
    pub summary_entry: Option<EntryId>,
    /// The label entry that was appended.
    pub label_entry: Option<EntryId>,
}

/// How a target becomes a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Landing {
    /// A prompt is taken back into the editor, a root without conversation means "before everything".
    Select,
    /// The leaf goes onto the entry itself.
    Exact,
}

impl NavigationPlan {
    /// Lets the leaf go to an entry, or before the first one.
    pub(crate) fn land_on(&mut self, tree: &Tree, node: Option<Node>) {
        self.new_leaf = node;
        self.new_leaf_id = node.map(|node| tree.id(node));
    }

    /// Returns the types of the entries that applying the plan would append, in order; a move alone writes nothing.
    pub fn would_write(&self, with_summary: bool, with_label: bool) -> Vec<Kind> {
        let summary = (with_summary && !self.is_noop).then_some(Kind::BranchSummary);
        let label = (with_label && !self.is_noop).then_some(Kind::Label);
        summary.into_iter().chain(label).collect()
    }
}

impl Session {
    /// Plans a move to an entry that was selected. Changes nothing.
    ///
    /// A prompt (a user's or an extension's message) is taken back: the leaf goes to its parent and the text comes
    /// with the plan. A root that only keeps books means "before everything". Any other entry becomes the leaf.
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
        self.plan_landing(self.node(target)?, Landing::Select)
    }

    /// Plans a move onto an entry itself, whatever it is. Changes nothing.
    pub fn plan_exact_navigation(&self, target: impl AsRef<str>) -> Result<NavigationPlan> {
        self.plan_landing(self.node(target)?, Landing::Exact)
    }

    /// Plans a move to the newest tip at or below an entry. Changes nothing.
    ///
    /// A tip that is a prompt stays the leaf: who switches branches wants to see the branch as it is.
    pub fn plan_switch(&self, target: impl AsRef<str>) -> Result<NavigationPlan> {
        let node = self.node(target)?;
        self.plan_landing(self.tree().newest_tip_below(node).unwrap_or(node), Landing::Exact)
    }

    /// Plans a move to before the first entry; none if the leaf is there. Changes nothing.
    pub fn plan_reset(&self) -> Option<NavigationPlan> {
        let leaf = self.leaf()?;
        let tree = self.tree();
        let root = tree.path(leaf).first().copied()?;
        let abandoned = self.abandoned_entries(Some(leaf), None).entries;
        Some(NavigationPlan {
            target: root,
            target_id: tree.id(root),
            old_leaf: Some(leaf),
            old_leaf_id: Some(tree.id(leaf)),
            new_leaf: None,
            new_leaf_id: None,
            editor_text: None,
            images: Vec::new(),
            common_ancestor: None,
            can_summarize: abandoned.iter().any(|node| self.says_something(*node)),
            abandoned,
            is_noop: false,
        })
    }

    fn plan_landing(&self, target: Node, landing: Landing) -> Result<NavigationPlan> {
        let tree = self.tree();
        let is_noop = self.is_there(target, landing);
        let mut plan = NavigationPlan {
            target,
            target_id: tree.id(target),
            old_leaf: self.leaf(),
            old_leaf_id: self.leaf_id(),
            new_leaf: self.leaf(),
            new_leaf_id: self.leaf_id(),
            editor_text: None,
            images: Vec::new(),
            common_ancestor: self.leaf().and_then(|leaf| tree.common_ancestor(leaf, target)),
            abandoned: Vec::new(),
            can_summarize: false,
            is_noop,
        };
        if is_noop {
            return Ok(plan);
        }
        plan.abandoned = self.leaf().map_or_else(Vec::new, |leaf| tree.abandoned(leaf, target));
        plan.can_summarize = plan.abandoned.iter().any(|node| self.says_something(*node));
        plan.land_on(tree, self.readable(Some(target)));
        if landing == Landing::Select {
            self.land_by_selection(target, &mut plan)?;
        }
        Ok(plan)
    }

    fn land_by_selection(&self, target: Node, plan: &mut NavigationPlan) -> Result<()> {
        let tree = self.tree();
        let is_prompt = tree.role(target) == Some(Role::User) || tree.kind(target) == Kind::CustomMessage;
        if is_prompt && !tree.is_placeholder(target) {
            let (text, images) = self.prompt(target)?;
            plan.editor_text = Some(text);
            plan.images = images;
            plan.land_on(tree, self.readable(tree.parent(target)));
        } else if tree.parent(target).is_none() && tree.is_bookkeeping(target) {
            plan.land_on(tree, None);
        }
        Ok(())
    }

    /// Tells whether the leaf is at the target already, apart from entries that only keep books.
    fn is_there(&self, target: Node, landing: Landing) -> bool {
        let tree = self.tree();
        if self.leaf() == Some(target) {
            return true;
        }
        let here = self.leaf().and_then(|leaf| tree.nearest_conversational(leaf));
        match landing {
            Landing::Select => tree.nearest_conversational(target) == here,
            // Who asks for an entry that keeps books means that very entry.
            Landing::Exact => here == Some(target),
        }
    }

    /// Returns the nearest entry at or above `node` whose line can be read: others cannot be built upon.
    pub(crate) fn readable(&self, node: Option<Node>) -> Option<Node> {
        let tree = self.tree();
        node.and_then(|node| tree.ancestors(node).find(|node| !tree.is_placeholder(*node)))
    }

    fn says_something(&self, node: Node) -> bool {
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
    /// Moves the leaf as planned, and appends a summary of what was left and a label if there are any.
    ///
    /// The label goes onto the summary, or onto the target if there is no summary; its entry becomes the leaf. A
    /// summary without text counts as none. A move alone writes nothing: see [`mark_leaf`](Session::mark_leaf).
    ///
    /// The leaf may have moved since the plan was made. Where it goes does not depend on where it is, so a plain
    /// move is done all the same; a summary is refused, because it tells of another branch than the one that would
    /// be left, unless the leaf only moved over entries that keep books.
    pub fn apply_navigation(
        &mut self,
        plan: &NavigationPlan,
        summary: Option<&NewBranchSummary>,
        label: Option<&str>,
    ) -> Result<Navigated> {
        if plan.is_noop {
            return Ok(Navigated { new_leaf: self.leaf(), summary_entry: None, label_entry: None });
        }
        // The tree may have been read anew since: the entries of the plan must still be there.
        self.node(plan.target_id.as_str())?;
        let find = |id: &EntryId| self.tree().node(id.as_str()).ok_or(Error::StalePlan);
        let new_leaf = plan.new_leaf_id.as_ref().map(find).transpose()?;
        let summary = summary.filter(|summary| !summary.summary.is_empty());
        if summary.is_some() && !self.is_still_at(plan.old_leaf_id.as_ref()) {
            return Err(Error::StalePlan);
        }
        let before = self.leaf;
        let summary_entry = match summary {
            Some(summary) => {
                let target = Position::entry_or_start(plan.new_leaf_id.as_ref());
                Some(self.branch_with_summary(target, summary)?)
            }
            None => {
                self.leaf = new_leaf;
                None
            }
        };
        let label = label.map(str::trim).filter(|label| !label.is_empty());
        let labelled = summary_entry.as_ref().unwrap_or(&plan.target_id);
        let label_entry =
            label.map(|label| self.append_label_change(labelled.as_str(), Some(label))).transpose();
        if label_entry.is_err() && summary_entry.is_none() {
            self.leaf = before;
        }
        Ok(Navigated { label_entry: label_entry?, summary_entry, new_leaf: self.leaf() })
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
