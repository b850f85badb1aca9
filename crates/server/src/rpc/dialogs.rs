//! Dialogs: questions of extensions, approvals of tool calls, and what extensions show.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use offshoot_agent::approval::{ApprovalAnswer, ApprovalRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::AgentHandle;
use offshoot_extensions::host::{AskedQuestion, FrontEnd, HostEvent, Notice, Question};
use serde_json::{Map, Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::client::Reply;
use super::events::{WireEvent, leaf_changed, without_stack};
use super::server::Server;
use crate::failure::{Failure, FailureKind};

/// The answers to an approval.
const YES: &str = "Yes";
const ALWAYS: &str = "Always";
const NO: &str = "No";

/// The output, questions and reports of extensions.
#[derive(Debug)]
pub struct HostEvents(mpsc::UnboundedReceiver<HostEvent>);

impl HostEvents {
    pub(crate) async fn next(&mut self) -> Option<HostEvent> {
        self.0.recv().await
    }
}

/// Makes the front end of extensions and the receiver of what they show, for a [`Server`].
pub fn front_end() -> (FrontEnd, HostEvents) {
    let (send, receive) = mpsc::unbounded_channel();
    // The receiver may be gone during shutdown.
    let front_end: FrontEnd = Arc::new(move |event| drop(send.send(event)));
    (front_end, HostEvents(receive))
}

/// The dialogs that are open.
#[derive(Debug, Default)]
pub(crate) struct Dialogs {
    open: RefCell<HashMap<String, Dialog>>,
    /// Receives the requests for approval.
    approvals: RefCell<Option<JoinHandle<()>>>,
    /// True if an extension wants the program to end.
    is_end_requested: Cell<bool>,
}

#[derive(Debug)]
enum Dialog {
    Question { number: u64, is_confirmation: bool, answer: oneshot::Sender<Option<Json>> },
    Approval(Box<ApprovalRequest>),
}

impl Dialog {
    fn answer(self, fields: &Map<String, Json>) {
        let is_cancelled = fields.get("cancelled") == Some(&Json::Bool(true));
        let value = fields.get("value").filter(|_| !is_cancelled);
        match self {
            Dialog::Question { is_confirmation: true, answer, .. } => {
                let is_confirmed = !is_cancelled && fields.get("confirmed") == Some(&Json::Bool(true));
                // The question may have been closed.
                drop(answer.send(Some(is_confirmed.into())));
            }
            Dialog::Question { answer, .. } => drop(answer.send(value.cloned())),
            Dialog::Approval(request) => {
                let answer = match value.and_then(Json::as_str) {
                    Some(YES) => ApprovalAnswer::Yes,
                    Some(ALWAYS) if request.rule.is_some() => ApprovalAnswer::Always,
                    Some(NO) | None => ApprovalAnswer::No(String::new()),
                    Some(reason) => ApprovalAnswer::No(reason.to_owned()),
                };
                request.answer(answer);
            }
        }
    }
}

impl Dialogs {
    /// Answers all dialogs with no.
    pub(crate) fn cancel_all(&self) {
        for (_, dialog) in self.open.take() {
            dialog.answer(&Map::new());
        }
    }

    /// Refuses the tool calls that a client would have to approve.
    pub(crate) fn stop_approvals(&self) {
        if let Some(task) = self.approvals.take() {
            task.abort();
        }
        let (approvals, questions) = self
            .open
            .take()
            .into_iter()
            .partition::<HashMap<_, _>, _>(|(_, dialog)| matches!(dialog, Dialog::Approval(_)));
        self.open.replace(questions);
        drop(approvals);
    }

    /// Ends the server if an extension wants that.
    pub(crate) fn end_if_requested(&self, shutdown: &Cancel) {
        if self.is_end_requested.get() {
            shutdown.cancel();
        }
    }

    /// Ends the server if an extension wants that and no turn runs.
    pub(crate) fn end_if_requested_while_idle(&self, agent: &AgentHandle, shutdown: &Cancel) {
        if !agent.has_turn() {
            self.end_if_requested(shutdown);
        }
    }
}

impl Server {
    /// Answers a dialog.
    pub(crate) fn answer_dialog(&self, fields: &Map<String, Json>) -> Reply {
        let id = fields.get("id").and_then(Json::as_str).unwrap_or_default();
        let Some(dialog) = self.dialogs.open.borrow_mut().remove(id) else {
            let text = format!("no dialog {id} is open: it was answered, or it ran out of time");
            return Err(Failure::of(FailureKind::BadInput, text));
        };
        dialog.answer(fields);
        Ok(String::new())
    }

    /// Sends the requests for approval to clients from now on.
    pub(crate) fn receive_approvals(self: &Rc<Self>) {
        let is_received = self.dialogs.approvals.borrow().as_ref().is_some_and(|task| !task.is_finished());
        if is_received {
            return;
        }
        let (server, mut requests) = (Rc::downgrade(self), self.agent.approvals());
        let task = tokio::task::spawn_local(async move {
            while let Some(request) = requests.recv().await {
                let Some(server) = server.upgrade() else { return };
                server.ask_for_approval(request).await;
            }
        });
        self.dialogs.approvals.replace(Some(task));
    }

    async fn ask_for_approval(&self, request: ApprovalRequest) {
        let id = Uuid::new_v4().to_string();
        let mut options = vec![YES];
        if request.rule.is_some() {
            options.push(ALWAYS);
        }
        options.push(NO);
        let message = json!({
            "type": "extension_ui_request", "id": id, "method": "select",
            "title": format!("Allow {}?\n{}", request.tool, request.about), "options": options,
            "approval": {
                "toolName": request.tool, "args": request.arguments, "paths": request.paths,
                "about": request.about, "diff": request.diff(),
                "rule": request.rule.as_ref().map(ToString::to_string),
            },
        });
        self.events_sent().await;
        self.dialogs.open.borrow_mut().insert(id, Dialog::Approval(Box::new(request)));
        let clients = self.clients.borrow().clone();
        for client in clients.iter().filter(|client| client.approves.get()) {
            client.send_message(&message).await;
        }
    }

    /// Shows what an extension shows, and asks what it asks.
    pub(crate) async fn take_host_event(&self, event: HostEvent) {
        match event {
            HostEvent::Ask(asked) => self.ask(asked).await,
            HostEvent::Close(number) => self.close(number).await,
            HostEvent::Show(_, notice) => {
                if let Some(fields) = notice_json(notice) {
                    self.send_ui_request(&Uuid::new_v4().to_string(), &fields).await;
                }
            }
            HostEvent::EditorText(text) => {
                let fields = json!({"method": "set_editor_text", "text": text});
                self.send_ui_request(&Uuid::new_v4().to_string(), &fields).await;
            }
            HostEvent::Failed(failure) => {
                let fields = json!({
                    "extensionPath": failure.extension, "event": failure.doing,
                    "error": without_stack(&failure.message),
                });
                self.publish([WireEvent::new("extension_error", fields)]).await;
            }
            HostEvent::NotLoaded(text) => {
                let fields = json!({"extensionPath": "", "event": "load", "error": text});
                self.publish([WireEvent::new("extension_error", fields)]).await;
            }
            HostEvent::Moved(from) => {
                let id = self.agent.read(|session| session.header().id().into_owned());
                let event = leaf_changed(&self.agent, &id, from.as_ref(), "extension");
                self.publish(event).await;
            }
            HostEvent::Reload => drop(self.agent.reload(None)),
            HostEvent::Shutdown => {
                self.dialogs.is_end_requested.set(true);
                self.dialogs.end_if_requested_while_idle(&self.agent, &self.shutdown);
            }
            HostEvent::Waiting(extension, event) => {
                tracing::warn!(extension, event, "the agent waits for an extension");
            }
            HostEvent::Loaded | HostEvent::Registered | HostEvent::Theme(_) => {}
        }
    }

    async fn ask(&self, asked: AskedQuestion) {
        let AskedQuestion { id: number, question, limit, answer, .. } = asked;
        let is_confirmation = matches!(question, Question::Confirm { .. });
        let mut fields = match question {
            Question::Select { title, options } => {
                json!({"method": "select", "title": title, "options": options})
            }
            Question::Confirm { title, message } => {
                json!({"method": "confirm", "title": title, "message": message})
            }
            Question::Input { title, placeholder } if placeholder.is_empty() => {
                json!({"method": "input", "title": title})
            }
            Question::Input { title, placeholder } => {
                json!({"method": "input", "title": title, "placeholder": placeholder})
            }
            Question::Editor { title, prefill } if prefill.is_empty() => {
                json!({"method": "editor", "title": title})
            }
            Question::Editor { title, prefill } => {
                json!({"method": "editor", "title": title, "prefill": prefill})
            }
            // A component needs a terminal; the extension gets no answer.
            Question::Custom { .. } => return drop(answer.send(None)),
        };
        if let Some(limit) = limit {
            fields["timeout"] = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).into();
        }
        if self.clients.borrow().is_empty() {
            return drop(answer.send(is_confirmation.then_some(Json::Bool(false))));
        }
        let id = Uuid::new_v4().to_string();
        let dialog = Dialog::Question { number, is_confirmation, answer };
        self.dialogs.open.borrow_mut().insert(id.clone(), dialog);
        self.send_ui_request(&id, &fields).await;
    }

    /// Closes a question that is answered or ran out of time.
    async fn close(&self, number: u64) {
        let is_meant =
            |dialog: &Dialog| matches!(dialog, Dialog::Question { number: own, .. } if *own == number);
        self.dialogs.open.borrow_mut().retain(|_, dialog| !is_meant(dialog));
    }

    async fn send_ui_request(&self, id: &str, fields: &Json) {
        let mut message = json!({"type": "extension_ui_request", "id": id});
        if let (Json::Object(message), Json::Object(fields)) = (&mut message, fields) {
            message.extend(fields.clone());
        }
        let clients = self.clients.borrow().clone();
        for client in clients {
            client.send_message(&message).await;
        }
    }
}

/// Spells what an extension shows; none for parts that need a terminal.
fn notice_json(notice: Notice) -> Option<Json> {
    Some(match notice {
        Notice::Notify { message, level } => {
            json!({"method": "notify", "message": message, "notifyType": level})
        }
        Notice::Status { key, text: Some(text) } => {
            json!({"method": "setStatus", "statusKey": key, "statusText": text})
        }
        Notice::Status { key, text: None } => json!({"method": "setStatus", "statusKey": key}),
        Notice::Widget { component: Some(_), .. } => return None,
        Notice::Widget { key, lines, below, .. } => {
            let mut fields = json!({"method": "setWidget", "widgetKey": key});
            if let Some(lines) = lines {
                fields["widgetLines"] = lines.into();
            }
            if below {
                fields["widgetPlacement"] = "belowEditor".into();
            }
            fields
        }
        Notice::Title { text } => json!({"method": "setTitle", "title": text}),
        Notice::EditorText { text } | Notice::Paste { text } => {
            json!({"method": "set_editor_text", "text": text})
        }
        // These concern a terminal.
        Notice::Footer { .. }
        | Notice::Header { .. }
        | Notice::Working { .. }
        | Notice::WorkingVisible { .. }
        | Notice::WorkingIndicator { .. }
        | Notice::ThinkingLabel { .. }
        | Notice::ToolsExpanded { .. }
        | Notice::TerminalInput { .. }
        | Notice::Copy { .. }
        | Notice::Redraw { .. } => return None,
    })
}
