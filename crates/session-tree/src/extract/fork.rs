//! Planning and making a fork.

use super::create::Destination;
use super::plan::Extract;
use crate::entry::Image;
use crate::error::{Error, Result};
use crate::id::{EntryId, Stamp};
use crate::kind::Role;
use crate::session::{Options, Session};

/// The end of a fork in relation to the selected entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForkPosition {
    /// Before a prompt, whose text returns to the editor.
    #[default]
    Before,
    /// At any entry, which is the last one of the fork.
    At,
}

/// A planned fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPlan {
    session: Stamp,
    /// The last entry of the fork; `None`: it starts empty.
    pub target: Option<EntryId>,
    /// The text of the prompt the fork was made before.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<Image>,
}

impl Session {
    /// Plans a fork at an entry. Changes nothing.
    ///
    /// A session whose file does not exist yet cannot be forked; one in memory can.
    pub fn plan_fork(&self, entry: &str, position: ForkPosition) -> Result<ForkPlan> {
        let (tree, not_a_prompt) = (self.tree(), || Error::NotAPrompt { id: EntryId::from(entry) });
        let node = tree.node(entry).ok_or_else(not_a_prompt)?;
        let mut plan = ForkPlan {
            session: self.stamp,
            target: Some(tree.id(node)),
            editor_text: None,
            images: Vec::new(),
        };
        if position == ForkPosition::Before {
            if tree.role(node) != Some(Role::User) || tree.is_placeholder(node) {
                return Err(not_a_prompt());
            }
            let (text, images) = self.prompt(node)?;
            let target = tree.parent(node).map(|parent| tree.id(parent));
            plan = ForkPlan { target, editor_text: Some(text), images, ..plan };
        }
        let is_unsaved = self.file().is_some() && !self.is_saved();
        if plan.target.is_some() && is_unsaved { Err(Error::NotSaved) } else { Ok(plan) }
    }

    /// Makes the planned session: the path to the target, or an empty session.
    ///
    /// The file is written at once if the fork has a conversation, otherwise with its first message.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session, or its target is gone.
    pub fn fork(&self, plan: &ForkPlan, to: Destination, options: Options) -> Result<Session> {
        self.check_plan(plan.session)?;
        match &plan.target {
            Some(target) => {
                let at = self.tree().node(target.as_str()).ok_or(Error::StalePlan)?;
                self.extract(&self.plan_extract(Extract::Path { at })?, to, options)
            }
            None => to.start(self.as_parent(), options),
        }
    }
}
