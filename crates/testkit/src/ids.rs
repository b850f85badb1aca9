//! Ids that are the same in every run, and ids that collide.

use session_tree::{EntryId, IdSource};

use crate::rng::Rng;

/// Gives `00000001`, `00000002` and so on to entries, `session-1` and so on to sessions.
///
/// ```
/// use session_tree::IdSource;
/// use testkit::ids::CountingIds;
///
/// let mut ids = CountingIds::default();
/// assert_eq!(ids.entry_id(), "00000001");
/// assert_eq!(ids.entry_id(), "00000002");
/// assert_eq!(ids.session_id(), "session-1");
/// ```
#[derive(Debug, Clone, Default)]
pub struct CountingIds {
    entries: u64,
    sessions: u64,
}

impl CountingIds {
    /// Starts after `last`, so that two writers of one file have different ids.
    pub fn after(last: u64) -> Self {
        Self { entries: last, sessions: 0 }
    }
}

impl IdSource for CountingIds {
    fn entry_id(&mut self) -> EntryId {
        self.entries += 1;
        EntryId::from(format!("{:08x}", self.entries))
    }

    fn long_entry_id(&mut self) -> EntryId {
        self.entries += 1;
        EntryId::from(format!("{:08x}-0000-4000-8000-000000000000", self.entries))
    }

    fn session_id(&mut self) -> String {
        self.sessions += 1;
        format!("session-{}", self.sessions)
    }
}

/// Draws entry ids from so few bits that they collide.
#[derive(Debug, Clone)]
pub struct NarrowIds {
    rng: Rng,
    bits: u32,
    long: u64,
}

impl NarrowIds {
    /// Makes a source of `bits` random bits (at most 32), drawn from `seed`.
    pub fn new(bits: u32, seed: u64) -> Self {
        Self { rng: Rng::new(seed), bits: bits.min(32), long: 0 }
    }
}

impl IdSource for NarrowIds {
    fn entry_id(&mut self) -> EntryId {
        EntryId::from(format!("{:08x}", self.rng.below(1 << self.bits)))
    }

    fn long_entry_id(&mut self) -> EntryId {
        self.long += 1;
        EntryId::from(format!("{:08x}-0000-4000-8000-000000000000", self.long))
    }

    fn session_id(&mut self) -> String {
        format!("session-{:016x}", self.rng.next_u64())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn counted_ids_never_repeat() {
        let mut ids = CountingIds::after(0xff);
        let given: HashSet<EntryId> = (0..1_000).map(|_| ids.entry_id()).collect();
        assert_eq!(given.len(), 1_000);
        assert!(given.contains("00000100"));
        assert!(given.iter().all(|id| id.as_str().len() == 8));
    }

    #[test]
    fn narrow_ids_collide_and_long_ones_do_not() {
        let mut ids = NarrowIds::new(4, 7);
        let given: HashSet<EntryId> = (0..100).map(|_| ids.entry_id()).collect();
        assert_eq!(given.len(), 16, "four bits give sixteen ids, all of them in a hundred draws");
        assert_ne!(ids.long_entry_id(), ids.long_entry_id());
    }
}
