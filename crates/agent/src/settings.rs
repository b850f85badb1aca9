//! How the agent behaves, as far as people may choose.

use session_tree::{BranchSummarySettings, CompactionSettings};

use crate::turn::{QueueMode, RetryPolicy};

/// How the agent behaves.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// When the context is compacted, and how much of it stays.
    pub compaction: CompactionSettings,
    /// How branches are summed up.
    pub branch_summary: BranchSummarySettings,
    /// How failures of a model are met.
    pub retry: RetryPolicy,
    /// Whether steering messages are sent one by one.
    pub steering_mode: QueueMode,
    /// Whether follow-ups are sent one by one.
    pub follow_up_mode: QueueMode,
    /// How long to wait for another program that holds the lock of the session file.
    pub lock_wait: LockWait,
}

/// How long to wait for another program that holds the lock of the session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockWait {
    /// At most 10 seconds.
    #[default]
    Limited,
    /// Until the lock is free or the work is cancelled.
    UntilCancelled,
}
