//! Approval of tool calls: a policy decides, or a person is asked.
//!
//! [`ReadyCall`] -> **[`Approver`]** -> [`Approval`] -> run it, or report the refusal

use std::fmt;
use std::pin::Pin;

use crate::permission::{Decision, Mode, Permissions, Verdict};
use crate::tools::ReadyCall;

/// Decides which tool calls may run.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn approve<'a>(&'a self, call: &'a ReadyCall) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;
}

/// Whether a tool call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It may.
    Yes,
    /// It may not; the model gets the reason.
    No(String),
}

/// Rules without a user: a call that they do not allow is refused.
impl Approver for Permissions {
    fn approve<'a>(&'a self, call: &'a ReadyCall) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(std::future::ready(approval_of(&self.judge_call(call))))
    }
}

/// Decides about a call of an agent that has no approver: reading inside the working directory is allowed.
pub(super) fn without_approver(call: &ReadyCall) -> Approval {
    approval_of(&Permissions::new(Mode::DenyAsking).judge_call(call))
}

fn approval_of(verdict: &Verdict) -> Approval {
    match verdict.decision {
        Decision::Allow => Approval::Yes,
        Decision::Ask | Decision::Deny => Approval::No(format!("not allowed: {}", verdict.reason)),
    }
}
