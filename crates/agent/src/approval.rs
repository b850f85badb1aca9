//! Approval of tool calls: rules decide, or a front end is asked.
//!
//! [`ReadyCall`] -> rules -> **[`ApprovalRequest`]** -> front end -> [`Approval`] -> run it, or report the refusal

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use crate::permission::{Decision, Mode, Permissions, Reason, Rule, Verdict, always_rule};
use crate::shared::lock;
use crate::tool::{Effect, FileChange, Preview};
use crate::tools::ReadyCall;

/// Decides which tool calls may run.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn approve<'a>(&'a self, call: &'a ReadyCall) -> ApprovalFuture<'a>;
}

/// A decision that may wait for the user.
pub type ApprovalFuture<'a> = Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;

/// Whether a tool call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It may.
    Yes,
    /// It may not; the model gets the reason.
    No(String),
}

/// Rules without a user: calls that they do not allow are refused.
impl Approver for Permissions {
    fn approve<'a>(&'a self, call: &'a ReadyCall) -> ApprovalFuture<'a> {
        Box::pin(std::future::ready(approval_of(&self.judge_call(call))))
    }
}

/// Decides about a call if no approver is set: reading inside the working directory is allowed.
pub(crate) fn without_approver(call: &ReadyCall) -> Approval {
    approval_of(&Permissions::new(Mode::DenyAsking).judge_call(call))
}

fn approval_of(verdict: &Verdict) -> Approval {
    match verdict.decision {
        Decision::Allow => Approval::Yes,
        Decision::Ask | Decision::Deny => Approval::No(format!("not allowed: {}", verdict.reason)),
    }
}

/// A tool call that the rules do not decide about.
#[derive(Debug)]
pub struct ApprovalRequest {
    /// The id of the call.
    pub call_id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Json,
    /// The paths that the tool will open, with links followed.
    pub paths: Vec<PathBuf>,
    /// The effect of the call in words, in full, and the reason for asking if it is not obvious.
    pub about: String,
    /// The change that an edit or a write would make; none for other calls.
    pub change: Option<FileChange>,
    /// The rule that [`ApprovalAnswer::Always`] adds; none if that would allow too much.
    pub rule: Option<Rule>,
    answer: oneshot::Sender<ApprovalAnswer>,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// The call may run.
    Yes,
    /// This call and similar ones may run, until the agent ends.
    Always,
    /// The call may not run. The model gets the reason, unless it is empty.
    No(String),
}

impl ApprovalRequest {
    /// Returns the lines that an edit or a write would change; empty for other calls.
    pub fn diff(&self) -> &str {
        self.change.as_ref().map_or("", |change| &change.diff)
    }

    /// Returns true if the answer is no longer needed: the call was stopped.
    pub fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Waits until the answer is no longer needed.
    pub async fn over(&mut self) {
        self.answer.closed().await;
    }

    /// Answers the request. Dropping a request refuses the call.
    pub fn answer(self, answer: ApprovalAnswer) {
        // The call may have been stopped.
        drop(self.answer.send(answer));
    }
}

/// The rules about tool calls, and the front end that decides about the other calls. Clones share both.
#[derive(Clone, Default)]
pub(crate) struct Approvals {
    permissions: Arc<Mutex<Permissions>>,
    front_end: Arc<Mutex<Option<mpsc::UnboundedSender<ApprovalRequest>>>>,
}

impl Approvals {
    /// Registers the receiver of all further requests.
    pub(crate) fn register(&self) -> mpsc::UnboundedReceiver<ApprovalRequest> {
        let (send, receive) = mpsc::unbounded_channel();
        *lock(&self.front_end) = Some(send);
        receive
    }

    /// Sends a request. Returns false if no front end receives it.
    fn send(&self, request: ApprovalRequest) -> bool {
        lock(&self.front_end).as_ref().is_some_and(|sender| sender.send(request).is_ok())
    }

    pub(crate) fn permissions(&self) -> MutexGuard<'_, Permissions> {
        lock(&self.permissions)
    }

    async fn ask(&self, call: &ReadyCall, reason: Reason) -> Approval {
        let change = match call.preview().await {
            Preview::Nothing => None,
            Preview::Change(change) => Some(change),
            // A call that fails anyway needs no approval.
            Preview::Fails(output) => return Approval::No(output.all_text()),
        };
        let rule = self.rule(call, &reason);
        let (answer, answered) = oneshot::channel();
        let request = ApprovalRequest {
            tool: call.call.name.clone(),
            arguments: call.call.arguments.clone(),
            paths: call.place.paths.iter().map(|path| path.real().to_owned()).collect(),
            call_id: call.call.id.clone(),
            about: about(call, &reason),
            change,
            rule: rule.clone(),
            answer,
        };
        if !self.send(request) {
            return Approval::No(format!("not allowed: {reason}, and the user cannot be asked"));
        }
        match answered.await {
            Ok(ApprovalAnswer::Yes) => Approval::Yes,
            Ok(ApprovalAnswer::Always) => {
                self.permissions().rules.extend(rule);
                Approval::Yes
            }
            Ok(ApprovalAnswer::No(reason)) if !reason.is_empty() => {
                Approval::No(format!("declined by the user: {reason}"))
            }
            Ok(ApprovalAnswer::No(_)) | Err(_) => Approval::No("declined by the user".to_owned()),
        }
    }

    /// Returns the rule that would allow this call and similar ones. Returns `None` if the user would still be asked.
    fn rule(&self, call: &ReadyCall, reason: &Reason) -> Option<Rule> {
        // Calls shown because of their provenance are already allowed; paths that may hold secrets are asked about each
        // time.
        let rule = always_rule(call)
            .filter(|_| !matches!(reason, Reason::Provenance(_) | Reason::OpensSecrets(_)))?;
        let mut permissions = self.permissions().clone();
        permissions.rules.push(rule.clone());
        (permissions.judge_call(call).decision == Decision::Allow).then_some(rule)
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approvals")
    }
}

impl Approver for Approvals {
    fn approve<'a>(&'a self, call: &'a ReadyCall) -> ApprovalFuture<'a> {
        let verdict = self.permissions().judge_call(call);
        match verdict.decision {
            Decision::Allow | Decision::Deny => Box::pin(std::future::ready(approval_of(&verdict))),
            Decision::Ask => Box::pin(self.ask(call, verdict.reason)),
        }
    }
}

/// Describes what would happen, in full, and why the user is asked if that is not obvious.
fn about(call: &ReadyCall, reason: &Reason) -> String {
    let without_rules = Permissions::new(Mode::AskFor).judge_call(call).reason;
    let what = match (&call.effect, &call.call.arguments) {
        (Effect::Extension { .. }, Json::Object(given)) if !given.is_empty() => {
            format!("{without_rules} with {}", call.call.arguments)
        }
        (effect, _) => what(effect, &without_rules),
    };
    match reason {
        Reason::Rule(_) => format!("asked because of {reason}\n{what}"),
        Reason::MayConcern(_) | Reason::Provenance(_) | Reason::OpensSecrets(_)
            if !what.contains(&reason.to_string()) =>
        {
            format!("asked because {reason}\n{what}")
        }
        _ => what,
    }
}

/// Describes the effect: the whole command, or every path as the model wrote it and where it leads.
fn what(effect: &Effect, without_rules: &Reason) -> String {
    let paths = match effect {
        Effect::Runs(text) | Effect::Other(text) => return text.clone(),
        Effect::Extension { .. } => return without_rules.to_string(),
        Effect::Reads(paths) | Effect::Writes(paths) => paths,
    };
    match (paths.as_slice(), without_rules) {
        ([path], Reason::Writes(real) | Reason::ReadsOutside(real)) if real.ends_with(path) => {
            without_rules.to_string()
        }
        _ => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("{}\n{without_rules}", paths.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests;
