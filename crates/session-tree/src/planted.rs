//! Bugs on purpose, one at a time, to show that the proofs of this engine would notice them.
//!
//! With the feature `planted` a program may choose a bug while it runs; `offshoot-proof` does. Without it, which is how
//! everybody else builds the engine, the question is answered by a constant and nothing is left of it.

/// A mistake that an engine like this one could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub, reason = "the module is private then"))]
#[cfg_attr(
    not(feature = "write"),
    allow(dead_code, reason = "who does not write cannot make these mistakes")
)]
pub enum Bug {
    /// An append continues on a line that was cut off.
    GlueToTornTail = 1,
    /// The tree changes although the line could not be written.
    MemoryBeforeDisk,
    /// A sync that failed is tried again, as if the system had kept what it could not save.
    TrustAfterFailedSync,
    /// An id is drawn without looking whether it is free.
    RepeatedIds,
    /// The leaf is the last line of the file, whatever that is.
    LeafIsLastLine,
    /// A migration leaves out lines that it cannot read.
    MigrationDropsBadLines,
    /// A label that is there is never replaced.
    FirstLabelWins,
}

#[cfg(feature = "planted")]
mod chosen {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::Bug;

    static CHOSEN: AtomicU8 = AtomicU8::new(0);

    /// Chooses the bug of this process, or none.
    pub fn plant(bug: Option<Bug>) {
        CHOSEN.store(bug.map_or(0, |bug| bug as u8), Ordering::Relaxed);
    }

    pub(crate) fn has(bug: Bug) -> bool {
        CHOSEN.load(Ordering::Relaxed) == bug as u8
    }
}

#[cfg(feature = "planted")]
pub(crate) use chosen::has;
#[cfg(feature = "planted")]
pub use chosen::plant;

/// Tells whether this process has a bug: never.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub(crate) const fn has(_: Bug) -> bool {
    false
}
