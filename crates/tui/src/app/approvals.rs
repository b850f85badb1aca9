//! Tool calls that the user has to approve.

use std::collections::VecDeque;

use offshoot_agent::approval::{ApprovalAnswer, ApprovalRequest};
use offshoot_agent::permission::Rule;
use tokio::sync::mpsc::UnboundedReceiver;

use super::App;
use super::services::RuleScope;
use super::views::View;
use crate::dialog::{Approval, Decided, Item};

/// The requests for approval.
pub(super) struct Approvals {
    requests: UnboundedReceiver<ApprovalRequest>,
    waiting: VecDeque<ApprovalRequest>,
}

impl Approvals {
    pub(super) fn new(requests: UnboundedReceiver<ApprovalRequest>) -> Self {
        Approvals { requests, waiting: VecDeque::new() }
    }

    /// Waits for the next request, which then waits for its turn.
    pub(super) async fn receive(&mut self) {
        match self.requests.recv().await {
            Some(request) => self.waiting.push_back(request),
            None => std::future::pending().await,
        }
    }

    /// Returns true if no request waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops all requests, which refuses them.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

impl App<'_> {
    /// Asks about the next tool call, or the next question of an extension, unless something else is asked.
    pub(super) fn show_question(&mut self) {
        let now = self.now();
        if self.chat.is_being_typed(now) {
            return;
        }
        // A turn may have been stopped while its request waited.
        self.approvals.waiting.retain(|request| !request.is_over());
        if self.approvals.is_empty() {
            return self.show_dialog();
        }
        if !self.views.has_room() {
            return;
        }
        let Some(request) = self.approvals.waiting.pop_front() else { return };
        let question = Box::new(question(&request));
        let chosen = move |app: &mut App<'_>, decided: Option<Decided>| {
            let answer = match (decided, &request.rule) {
                (Some(Decided { answer: 0, .. }), _) => ApprovalAnswer::Yes,
                (Some(Decided { answer: 1, .. }), Some(_)) => ApprovalAnswer::Always,
                (Some(Decided { answer, reason }), Some(rule)) => match scopes(rule).get(answer - 2) {
                    Some((_, scope)) => {
                        if let Err(error) = app.services.keep_rule(rule, *scope) {
                            app.fail_with(error);
                        }
                        ApprovalAnswer::Always
                    }
                    None => ApprovalAnswer::No(reason),
                },
                (decided, _) => ApprovalAnswer::No(decided.map(|decided| decided.reason).unwrap_or_default()),
            };
            request.answer(answer);
        };
        self.views.put(View::Approval(question, Box::new(chosen)));
        self.views.delay_answer(now);
    }
}

/// Returns the scopes in which a rule can be kept. Only the user's own extensions can be trusted everywhere: `./` names
/// one of this project.
fn scopes(rule: &Rule) -> &'static [(&'static str, RuleScope)] {
    let scopes: &[_] =
        &[("Always in this project", RuleScope::Project), ("Always in all projects", RuleScope::User)];
    let is_own = rule.extension().is_some_and(|name| !name.starts_with("./"));
    if is_own { scopes } else { &scopes[..1] }
}

/// Returns the question whether a tool call may run.
fn question(request: &ApprovalRequest) -> Approval {
    let mut answers = vec![Item::new("Yes", "this time")];
    if let Some(rule) = &request.rule {
        answers.push(Item::new("Always", format!("{rule}, until you leave")));
        answers.extend(scopes(rule).iter().map(|(name, _)| Item::new(*name, rule.to_string())));
    }
    answers.push(Item::new("No", ""));
    let no = Item::new("No, and", "tell the model why");
    let title = format!("May {} do this?", request.tool);
    Approval::new(title, &request.about, request.diff(), answers, no)
}
