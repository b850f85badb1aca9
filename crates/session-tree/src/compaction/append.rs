//! Appending a compaction, with the state of prompt and tools that its path has.

use super::CompactionPlan;
use crate::context::replay_system;
use crate::draft::{Draft, KeepFrom, NewCompaction};
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::Role;
use crate::position::Position;
use crate::session::Session;

impl Session {
    /// Compacts the path to the leaf: in later contexts the summary replaces all entries that are not kept.
    ///
    /// ```
    /// # use session_tree::{KeepFrom, Message, Options};
    /// # let mut session = Options::new().in_memory("/project")?;
    /// session.append(Message::user("List the files"))?;
    /// session.append(Message::user("And again"))?;
    /// session.compact("Listed the files.", KeepFrom::LastPrompt)?;
    /// let texts: Vec<_> = session.context()?.to_request().iter().map(|message| message.text().into_owned()).collect();
    /// assert!(texts[0].contains("Listed the files."));
    /// assert_eq!(texts[1], "And again");
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    ///
    /// [`Session::plan_compaction`] chooses the entries to keep by their size.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] if the entry to keep from is not on the path; otherwise as [`Session::append`].
    pub fn compact(&mut self, summary: impl Into<String>, keep: impl Into<KeepFrom>) -> Result<EntryId> {
        let keep = keep.into();
        if let KeepFrom::Entry(id) = &keep {
            let node = self.node(id)?;
            if !self.leaf().is_some_and(|leaf| self.tree().is_on_path(node, leaf)) {
                return Err(Error::NotOnPath { id: id.clone() });
            }
        }
        let tokens_before = self.context_estimate(Position::Leaf)?.tokens;
        let summary = summary.into();
        let new =
            NewCompaction { summary, keep, tokens_before, details: None, usage: None, from_hook: false };
        self.append_compaction(&new)
    }

    /// Appends a planned compaction: `new` is usually made from the plan's first kept entry and
    /// [summary text](super::CompactionPlan::summary_text).
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if the plan was made for another session, or the leaf left the
    /// planned path.
    pub fn apply_compaction(&mut self, plan: &CompactionPlan, new: &NewCompaction) -> Result<EntryId> {
        self.check_plan(plan.session)?;
        let planned = self.tree().node(plan.leaf.as_str());
        let is_below =
            planned.zip(self.leaf()).is_some_and(|(planned, leaf)| self.tree().is_on_path(planned, leaf));
        if !is_below {
            return Err(Error::StalePlan);
        }
        self.append_compaction(new)
    }

    /// Appends a compaction. If the path has system messages, their replayed state is stored with it.
    pub fn append_compaction(&mut self, new: &NewCompaction) -> Result<EntryId> {
        let context = self.context()?;
        let system = replay_system(context.messages().filter(|message| message.role() == Role::System));
        let first_kept = match &new.keep {
            KeepFrom::Entry(id) => Some(id.clone()),
            KeepFrom::LastPrompt => self.last_prompt(),
            KeepFrom::Nothing => None,
        };
        self.append(Draft::compaction(new, first_kept.as_ref(), system.as_ref()))
    }

    /// Returns the latest prompt on the path to the leaf.
    fn last_prompt(&self) -> Option<EntryId> {
        let tree = self.tree();
        let mut path = tree.ancestors(self.leaf()?);
        path.find(|node| tree.role(*node) == Some(Role::User)).map(|node| tree.id(node))
    }
}
