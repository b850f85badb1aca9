//! Tool calls that the user has to approve.

use std::collections::VecDeque;

use offshoot_agent::approval::{ApprovalAnswer, ApprovalRequest};
use tokio::sync::mpsc::UnboundedReceiver;

use super::App;
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
                (Some(Decided { answer: 2, .. }), Some(rule)) => {
                    if let Err(error) = app.services.allow_in_project(rule) {
                        app.fail_with(error);
                    }
                    ApprovalAnswer::Always
                }
                (decided, _) => ApprovalAnswer::No(decided.map(|decided| decided.reason).unwrap_or_default()),
            };
            request.answer(answer);
        };
        self.views.put(View::Approval(question, Box::new(chosen)));
        self.views.delay_answer(now);
    }
}

/// Returns the question whether a tool call may run.
fn question(request: &ApprovalRequest) -> Approval {
    let mut answers = vec![Item::new("Yes", "this time")];
    if let Some(rule) = &request.rule {
        answers.push(Item::new("Always", format!("{rule}, until you leave")));
        answers.push(Item::new("Always in this project", rule.to_string()));
    }
    answers.push(Item::new("No", ""));
    let no = Item::new("No, and", "tell the model why");
    let title = format!("May {} do this?", request.tool);
    Approval::new(title, &request.about, request.diff(), answers, no)
}
