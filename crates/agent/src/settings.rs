//! The settings of the agent.

use session_tree::{BranchSummarySettings, CompactionSettings};

use crate::turn::{QueueMode, RetryPolicy};

/// The settings of the agent.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// When to compact the context, and how much of it to keep.
    pub compaction: CompactionSettings,
    /// How to summarise branches.
    pub branch_summary: BranchSummarySettings,
    /// How to retry failed requests.
    pub retry: RetryPolicy,
    /// Whether to send steering messages one at a time.
    pub steering_mode: QueueMode,
    /// Whether to send follow-ups one at a time.
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
