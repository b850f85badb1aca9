//! The writing half: a compaction carries the state of prompt and tools that its path has.

use crate::context::replay_system;
use crate::draft::{Draft, NewCompaction};
use crate::error::Result;
use crate::id::EntryId;
use crate::kind::Role;
use crate::session::Session;

impl Session {
    /// Appends a compaction. If the path has system messages, their replayed state is stored with it.
    pub fn append_compaction(&mut self, new: &NewCompaction) -> Result<EntryId> {
        let context = self.build_context()?;
        let system = replay_system(context.messages().filter(|message| message.role() == Role::System));
        self.append(&Draft::compaction(new, system.as_ref()))
    }
}
