//! Approval of tool calls: a policy decides, or a person is asked.
//!
//! checked call -> **[`ApprovalRequest`]** -> [`Approver`] -> [`Approval`] -> run it, or report the refusal

use std::fmt;
use std::path::Path;
use std::pin::Pin;

use crate::permission::{Caution, Decision, Mode, Permissions, Verdict};
use crate::tool::{Effect, Preview, ToolCall};
use crate::tools::{ReadyCall, ResolvedPath};

/// Decides which tool calls may run.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn approve<'a>(
        &'a self,
        request: &'a ApprovalRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;
}

/// Whether a tool call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It may.
    Yes,
    /// It may not; the model gets the reason.
    No(String),
}

/// A tool call that waits for approval.
#[derive(Debug)]
pub struct ApprovalRequest<'a> {
    call: &'a ReadyCall,
    effect: Effect,
    caution: Option<Caution>,
}

impl<'a> ApprovalRequest<'a> {
    /// Makes the request for a call. With a reason for caution, a person should look at a call that would be allowed
    /// otherwise.
    pub fn new(call: &'a ReadyCall, caution: Option<Caution>) -> Self {
        ApprovalRequest { effect: call.effect(), call, caution }
    }

    /// Returns the call.
    pub fn call(&self) -> &ToolCall {
        self.call.call()
    }

    /// Returns what the call would do to the world.
    pub fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Returns the paths that the call names, with what they lead to.
    pub fn paths(&self) -> &[ResolvedPath] {
        self.call.paths()
    }

    /// Returns the directory that relative paths start from.
    pub fn cwd(&self) -> &Path {
        self.call.cwd()
    }

    /// Returns why a person should look at the call even if a rule allows it.
    pub fn caution(&self) -> Option<Caution> {
        self.caution
    }

    /// Works out what the call would change. Reads the files that it names.
    pub async fn preview(&self) -> Preview {
        self.call.preview().await
    }
}

/// Rules without a user: a call that they do not allow is refused.
impl Approver for Permissions {
    fn approve<'a>(
        &'a self,
        request: &'a ApprovalRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(std::future::ready(approval_of(&self.judge_request(request))))
    }
}

/// Decides about a call of an agent that has no approver: reading inside the working directory is allowed.
pub(super) fn without_approver(request: &ApprovalRequest<'_>) -> Approval {
    approval_of(&Permissions::new(Mode::DenyAsking).judge_request(request))
}

fn approval_of(verdict: &Verdict) -> Approval {
    match verdict.decision {
        Decision::Allow => Approval::Yes,
        Decision::Ask | Decision::Deny => Approval::No(format!("not allowed: {}", verdict.reason)),
    }
}
